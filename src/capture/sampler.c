// SPDX-License-Identifier: Apache-2.0
#include "capture/sampler.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "os/process.h"
#include "beamflame.skel.h"
#include "util/alloc.h"
#include "wire.h"

/* The ring buffer is mapped twice in a row, so that no sample of it is in two pieces (libbpf
 * ringbuf.c, ring_buffer__add()): it counts twice as resident memory, of which the profiler may
 * have 64 MB on any host. */
enum {
    RING_MIN = 1 << 20,
    RING_MAX = 16 << 20,
    SAMPLE_BYTES_TYPICAL = 6 << 10, /* measured: 3 to 6 KB with both stacks */
};

struct sampler {
    struct sampler_options options;
    struct beamflame_bpf *skeleton;
    struct bpf_link **links;
    struct ring_buffer *ring;
    int cpus;
    const char *event;
    sampler_each each;
    void *context;
    int passed;
};

struct sampler *sampler_new(const struct sampler_options *options)
{
    struct sampler *sampler = xcalloc(1, sizeof(*sampler));

    sampler->options = *options;
    return sampler;
}

void sampler_free(struct sampler *sampler)
{
    if (!sampler)
        return;
    sampler_stop(sampler);
    ring_buffer__free(sampler->ring);
    beamflame_bpf__destroy(sampler->skeleton);
    free(sampler);
}

/* ---- load ---- */

static int quiet(enum libbpf_print_level level, const char *format, va_list args)
{
    (void)level;
    (void)format;
    (void)args;
    return 0;
}

/* Why the kernel did not take the program. EACCES is the verifier's word for what it does not
 * accept; who may not load programs gets EPERM (kernel/bpf/syscall.c). */
static int load_error(int code, struct error *error)
{
    if (code == -EPERM)
        return error_set(error, ERROR_PERMISSION,
                         "not permitted to load BPF programs: run as root, or with CAP_BPF, "
                         "CAP_PERFMON and CAP_SYS_PTRACE (before Linux 5.11 CAP_SYS_RESOURCE too)");
    if (access("/sys/kernel/btf/vmlinux", R_OK))
        return error_set(error, ERROR_UNSUPPORTED,
                         "this kernel has no BTF (/sys/kernel/btf/vmlinux): a kernel built with "
                         "CONFIG_DEBUG_INFO_BTF is needed");
    if (libbpf_probe_bpf_map_type(BPF_MAP_TYPE_RINGBUF, NULL) == 0)
        return error_set(error, ERROR_UNSUPPORTED,
                         "this kernel has no BPF ring buffers: Linux 5.8 or later is needed");
    return error_set(error, ERROR_UNSUPPORTED, "the kernel refused the BPF program: %s",
                     strerror(-code));
}

/* Room for half a second of samples on each CPU, within bounds; a power of two. */
static uint32_t ring_bytes(const struct sampler *sampler)
{
    uint64_t wanted =
        (uint64_t)sampler->options.frequency * (uint64_t)sampler->cpus * SAMPLE_BYTES_TYPICAL / 2;
    uint32_t bytes = RING_MIN;

    while (bytes < wanted && bytes < RING_MAX)
        bytes *= 2;
    return bytes;
}

static int pass(void *context, void *data, size_t size)
{
    struct sampler *sampler = context;

    sampler->each(sampler->context, data, size);
    sampler->passed++;
    return 0;
}

int sampler_load(struct sampler *sampler, struct error *error)
{
    uint32_t bytes;
    int code;

    if (!process_numbers_are_the_hosts())
        return error_set(error, ERROR_FAILED,
                         "samples carry the host's process numbers, which are not known in this "
                         "container: run it in the host's pid namespace (hostPID: true)");
    libbpf_set_print(quiet);
    sampler->cpus = libbpf_num_possible_cpus();
    if (sampler->cpus < 1)
        return error_set(error, ERROR_FAILED, "the number of CPUs can't be read");
    sampler->skeleton = beamflame_bpf__open();
    if (!sampler->skeleton)
        return load_error(-errno, error);
    bytes = ring_bytes(sampler);
    bpf_map__set_max_entries(sampler->skeleton->maps.ring, bytes);
    bpf_map__set_max_entries(sampler->skeleton->maps.scratches,
                             (uint32_t)sampler->cpus * WIRE_SCRATCHES);
    sampler->skeleton->rodata->wakeup_bytes = bytes / 4;
    code = beamflame_bpf__load(sampler->skeleton);
    if (code)
        return load_error(code, error);
    sampler->ring =
        ring_buffer__new(bpf_map__fd(sampler->skeleton->maps.ring), pass, sampler, NULL);
    if (!sampler->ring)
        return error_set(error, ERROR_FAILED, "the ring buffer can't be mapped: %s",
                         strerror(errno));
    return 0;
}

/* ---- targets ---- */

static int map_error(struct error *error)
{
    return error_set(error, ERROR_FAILED, "a BPF map can't be filled: %s", strerror(errno));
}

int sampler_add_target(struct sampler *sampler, const struct vm *vm,
                       uint64_t code_generation_address, struct error *error)
{
    const struct layout *layout = &vm->layout;
    uint32_t pid = (uint32_t)vm->pid;
    struct wire_target target = {
        .code_generation_address = code_generation_address,
        .process_size = (uint32_t)layout->sizeof_process,
        .process_htop = (uint16_t)layout->process_htop,
        .process_stop = (uint16_t)layout->process_stop,
        .process_heap = (uint16_t)layout->process_heap,
        .process_hend = (uint16_t)layout->process_hend,
        .process_current = (uint16_t)layout->process_current,
        .scheduler_registers = (uint16_t)layout->sched_registers,
        .scheduler_process = (uint16_t)layout->sched_current_process,
        .scheduler_sleep_info = (uint16_t)layout->sched_ssi,
    };

    for (uint32_t i = 0; i < vm->scheduler_count; i++) {
        struct wire_thread_key key = {.thread_pointer = vm->schedulers[i].tid, .pid = pid};
        struct wire_thread thread = {.scheduler = vm->schedulers[i].data,
                                     .type = vm->schedulers[i].type};

        if (bpf_map_update_elem(bpf_map__fd(sampler->skeleton->maps.schedulers), &key, &thread,
                                BPF_ANY))
            return map_error(error);
    }
    if (bpf_map_update_elem(bpf_map__fd(sampler->skeleton->maps.targets), &pid, &target, BPF_ANY))
        return map_error(error);
    return 0;
}

/* ---- events ---- */

static int open_event(const struct sampler *sampler, int cpu, bool cycles)
{
    struct perf_event_attr attr = {
        .size = sizeof(attr),
        .type = cycles ? PERF_TYPE_HARDWARE : PERF_TYPE_SOFTWARE,
        .config = cycles ? PERF_COUNT_HW_CPU_CYCLES : PERF_COUNT_SW_CPU_CLOCK,
        .sample_freq = sampler->options.frequency,
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
    sampler->links = xcalloc((size_t)sampler->cpus, sizeof(struct bpf_link *));
    for (int cpu = 0; cpu < sampler->cpus; cpu++) {
        int fd = open_event(sampler, cpu, cycles);

        if (fd < 0 && errno == ENODEV) /* a CPU that is not online */
            continue;
        if (fd < 0)
            return event_error(error);
        sampler->links[cpu] =
            bpf_program__attach_perf_event(sampler->skeleton->progs.sample_cpu, fd);
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
    for (int cpu = 0; sampler->links && cpu < sampler->cpus; cpu++)
        bpf_link__destroy(sampler->links[cpu]);
    free(sampler->links);
    sampler->links = NULL;
}

const char *sampler_event(const struct sampler *sampler)
{
    return sampler->event;
}

uint32_t sampler_cpus(const struct sampler *sampler)
{
    return (uint32_t)sampler->cpus;
}

/* ---- samples ---- */

int sampler_poll(struct sampler *sampler, int timeout_ms, sampler_each each, void *context,
                 struct error *error)
{
    int result;

    sampler->each = each;
    sampler->context = context;
    sampler->passed = 0;
    result = ring_buffer__poll(sampler->ring, timeout_ms);
    if (result >= 0) /* samples that were too few to wake us */
        result = ring_buffer__consume(sampler->ring);
    if (result < 0 && result != -EINTR)
        return error_set(error, ERROR_FAILED, "samples can't be read: %s", strerror(-result));
    return sampler->passed;
}

uint64_t sampler_lost(const struct sampler *sampler)
{
    uint32_t key = WIRE_COUNT_RING_FULL;
    uint64_t *values = xcalloc((size_t)sampler->cpus, sizeof(*values));
    uint64_t sum = 0;

    if (!bpf_map_lookup_elem(bpf_map__fd(sampler->skeleton->maps.counters), &key, values))
        for (int cpu = 0; cpu < sampler->cpus; cpu++)
            sum += values[cpu];
    free(values);
    return sum;
}
