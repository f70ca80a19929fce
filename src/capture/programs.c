// SPDX-License-Identifier: Apache-2.0
#include "capture/programs.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "beam/layout.h"
#include "beamflame.skel.h"
#include "capture/bpf_load.h"
#include "log_histogram.h"
#include "os/descriptors.h"
#include "os/process.h"
#include "profile/events.h"
#include "util/alloc.h"
#include "util/clock.h"
#include "util/log.h"
#include "util/memory_limit.h"

enum {
    RING_MIN = 1 << 20,
    RING_SHARE = 16, /* of the memory, at most */
    TARGETS_MIN = 256,
    SCHEDULERS_MIN = 1 << 14,
    PROCESSES_MIN = 1 << 16,
    PROCESSES_MAX = 1 << 20,
    SAMPLE_BYTES_TYPICAL = 6 << 10, /* measured: 3 to 6 KB with both stacks */
    KEYS_AT_ONCE = 4096,
    STARTS_MAX = 1024, /* that wait to be taken; others are found by polling */
    ENOUGH = -ECANCELED,
};

struct programs {
    struct programs_options options;
    struct beamflame_bpf *skeleton;
    struct ring_buffer *ring;
    int cpus;
    bool loaded;
    programs_each each;
    void *context;
    int passed;
    uint64_t passing_since; /* CLOCK_MONOTONIC; 0: this poll has not passed a sample yet */
    pid_t starts[STARTS_MAX];
    size_t start_count;
};

struct programs *programs_new(const struct programs_options *options)
{
    struct programs *programs = xcalloc(1, sizeof(*programs));

    programs->options = *options;
    return programs;
}

void programs_free(struct programs *programs)
{
    if (!programs)
        return;
    ring_buffer__free(programs->ring);
    beamflame_bpf__destroy(programs->skeleton);
    free(programs);
}

/* ---- load ---- */

/* Room for half a second of CPU samples on each CPU, and for a tenth of a second of the samples of
 * the events of one target, within bounds; a power of two. */
static uint32_t ring_bytes(const struct programs *programs)
{
    const struct programs_options *options = &programs->options;
    uint64_t events = options->targets ? options->slots / options->targets : 0;
    uint64_t samples = (uint64_t)options->frequency * (uint64_t)programs->cpus / 2 +
                       events * STACKS_PER_SECOND / 10;
    uint64_t wanted = samples * SAMPLE_BYTES_TYPICAL;
    uint32_t bytes = RING_MIN;

    while (bytes < wanted && bytes < memory_limit() / RING_SHARE)
        bytes *= 2;
    return bytes;
}

static void note_start(struct programs *programs, const struct wire_start *start)
{
    if (programs->start_count < STARTS_MAX)
        programs->starts[programs->start_count++] = (pid_t)start->pid;
}

static int pass(void *context, void *data, size_t size)
{
    struct programs *programs = context;

    if (size == sizeof(struct wire_bell))
        return 0;
    if (size == sizeof(struct wire_start)) {
        note_start(programs, data);
        return 0;
    }
    if (!programs->passing_since)
        programs->passing_since = clock_ns(CLOCK_MONOTONIC);
    programs->each(programs->context, data, size);
    programs->passed++;
    return ((const struct wire_sample *)data)->time < programs->passing_since ? 0 : ENOUGH;
}

int programs_open(struct programs *programs, struct error *error)
{
    struct bpf_program *program;

    if (!process_numbers_are_the_hosts())
        return error_set(error, ERROR_FAILED,
                         "this container does not know the host's process ids, which samples "
                         "carry: run beamflame in the host's pid namespace (hostPID: true)");
    bpf_load_log_messages();
    descriptors_raise();
    programs->cpus = libbpf_num_possible_cpus();
    if (programs->cpus < 1)
        return error_set(error, ERROR_FAILED, "the number of CPUs can't be read");
    programs->skeleton = beamflame_bpf__open();
    if (!programs->skeleton)
        return bpf_load_error(-errno, error);
    bpf_object__for_each_program(program, programs->skeleton->obj) {
        bpf_program__set_autoload(program, false);
    }
    return 0;
}

struct bpf_program *programs_want(struct programs *programs, const char *name)
{
    struct bpf_program *program = bpf_object__find_program_by_name(programs->skeleton->obj, name);

    if (!program || (programs->loaded && !bpf_program__autoload(program)))
        return NULL;
    if (!programs->loaded)
        bpf_program__set_autoload(program, true);
    return program;
}

/* Twice as much as the nodes have processes now, because nodes grow. */
static uint32_t room_for_processes(const struct programs *programs)
{
    uint32_t room = PROCESSES_MIN;

    while (room / 2 < programs->options.processes && room < PROCESSES_MAX)
        room *= 2;
    return room;
}

static uint32_t at_least(uint32_t size, uint32_t least)
{
    return size < least ? least : size;
}

static void set_sizes(struct programs *programs)
{
    const struct programs_options *options = &programs->options;
    uint32_t bytes = ring_bytes(programs);

    bpf_map__set_max_entries(programs->skeleton->maps.targets,
                             at_least(options->targets, TARGETS_MIN));
    bpf_map__set_max_entries(programs->skeleton->maps.ticking,
                             at_least(options->targets, TARGETS_MIN));
    bpf_map__set_max_entries(programs->skeleton->maps.schedulers,
                             at_least(options->schedulers, SCHEDULERS_MIN));
    bpf_map__set_max_entries(programs->skeleton->maps.ring, bytes);
    bpf_map__set_max_entries(programs->skeleton->maps.scratches,
                             (uint32_t)programs->cpus * WIRE_SCRATCHES);
    bpf_map__set_max_entries(programs->skeleton->maps.slots, programs->options.slots + 1);
    bpf_map__set_max_entries(programs->skeleton->maps.slot_counts, programs->options.slots + 1);
    bpf_map__set_max_entries(programs->skeleton->maps.histograms, programs->options.histograms + 1);
    if (bpf_program__autoload(programs->skeleton->progs.sched_out))
        bpf_map__set_max_entries(programs->skeleton->maps.turns, room_for_processes(programs));
    programs->skeleton->rodata->wakeup_bytes = bytes / 4;
}

static bool is_wanted(const struct bpf_program *program)
{
    return bpf_program__autoload(program);
}

/* Maps that take time and memory to make are made only where a wanted program uses them. */
static void leave_out_maps(struct programs *programs)
{
    const struct beamflame_bpf *skeleton = programs->skeleton;

    bpf_map__set_autocreate(skeleton->maps.collections, is_wanted(skeleton->progs.gc_begin) ||
                                                            is_wanted(skeleton->progs.gc_end));
    bpf_map__set_autocreate(skeleton->maps.held_binaries, is_wanted(skeleton->progs.alloc_begin) ||
                                                              is_wanted(skeleton->progs.alloc_end));
    bpf_map__set_autocreate(skeleton->maps.charged_fragments,
                            is_wanted(skeleton->progs.alloc_begin) ||
                                is_wanted(skeleton->progs.alloc_fragment));
    bpf_map__set_autocreate(
        skeleton->maps.messages,
        is_wanted(skeleton->progs.message_queue) || is_wanted(skeleton->progs.message_send) ||
            is_wanted(skeleton->progs.message_ask) || is_wanted(skeleton->progs.message_receive));
    bpf_map__set_autocreate(skeleton->maps.calls, is_wanted(skeleton->progs.call_begin) ||
                                                      is_wanted(skeleton->progs.call_end));
    bpf_map__set_autocreate(skeleton->maps.memories, is_wanted(skeleton->progs.find_memories));
}

static void set_guard(struct programs *programs)
{
    struct wire_guard guard = {.tick_ns = 1000000000 / programs->options.frequency,
                               .counts_ns = event_clock_is_timer(programs->options.clock->name)};
    uint32_t key = 0;

    bpf_map_update_elem(bpf_map__fd(programs->skeleton->maps.guards), &key, &guard, BPF_ANY);
}

int programs_load(struct programs *programs, struct error *error)
{
    set_sizes(programs);
    leave_out_maps(programs);
    if (bpf_load(programs->skeleton->skeleton, error))
        return -1;
    log_decision("bpf", "the ring buffer has %u KB, for %u samples a second on each of %d CPUs",
                 bpf_map__max_entries(programs->skeleton->maps.ring) >> 10,
                 programs->options.frequency, programs->cpus);
    programs->loaded = true;
    set_guard(programs);
    programs->ring =
        ring_buffer__new(bpf_map__fd(programs->skeleton->maps.ring), pass, programs, NULL);
    if (!programs->ring && descriptors_ran_out(errno, error))
        return -1;
    if (!programs->ring)
        return error_set(error, ERROR_FAILED, "the ring buffer can't be mapped: %s",
                         strerror(errno));
    return 0;
}

/* ---- targets ---- */

static int map_error(struct error *error)
{
    return error_set(error, ERROR_FAILED, "a BPF map can't be filled: %s", strerror(errno));
}

int programs_add_target(struct programs *programs, const struct vm *vm,
                        uint64_t code_generation_address, double sampled, struct error *error)
{
    const struct layout *layout = &vm->layout;
    uint32_t pid = (uint32_t)vm->pid;
    struct wire_target target = {
        .started = process_identity_boot_ns(&vm->identity),
        .start_stack = vm->identity.start_stack,
        .code_generation_address = code_generation_address,
        .skipped = (uint64_t)((1 - sampled) * 0x1p32),
        .process_words = layout_process_words(layout),
        .scheduler_words = layout_scheduler_words(layout),
#define WIRE_FIELD(of, member) .member = (uint16_t)layout->member,
#define WIRE_OFFSET(member)    .member = (uint16_t)layout->member,
#include "wire_fields.h"
        .saved_top = (uint16_t)vm->features.saved_top,
        .alias_message = vm->features.alias_message,
        .native_stack = vm->features.native_stack,
    };

    for (uint32_t i = 0; i < vm->scheduler_count; i++) {
        struct wire_thread_key key = {.thread_pointer = vm->schedulers[i].tid, .pid = pid};
        struct wire_thread thread = {.scheduler = vm->schedulers[i].data,
                                     .type = vm->schedulers[i].type};

        if (bpf_map_update_elem(bpf_map__fd(programs->skeleton->maps.schedulers), &key, &thread,
                                BPF_ANY))
            return map_error(error);
    }
    if (bpf_map_update_elem(bpf_map__fd(programs->skeleton->maps.targets), &pid, &target, BPF_ANY))
        return map_error(error);
    return 0;
}

void programs_set_traces(struct programs *programs, const struct vm *vm,
                         const struct wire_trace_atoms *atoms)
{
    int map = bpf_map__fd(programs->skeleton->maps.targets);
    uint32_t pid = (uint32_t)vm->pid;
    struct wire_target target;

    if (bpf_map_lookup_elem(map, &pid, &target))
        return;
    target.trace = *atoms;
    bpf_map_update_elem(map, &pid, &target, BPF_EXIST);
}

/* Delete the times of the VM's processes, to make room for other VMs. The map may have a million
 * entries, so they are read many at a time. */
static void forget_turns(const struct programs *programs, uint32_t pid)
{
    const struct bpf_map *map = programs->skeleton->maps.turns;
    struct wire_process_key *keys;
    void *turns;
    uint32_t position, count;
    int result = 0;

    if (bpf_map__fd(map) < 0 || !bpf_program__autoload(programs->skeleton->progs.sched_out))
        return;
    keys = xcalloc(KEYS_AT_ONCE, sizeof(*keys));
    turns = xcalloc(KEYS_AT_ONCE, bpf_map__value_size(map));
    for (bool first = true; result == 0; first = false) {
        count = KEYS_AT_ONCE;
        result = bpf_map_lookup_batch(bpf_map__fd(map), first ? NULL : &position, &position, keys,
                                      turns, &count, NULL);
        /* -ENOENT: these are the last ones */
        for (uint32_t i = 0; (result == 0 || result == -ENOENT) && i < count; i++)
            if (keys[i].pid == pid)
                bpf_map_delete_elem(bpf_map__fd(map), &keys[i]);
    }
    free(turns);
    free(keys);
}

void programs_remove_target(struct programs *programs, const struct vm *vm)
{
    uint32_t pid = (uint32_t)vm->pid;

    bpf_map_delete_elem(bpf_map__fd(programs->skeleton->maps.targets), &pid);
    for (uint32_t i = 0; i < vm->scheduler_count; i++) {
        struct wire_thread_key key = {.thread_pointer = vm->schedulers[i].tid, .pid = pid};

        bpf_map_delete_elem(bpf_map__fd(programs->skeleton->maps.schedulers), &key);
    }
    if (bpf_map__fd(programs->skeleton->maps.ticking) >= 0)
        bpf_map_delete_elem(bpf_map__fd(programs->skeleton->maps.ticking), &pid);
    forget_turns(programs, pid);
}

void programs_want_memory(struct programs *programs, pid_t pid)
{
    uint32_t key = (uint32_t)pid;
    uint64_t none = 0;

    bpf_map_update_elem(bpf_map__fd(programs->skeleton->maps.memories), &key, &none, BPF_ANY);
}

uint64_t programs_take_memory(struct programs *programs, pid_t pid)
{
    int map = bpf_map__fd(programs->skeleton->maps.memories);
    uint32_t key = (uint32_t)pid;
    uint64_t memory = 0;

    if (bpf_map_lookup_elem(map, &key, &memory))
        return 0;
    bpf_map_delete_elem(map, &key);
    return memory;
}

/* ---- samples ---- */

int programs_poll(struct programs *programs, int timeout_ms, programs_each each, void *context,
                  struct error *error)
{
    int result;

    programs->each = each;
    programs->context = context;
    programs->passed = 0;
    programs->passing_since = 0;
    result = ring_buffer__poll(programs->ring, timeout_ms);
    if (result >= 0) /* samples that were too few to wake this thread */
        result = ring_buffer__consume(programs->ring);
    if (result < 0 && result != -EINTR && result != ENOUGH)
        return error_set(error, ERROR_FAILED, "samples can't be read: %s", strerror(-result));
    return programs->passed;
}

pid_t programs_take_start(struct programs *programs)
{
    return programs->start_count ? programs->starts[--programs->start_count] : 0;
}

/* The sum over all CPUs of a per-CPU value that is an array of u64. */
static void sum_values(const struct programs *programs, const struct bpf_map *map, uint32_t key,
                       uint64_t *sums, size_t count)
{
    uint64_t *values = xcalloc((size_t)programs->cpus * count, sizeof(*values));

    memset(sums, 0, count * sizeof(*sums));
    if (!bpf_map_lookup_elem(bpf_map__fd(map), &key, values))
        for (size_t i = 0; i < (size_t)programs->cpus * count; i++)
            sums[i % count] += values[i];
    free(values);
}

uint64_t programs_lost(const struct programs *programs)
{
    uint64_t lost;

    sum_values(programs, programs->skeleton->maps.counters, WIRE_COUNT_RING_FULL, &lost, 1);
    return lost;
}

enum wire_guard_reason programs_guard(const struct programs *programs, uint32_t *ret_cpu)
{
    struct wire_guard guard;
    uint32_t key = 0;

    if (bpf_map_lookup_elem(bpf_map__fd(programs->skeleton->maps.guards), &key, &guard))
        return WIRE_GUARD_QUIET;
    *ret_cpu = guard.cpu;
    return (enum wire_guard_reason)guard.reason;
}

uint32_t programs_cpus(const struct programs *programs)
{
    return (uint32_t)programs->cpus;
}

/* ---- events ---- */

void programs_set_slot(struct programs *programs, uint32_t slot, const struct wire_slot *value)
{
    bpf_map_update_elem(bpf_map__fd(programs->skeleton->maps.slots), &slot, value, BPF_ANY);
}

struct wire_slot programs_slot(const struct programs *programs, uint32_t slot)
{
    struct wire_slot value = {0};

    bpf_map_lookup_elem(bpf_map__fd(programs->skeleton->maps.slots), &slot, &value);
    return value;
}

int programs_alarms_fd(const struct programs *programs)
{
    return bpf_map__fd(programs->skeleton->maps.run_alarms);
}

void programs_set_ticking(struct programs *programs, pid_t pid, uint32_t slot)
{
    uint32_t key = (uint32_t)pid;

    bpf_map_update_elem(bpf_map__fd(programs->skeleton->maps.ticking), &key, &slot, BPF_ANY);
}

struct wire_slot_counts programs_slot_counts(const struct programs *programs, uint32_t slot)
{
    struct wire_slot_counts counts;

    _Static_assert(sizeof(counts) % sizeof(uint64_t) == 0, "summed as an array");
    sum_values(programs, programs->skeleton->maps.slot_counts, slot, (uint64_t *)&counts,
               sizeof(counts) / sizeof(uint64_t));
    return counts;
}

void programs_histogram(const struct programs *programs, uint32_t index,
                        struct wire_histogram *histogram)
{
    size_t cpus = (size_t)programs->cpus;
    struct wire_histogram *values = xcalloc(cpus, sizeof(*values));

    memset(histogram, 0, sizeof(*histogram));
    if (!bpf_map_lookup_elem(bpf_map__fd(programs->skeleton->maps.histograms), &index, values)) {
        for (size_t cpu = 0; cpu < cpus; cpu++) {
            if (values[cpu].max > histogram->max)
                histogram->max = values[cpu].max;
            for (uint32_t i = 0; i < LOG_HISTOGRAM_BUCKETS; i++)
                histogram->buckets[i] += values[cpu].buckets[i];
        }
    }
    free(values);
}

void programs_counts_since(struct wire_slot_counts *counts, const struct wire_slot_counts *before)
{
    counts->runs -= before->runs;
    counts->hits -= before->hits;
    counts->size -= before->size;
    counts->lost -= before->lost;
    for (int i = 0; i < WIRE_VALUES; i++)
        counts->values[i] -= before->values[i];
    for (int i = 0; i < WIRE_TALLIES; i++)
        counts->tallies[i] -= before->tallies[i];
}

void programs_histogram_since(struct wire_histogram *histogram, const struct wire_histogram *before)
{
    uint64_t highest = 0;

    for (uint32_t i = 0; i < LOG_HISTOGRAM_BUCKETS; i++) {
        histogram->buckets[i] -= before->buckets[i];
        if (histogram->buckets[i])
            highest = log_histogram_low(i + 1) - 1;
    }
    if (histogram->max == before->max && highest < histogram->max)
        histogram->max = highest;
}
