// SPDX-License-Identifier: Apache-2.0
#include <stdlib.h>

#include "beam/vm_internal.h"
#include "util/alloc.h"

/* Read the scheduler at `address`; false if there is no scheduler with this type and number. */
static bool read_scheduler(const struct vm *vm, uint64_t address, enum vm_scheduler_type type,
                           uint32_t number, struct vm_scheduler *scheduler)
{
    const struct layout *layout = &vm->layout;
    int32_t number_at = type == VM_SCHEDULER_NORMAL ? layout->sched_no : layout->sched_dirty_no;
    struct vm_scheduler read = {.data = address, .type = type, .number = number};
    uint64_t stored_number;
    uint32_t stored_type;

    if (!memory_read_u32(vm->memory, address + layout->sched_type, &stored_type) ||
        !memory_read_u64(vm->memory, address + number_at, &stored_number) ||
        !memory_read_u64(vm->memory, address + layout->sched_tid, &read.tid) ||
        stored_type != (uint32_t)type || stored_number != number)
        return false;
    if (layout->sched_registers >= 0 &&
        !memory_read_u64(vm->memory, address + layout->sched_registers, &read.registers))
        return false;
    /* It is written before the thread starts (init_scheduler_data(), erl_process.c 25.2.3:5911). */
    if (layout->sched_run_queue >= 0 &&
        !memory_read_u64(vm->memory, address + (uint64_t)layout->sched_run_queue, &read.run_queue))
        return false;
    *scheduler = read;
    return true;
}

/* True if `tid` is a thread pointer, which points to itself (System V ABI, thread-local storage),
 * or 0, before the thread has started. */
static bool is_thread(const struct vm *vm, uint64_t tid)
{
    uint64_t self;

    return tid == 0 || (memory_read_u64(vm->memory, tid, &self) && self == tid);
}

enum { CACHE_LINE = 64 };

/* Find the distance between schedulers in memory. The struct can grow by some words within a
 * release, as in ERTS 14.2.4 (ERTS_CHECK_MONOTONIC_TIME), and the distance then grows by a cache
 * line. So the search for the second scheduler begins at the distance of the layout. False if there
 * is only one scheduler of each type; then the distance does not matter. */
static bool find_distance(const struct vm *vm, int32_t *distance)
{
    enum { LINES = 16 };
    int32_t expected = vm->layout.sizeof_sched_aligned;

    for (int type = 0; type < 3; type++) {
        for (int i = 0; i <= 2 * LINES; i++) {
            struct vm_scheduler second;

            *distance = expected + (i % 2 ? i + 1 : -i) / 2 * CACHE_LINE;
            if (*distance > 0 &&
                read_scheduler(vm, vm->roots.schedulers[type] + (uint64_t)*distance, type, 2,
                               &second) &&
                is_thread(vm, second.tid))
                return true;
        }
    }
    *distance = expected;
    return false;
}

/* Where the release got a new word before these fields, the distance shows whether the word is
 * there. Without a distance the offsets of the fields are unknown. */
static void find_counters(struct vm *vm, bool is_known, int32_t distance)
{
    int32_t *const offsets[] = {&vm->layout.sched_reductions, &vm->layout.sched_gc_info,
                                &vm->layout.sched_ets_tables_25, &vm->layout.sched_ets_tables};
    const size_t count = sizeof(offsets) / sizeof(*offsets);

    for (size_t i = 0; vm->features.counters_may_move && i < count; i++) {
        if (!is_known)
            *offsets[i] = -1;
        else if (*offsets[i] >= 0 && distance == vm->layout.sizeof_sched_aligned + CACHE_LINE)
            *offsets[i] += 8;
    }
}

/* True if all threads have started: the VM starts them one after the other. */
static bool all_run(const struct vm_scheduler *schedulers, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        if (schedulers[i].tid == 0)
            return false;
    }
    return true;
}

/* The schedulers of a type are neighbours in memory and numbered from 1. The array ends where the
 * next number is not found. */
int schedulers_read(struct vm *vm, struct error *error)
{
    struct vm_scheduler *schedulers = xmalloc(VM_SCHEDULERS_MAX * sizeof(*schedulers));
    uint32_t count = 0, counts[3] = {0};
    int32_t distance;
    bool is_known = find_distance(vm, &distance);

    find_counters(vm, is_known, distance);
    for (int type = 0; type < 3; type++) {
        uint64_t address = vm->roots.schedulers[type];

        while (count < VM_SCHEDULERS_MAX &&
               read_scheduler(vm, address, type, counts[type] + 1, &schedulers[count])) {
            counts[type]++;
            count++;
            address += (uint64_t)distance;
        }
    }
    if (counts[0] == 0 || !all_run(schedulers, count)) {
        free(schedulers);
        return error_set(error, ERROR_UNSUPPORTED,
                         "the VM has not started its schedulers yet: try again");
    }
    vm->schedulers = xreallocarray(schedulers, count, sizeof(*schedulers));
    vm->scheduler_count = count;
    for (int type = 0; type < 3; type++)
        vm->scheduler_counts[type] = counts[type];
    return 0;
}
