// SPDX-License-Identifier: Apache-2.0
#include "capture/sampler.h"

#include <bpf/libbpf.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "util/alloc.h"

struct sampler {
    struct programs *programs;
    const struct bpf_program *program;
    uint32_t frequency;
    struct bpf_link **links;
    const char *event;
};

struct sampler *sampler_new(struct programs *programs, const char *program, uint32_t frequency)
{
    struct sampler *sampler = xcalloc(1, sizeof(*sampler));

    sampler->programs = programs;
    sampler->frequency = frequency;
    sampler->program = programs_want(programs, program);
    return sampler;
}

void sampler_free(struct sampler *sampler)
{
    if (!sampler)
        return;
    sampler_stop(sampler);
    free(sampler);
}

static int open_event(const struct sampler *sampler, int cpu, bool cycles)
{
    struct perf_event_attr attr = {
        .size = sizeof(attr),
        .type = cycles ? PERF_TYPE_HARDWARE : PERF_TYPE_SOFTWARE,
        .config = cycles ? PERF_COUNT_HW_CPU_CYCLES : PERF_COUNT_SW_CPU_CLOCK,
        .sample_freq = sampler->frequency,
        .freq = 1,
        .exclude_idle = 1,
        .disabled = 1,
    };

    return (int)syscall(SYS_perf_event_open, &attr, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);
}

static int event_error(struct error *error)
{
    if (errno == EACCES || errno == EPERM)
        return error_set(error, ERROR_PERMISSION,
                         "not permitted to sample CPUs: run as root, or with CAP_PERFMON (Debian's "
                         "kernels, unless kernel.perf_event_paranoid is 2: CAP_SYS_ADMIN)");
    if (errno == EINVAL)
        return error_set(error, ERROR_USAGE,
                         "the kernel refuses this sampling frequency: see "
                         "/proc/sys/kernel/perf_event_max_sample_rate");
    return error_set(error, ERROR_FAILED, "the CPU sampling event can't be opened: %s",
                     strerror(errno));
}

static bool has_cycles(const struct sampler *sampler)
{
    int fd = open_event(sampler, 0, true);

    if (fd < 0)
        return false;
    close(fd);
    return true;
}

int sampler_start(struct sampler *sampler, struct error *error)
{
    bool cycles = has_cycles(sampler);

    sampler->event = cycles ? "cycles" : "cpu-clock";
    sampler->links =
        xcalloc((size_t)(int)programs_cpus(sampler->programs), sizeof(struct bpf_link *));
    for (int cpu = 0; cpu < (int)programs_cpus(sampler->programs); cpu++) {
        int fd = open_event(sampler, cpu, cycles);

        if (fd < 0 && errno == ENODEV) /* a CPU that is not online */
            continue;
        if (fd < 0)
            return event_error(error);
        sampler->links[cpu] = bpf_program__attach_perf_event(sampler->program, fd);
        if (!sampler->links[cpu]) {
            close(fd);
            return error_set(error, ERROR_FAILED, "the BPF program can't be attached: %s",
                             strerror(errno));
        }
    }
    return 0;
}

void sampler_stop(struct sampler *sampler)
{
    for (int cpu = 0; sampler->links && cpu < (int)programs_cpus(sampler->programs); cpu++)
        bpf_link__destroy(sampler->links[cpu]);
    free(sampler->links);
    sampler->links = NULL;
}

const char *sampler_event(const struct sampler *sampler)
{
    return sampler->event;
}
