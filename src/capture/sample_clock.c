// SPDX-License-Identifier: Apache-2.0
#include "capture/sample_clock.h"

#include <cpuid.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "os/capabilities.h"
#include "os/descriptors.h"
#include "os/kernel_settings.h"
#include "profile/events.h"
#include "util/alloc.h"
#include "util/clock.h"
#include "util/word_list.h"

enum {
    SECOND = 1000000000,
    MEASURE_NS = SECOND / 10,
    COUNT_MIN = 100, /* in MEASURE_NS; fewer do not give the rate */
};

static const struct clock_event events[] = {
    {"cpu-clock", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK},
    {"task-clock", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK},
    {"cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES, .is_hardware = true},
    {"ref-cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_REF_CPU_CYCLES, .is_hardware = true},
    {"instructions", PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS, .is_hardware = true},
    {"branches", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_INSTRUCTIONS, .is_hardware = true},
    {"branch-misses", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_MISSES, .is_hardware = true},
    {"cache-references", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_REFERENCES, .is_hardware = true},
    {"cache-misses", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_MISSES, .is_hardware = true},
    {"context-switches", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CONTEXT_SWITCHES},
    {"page-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS},
};
enum { EVENTS = sizeof(events) / sizeof(events[0]) };

const struct clock_event *sample_clock_default(void)
{
    return &events[0];
}

const char *sample_clock_names(void)
{
    static char list[256];

    if (!list[0])
        for (size_t i = 0; i < EVENTS; i++)
            word_list_add(list, sizeof(list), events[i].name);
    return list;
}

const struct clock_event *sample_clock_find(const char *name, struct error *error)
{
    for (size_t i = 0; i < EVENTS; i++)
        if (!strcmp(events[i].name, name))
            return &events[i];
    error_set(error, ERROR_USAGE, "there is no clock '%s'; the clocks are: %s", name,
              sample_clock_names());
    return NULL;
}

int sample_clock_open(const struct clock_event *event, int cpu, uint64_t period)
{
    struct perf_event_attr attr = {
        .size = sizeof(attr),
        .type = event->type,
        .config = event->config,
        .sample_period = period,
        .disabled = 1,
    };

    return (int)syscall(SYS_perf_event_open, &attr, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);
}

uint64_t sample_clock_capabilities(void)
{
    uint64_t needed = CAPABILITY(CAP_PERFMON);
    long paranoid;

    if (kernel_setting_number("/proc/sys/kernel/perf_event_paranoid", &paranoid) && paranoid > 2)
        needed |= CAPABILITY(CAP_SYS_ADMIN);
    return needed;
}

int sample_clock_error(const struct clock_event *event, struct error *error)
{
    if (errno == EACCES || errno == EPERM)
        return capabilities_refused(sample_clock_capabilities(), error, "sample CPUs");
    if (descriptors_ran_out(errno, error))
        return -1;
    if (errno == ENOENT || errno == EOPNOTSUPP || errno == ENODEV || errno == EINVAL)
        return error_set(error, ERROR_UNSUPPORTED,
                         "this machine has no event '%s' (%s): use --clock cpu-clock", event->name,
                         event->is_hardware ? "no PMU, or none that counts it" : strerror(errno));
    return error_set(error, ERROR_FAILED, "the event '%s' can't be opened: %s", event->name,
                     strerror(errno));
}

bool sample_clock_under_hypervisor(void)
{
    unsigned int eax, ebx, ecx, edx;

    return __get_cpuid(1, &eax, &ebx, &ecx, &edx) && (ecx & 1u << 31);
}

/* The kernel keeps the frequencies that it searches periods for below this limit. */
static int check_frequency(uint32_t frequency, struct error *error)
{
    long most;

    if (kernel_setting_number("/proc/sys/kernel/perf_event_max_sample_rate", &most) &&
        (long)frequency > most)
        return error_set(error, ERROR_USAGE,
                         "%u samples a second are more than the kernel allows: the sysctl "
                         "kernel.perf_event_max_sample_rate is %ld",
                         frequency, most);
    return 0;
}

/* ---- the rate of an event ---- */

/* Counts on all CPUs. */
struct counting {
    int *fds;
    int count;
};

static void counting_end(struct counting *counting)
{
    for (int i = 0; i < counting->count; i++)
        close(counting->fds[i]);
    free(counting->fds);
}

static int counting_begin(struct counting *counting, const struct clock_event *event,
                          struct error *error)
{
    int cpus = (int)sysconf(_SC_NPROCESSORS_CONF);

    counting->fds = xcalloc((size_t)cpus, sizeof(*counting->fds));
    counting->count = 0;
    for (int cpu = 0; cpu < cpus; cpu++) {
        int fd = sample_clock_open(event, cpu, 0);

        if (fd < 0 && errno == ENODEV) /* a CPU that is not online */
            continue;
        if (fd < 0)
            return sample_clock_error(event, error);
        ioctl(fd, PERF_EVENT_IOC_ENABLE, 0);
        counting->fds[counting->count++] = fd;
    }
    return 0;
}

/* The count of the CPU that has counted most. */
static uint64_t counting_most(const struct counting *counting)
{
    uint64_t most = 0, value;

    for (int i = 0; i < counting->count; i++)
        if (read(counting->fds[i], &value, sizeof(value)) == sizeof(value) && value > most)
            most = value;
    return most;
}

/* Keep a CPU busy for `ns`. */
static void spin(uint64_t ns)
{
    uint64_t end = clock_ns(CLOCK_MONOTONIC) + ns;

    while (clock_ns(CLOCK_MONOTONIC) < end)
        ;
}

int sample_clock_period(const struct clock_event *event, uint32_t frequency, uint64_t *ret_period,
                        struct error *error)
{
    struct counting counting;
    uint64_t most = 0;
    int result;

    if (check_frequency(frequency, error))
        return -1;
    *ret_period = SECOND / frequency;
    if (event_clock_is_timer(event->name))
        return 0;
    result = counting_begin(&counting, event, error);
    if (!result) {
        spin(MEASURE_NS);
        most = counting_most(&counting);
    }
    counting_end(&counting);
    if (result)
        return -1;
    *ret_period = most * (SECOND / MEASURE_NS) / frequency;
    if (most < COUNT_MIN || !*ret_period)
        return error_set(error, ERROR_UNSUPPORTED,
                         "'%s' happened %llu times in 0.1 s, too rarely for a clock of %u Hz",
                         event->name, (unsigned long long)most, frequency);
    return 0;
}
