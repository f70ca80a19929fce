// SPDX-License-Identifier: Apache-2.0
#include "capture/call_counter_internal.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "capture/bpf_load.h"
#include "os/descriptors.h"
#include "os/process.h"
#include "profile/threads.h"
#include "util/alloc.h"
#include "util/clock.h"
#include "util/log.h"

/* ---- maps ---- */

static int map_of(const struct call_counter *counter, enum call_map map)
{
    return bpf_map__fd(map == CALL_MAP_CALLERS ? counter->skeleton->maps.callers
                                               : counter->skeleton->maps.processes);
}

bool call_counter_next_key(int map, bool *is_begun, void *key)
{
    bool is_found = !bpf_map_get_next_key(map, *is_begun ? key : NULL, key);

    *is_begun = true;
    return is_found;
}

void call_counter_each(const struct call_counter *counter, enum call_map map,
                       call_counter_visit visit, void *context)
{
    struct wire_call_row *values = xcalloc((size_t)counter->cpus, sizeof(*values));
    struct wire_call_key key;
    bool is_begun = false;

    while (call_counter_next_key(map_of(counter, map), &is_begun, &key)) {
        struct wire_call_row sum = {0};

        if (key.function >= WIRE_CALL_FUNCTIONS ||
            bpf_map_lookup_elem(map_of(counter, map), &key, values))
            continue;
        for (int i = 0; i < counter->cpus; i++) {
            sum.calls += values[i].calls;
            sum.weight += values[i].weight;
        }
        visit(context, &key, &sum);
    }
    free(values);
}

void call_counter_each_arguments(const struct call_counter *counter,
                                 call_counter_visit_arguments visit, void *context)
{
    int map = bpf_map__fd(counter->skeleton->maps.argument_rows);
    struct wire_arguments_key key;
    struct wire_arguments_row row;
    bool is_begun = false;

    while (call_counter_next_key(map, &is_begun, &key))
        if (!bpf_map_lookup_elem(map, &key, &row))
            visit(context, &key, &row);
}

static struct wire_call_counts counts_of(const struct call_counter *counter, uint32_t function)
{
    struct wire_call_counts sum = {0}, *values = xcalloc((size_t)counter->cpus, sizeof(*values));

    if (!bpf_map_lookup_elem(bpf_map__fd(counter->skeleton->maps.counts), &function, values)) {
        for (int i = 0; i < counter->cpus; i++) {
            sum.calls += values[i].calls;
            sum.weight += values[i].weight;
            sum.strangers += values[i].strangers;
            sum.replaced += values[i].replaced;
            sum.ended += values[i].ended;
            sum.untimed += values[i].untimed;
            sum.no_room += values[i].no_room;
            sum.unlisted += values[i].unlisted;
            sum.unmatched += values[i].unmatched;
            sum.unmatched_weight += values[i].unmatched_weight;
            sum.unchecked += values[i].unchecked;
            sum.unchecked_weight += values[i].unchecked_weight;
            sum.unsplit += values[i].unsplit;
            sum.search_ns += values[i].search_ns;
        }
    }
    free(values);
    return sum;
}

static uint64_t hits_of(const struct call_counter *counter, uint32_t function)
{
    uint64_t hits = counter->hits[function];

    for (size_t i = 0; i < counter->entry_count; i++)
        if (counter->entries[i].function == function)
            hits += breakpoint_hits(&counter->entries[i].breakpoint);
    return hits;
}

struct call_sums call_counter_sums(const struct call_counter *counter, uint32_t function)
{
    struct call_sums sums = {.counts = counts_of(counter, function)};
    uint64_t hits = hits_of(counter, function), seen = sums.counts.calls + sums.counts.strangers +
                                                       sums.counts.unmatched +
                                                       sums.counts.unchecked;

    sums.missed = hits > seen ? hits - seen : 0;
    return sums;
}

uint64_t call_counter_hits(const struct call_counter *counter)
{
    return counts_of(counter, WIRE_CALL_ALL).calls - counter->trial_hits;
}

uint64_t call_counter_split_hits(const struct call_counter *counter)
{
    return counter->split ? counts_of(counter, WIRE_CALL_SPLIT).calls : 0;
}

double call_counter_cost_ns(const struct call_counter *counter)
{
    return (double)call_counter_hits(counter) * call_counter_hit_ns(counter) +
           (double)call_counter_split_hits(counter) * call_counter_split_ns(counter);
}

double call_counter_hit_ns(const struct call_counter *counter)
{
    uint64_t hits = call_counter_hits(counter);
    double search_ns = (double)counts_of(counter, WIRE_CALL_ALL).search_ns;

    return counter->hit_ns + (hits ? search_ns / (double)hits : 0);
}

uint64_t call_counter_calls(const struct call_counter *counter, uint32_t function)
{
    return counts_of(counter, function).calls;
}

uint64_t call_counter_weight(const struct call_counter *counter, uint32_t function)
{
    return counts_of(counter, function).weight;
}

void call_counter_set_code(struct call_counter *counter, uint32_t code)
{
    counter->skeleton->bss->code = code;
}

/* ---- breakpoints ---- */

static int set_in_threads(const struct call_counter *counter, struct breakpoint *breakpoint,
                          struct error *error)
{
    for (size_t i = 0; i < counter->tid_count; i++)
        if (breakpoint_set(breakpoint, counter->tids[i], error))
            return -1;
    if (counter->is_open)
        breakpoint_start(breakpoint);
    return 0;
}

int call_counter_set(struct call_counter *counter, uint64_t address, int program, uint32_t function,
                     struct error *error)
{
    struct armed_entry *armed = &counter->entries[counter->entry_count];

    if (counter->entry_count == WIRE_CALL_AT_ONCE)
        return breakpoint_none_free(error);
    *armed = (struct armed_entry){.breakpoint = {.address = address, .program = program},
                                  .function = function};
    counter->entry_count++;
    if (set_in_threads(counter, &armed->breakpoint, error) == 0)
        return 0;
    call_counter_disarm(counter, address);
    return -1;
}

int call_counter_match(struct call_counter *counter, uint32_t function,
                       const struct wire_match *match, struct error *error)
{
    if (bpf_map_update_elem(bpf_map__fd(counter->skeleton->maps.matches), &function, match, 0))
        return error_set(error, ERROR_FAILED, "a BPF map can't be filled: %s", strerror(errno));
    return 0;
}

int call_counter_arm(struct call_counter *counter, uint64_t entry,
                     const struct wire_call_site *site, struct error *error)
{
    if (bpf_map_update_elem(bpf_map__fd(counter->skeleton->maps.sites), &entry, site, 0))
        return error_set(error, ERROR_FAILED, "a BPF map can't be filled: %s", strerror(errno));
    return call_counter_set(counter, entry, bpf_program__fd(counter->skeleton->progs.count_call),
                            site->function, error);
}

void call_counter_disarm(struct call_counter *counter, uint64_t entry)
{
    for (size_t i = 0; i < counter->entry_count; i++) {
        struct armed_entry *armed = &counter->entries[i];

        if (armed->breakpoint.address != entry)
            continue;
        breakpoint_stop(&armed->breakpoint);
        counter->hits[armed->function] += breakpoint_hits(&armed->breakpoint);
        breakpoint_remove(&armed->breakpoint);
        bpf_map_delete_elem(bpf_map__fd(counter->skeleton->maps.sites), &entry);
        *armed = counter->entries[--counter->entry_count];
        return;
    }
}

/* Enable or disable the breakpoints on return addresses, or those on entries. */
static void change_all(const struct call_counter *counter, bool returns,
                       void (*change)(const struct breakpoint *breakpoint))
{
    for (size_t i = 0; i < counter->entry_count; i++)
        if ((counter->entries[i].function == WIRE_CALL_RETURN) == returns)
            change(&counter->entries[i].breakpoint);
}

/* Returns are seen before calls, so that no call returns unseen. */
static void start_all(const struct call_counter *counter)
{
    change_all(counter, true, breakpoint_start);
    counter->skeleton->bss->opened = clock_ns(CLOCK_MONOTONIC);
    change_all(counter, false, breakpoint_start);
}

void call_counter_open(struct call_counter *counter, double weight)
{
    counter->skeleton->data->weight = (uint64_t)llround(weight * WIRE_CALL_WEIGHT);
    counter->is_open = true;
    start_all(counter);
}

void call_counter_close(struct call_counter *counter)
{
    counter->is_open = false;
    change_all(counter, false, breakpoint_stop);
    change_all(counter, true, breakpoint_stop);
}

/* ---- threads ---- */

static bool is_armed(const struct call_counter *counter, pid_t tid)
{
    for (size_t i = 0; i < counter->tid_count; i++)
        if (counter->tids[i] == tid)
            return true;
    return false;
}

static bool is_scheduler(pid_t pid, pid_t tid)
{
    uint32_t number;
    char name[32];

    process_thread_name(pid, tid, name, sizeof(name));
    return thread_type_of(name, &number) <= THREAD_DIRTY_IO;
}

static int add_thread(struct call_counter *counter, pid_t tid, struct error *error)
{
    for (size_t i = 0; i < counter->entry_count; i++)
        if (breakpoint_set(&counter->entries[i].breakpoint, tid, error))
            return -1;
    for (size_t i = 0; counter->is_open && i < counter->entry_count; i++)
        breakpoint_start(&counter->entries[i].breakpoint);
    counter->tids =
        xgrow(counter->tids, &counter->tid_room, counter->tid_count, sizeof(*counter->tids));
    counter->tids[counter->tid_count++] = tid;
    return 0;
}

uint32_t call_counter_missing_threads(const struct call_counter *counter)
{
    uint32_t wanted = counter->vm->scheduler_count;

    return counter->tid_count < wanted ? wanted - (uint32_t)counter->tid_count : 0;
}

int call_counter_follow_threads(struct call_counter *counter, struct error *error)
{
    pid_t pid = counter->vm->pid, *tids;
    size_t count = 0;
    int result = 0;

    if (!call_counter_missing_threads(counter))
        return 0;
    tids = process_threads(pid, &count, error);
    if (!tids)
        return -1;
    for (size_t i = 0; i < count && !result; i++)
        if (!is_armed(counter, tids[i]) && is_scheduler(pid, tids[i]))
            result = add_thread(counter, tids[i], error);
    free(tids);
    return result;
}

/* ---- the counter ---- */

/* Maps have all of their memory from the start. */
static void shrink_maps(const struct calls_bpf *skeleton,
                        const struct call_counter_options *options)
{
    if (!options->times) {
        bpf_map__set_max_entries(skeleton->maps.returns, 1);
        bpf_map__set_max_entries(skeleton->maps.open_calls, 1);
        bpf_map__set_max_entries(skeleton->maps.times, 1);
    }
    if (!options->split) {
        bpf_map__set_max_entries(skeleton->maps.process_times, 1);
        bpf_map__set_max_entries(skeleton->maps.collecting, 1);
        bpf_map__set_max_entries(skeleton->maps.split_schedulers, 1);
        bpf_map__set_max_entries(skeleton->maps.part_times, 1);
    }
    if (!options->matches)
        bpf_map__set_max_entries(skeleton->maps.matches, 1);
    if (!options->argument_levels)
        bpf_map__set_max_entries(skeleton->maps.argument_rows, 1);
    if (!options->argument_levels || !options->slow_ns)
        bpf_map__set_max_entries(skeleton->maps.open_arguments, 1);
    if (!options->slow_ns)
        bpf_map__set_max_entries(skeleton->maps.slow, (uint32_t)getpagesize());
}

/* The first word of an ErtsGCInfo is the words reclaimed (beam/vm_work.c). */
static struct wire_memory_fields memory_fields(const struct layout *layout)
{
    return (struct wire_memory_fields){
        .heap = (uint32_t)layout->process_heap,
        .old_heap = (uint32_t)layout->process_old_heap,
        .old_top = (uint32_t)layout->process_old_htop,
        .fragments = (uint32_t)layout->process_mbuf_sz,
        .reductions = (uint32_t)layout->process_reds,
        .scheduler = (uint32_t)layout->process_scheduler_data,
        .reclaimed = (uint32_t)layout->sched_gc_info,
    };
}

static int load(struct call_counter *counter, struct vm *vm,
                const struct call_counter_options *options, struct error *error)
{
    const struct layout *layout = &counter->vm->layout;
    struct calls_bpf *skeleton;

    if (options->words && layout->sched_gc_info < 0)
        return error_set(error, ERROR_UNSUPPORTED,
                         "the words that calls allocate can't be measured in this VM: its counter "
                         "of reclaimed words is not known");
    descriptors_raise();
    bpf_load_log_messages();
    counter->cpus = libbpf_num_possible_cpus();
    counter->skeleton = skeleton = calls_bpf__open();
    if (!skeleton || counter->cpus < 1)
        return error_set(error, ERROR_FAILED, "a BPF program can't be opened: %s", strerror(errno));
    skeleton->rodata->process_id = (uint32_t)layout->process_id;
    skeleton->rodata->process_hend = options->times ? (uint32_t)layout->process_hend : 0;
    skeleton->rodata->process_stop = (uint32_t)layout->process_stop;
    skeleton->rodata->bif_return = options->frame_pointers ? sizeof(uint64_t) : 0;
    skeleton->rodata->by_caller = options->by_caller;
    skeleton->rodata->slow_ns = options->slow_ns;
    if (options->words)
        skeleton->rodata->memory_fields = memory_fields(layout);
    skeleton->rodata->argument_fields = (struct wire_argument_fields){
        .levels = options->argument_levels,
        .shapes_only = options->shapes_only,
        .in_bits = counter->vm->features.binaries_in_bits,
        .binary_of_size = (int16_t)layout->binary_orig_size,
    };
    skeleton->rodata->has_matches = options->matches;
    shrink_maps(skeleton, options);
    if (!options->split)
        call_split_omit(counter);
    else if (call_split_new(counter, vm, options->split, error))
        return -1;
    if (bpf_load(skeleton->skeleton, error) ||
        (counter->split && call_split_loaded(counter, error)))
        return -1;
    return options->slow_ns ? call_counter_list_slow(counter, error) : 0;
}

struct call_counter *call_counter_new(struct vm *vm, const struct call_counter_options *options,
                                      struct error *error)
{
    struct call_counter *counter = xcalloc(1, sizeof(*counter));

    counter->vm = vm;
    counter->is_open = true;
    if (load(counter, vm, options, error) == 0 && call_counter_try(counter, options, error) == 0 &&
        call_counter_follow_threads(counter, error) == 0)
        return counter;
    call_counter_free(counter);
    return NULL;
}

void call_counter_free(struct call_counter *counter)
{
    if (!counter)
        return;
    for (size_t i = 0; i < counter->entry_count; i++)
        breakpoint_remove(&counter->entries[i].breakpoint);
    call_split_free(counter->split);
    ring_buffer__free(counter->slow);
    calls_bpf__destroy(counter->skeleton);
    free(counter->tids);
    free(counter);
}
