// SPDX-License-Identifier: Apache-2.0
/* The work of a VM, by the counters of its schedulers. */
#include "beam/vm.h"

enum { AT_ONCE = 64 }; /* counters that are read in one call */

/* The counters of some schedulers. */
struct counters {
    struct vm *vm;
    enum vm_counter counter;
    uint64_t at[AT_ONCE]; /* addresses */
    size_t count;
    struct vm_work sum; /* of those before */
};

bool vm_counts(const struct vm *vm, enum vm_counter counter)
{
    const int32_t offsets[] = {
        [VM_REDUCTIONS] = vm->layout.sched_reductions,
        [VM_EXECUTED] = vm->layout.run_queue_reductions,
        [VM_SWITCHES] = vm->layout.run_queue_switches,
        [VM_COLLECTIONS] = vm->layout.sched_gc_info,
    };

    return offsets[counter] >= 0;
}

static bool is_of_run_queue(enum vm_counter counter)
{
    return counter == VM_SWITCHES || counter == VM_EXECUTED;
}

/* Read `size` bytes at each address. */
static bool read_words(const struct counters *counters, size_t size, uint64_t words[][2])
{
    struct memory_span spans[AT_ONCE];

    for (size_t i = 0; i < counters->count; i++)
        spans[i] = (struct memory_span){counters->at[i], words[i], size, false};
    memory_read_spans(counters->vm->memory, spans, counters->count);
    for (size_t i = 0; i < counters->count; i++)
        if (!spans[i].is_read)
            return false;
    return true;
}

/* Replace the addresses of the schedulers' pointers to run queues by the addresses of the counters
 * in these. */
static bool follow_run_queues(struct counters *counters, uint64_t words[][2])
{
    const struct layout *layout = &counters->vm->layout;
    int32_t offset = counters->counter == VM_SWITCHES ? layout->run_queue_switches
                                                      : layout->run_queue_reductions;

    if (!read_words(counters, sizeof(uint64_t), words))
        return false;
    for (size_t i = 0; i < counters->count; i++)
        counters->at[i] = words[i][0] + (uint64_t)offset;
    return true;
}

/* Add what the counters have, and forget their addresses. An ErtsGCInfo has the words reclaimed,
 * and then the collections (erl_gc.h 25.2.3:158, 29.1.1:157). */
static bool add_up(struct counters *counters)
{
    bool is_pair = counters->counter == VM_COLLECTIONS;
    uint64_t words[AT_ONCE][2];

    if (is_of_run_queue(counters->counter) && !follow_run_queues(counters, words))
        return false;
    if (!read_words(counters, (is_pair ? 2 : 1) * sizeof(uint64_t), words))
        return false;
    for (size_t i = 0; i < counters->count; i++) {
        counters->sum.amount += words[i][0];
        counters->sum.count += words[i][is_pair];
    }
    counters->count = 0;
    return true;
}

static bool add(struct counters *counters, uint64_t address)
{
    counters->at[counters->count++] = address;
    return counters->count < AT_ONCE || add_up(counters);
}

/* The counters of a scheduler grow in erts_schedule() (reductions: erl_process.c 26.2.1:9600, where
 * a run has a least cost of CONTEXT_REDS / 10; context_switches of its run queue: 25.2.3:9974,
 * 27.3.4.1:10071, 29.1.1:10178; reductions of its run queue: ERTS_PROC_REDUCTIONS_EXECUTED()) and
 * in garbage_collect() (gc_info: erl_gc.c 25.2.3:842, 27.3.4.1:897, 29.1.1:930). */
static int32_t offset_of(const struct layout *layout, enum vm_counter counter)
{
    if (is_of_run_queue(counter))
        return layout->sched_run_queue;
    return counter == VM_COLLECTIONS ? layout->sched_gc_info : layout->sched_reductions;
}

/* True if the counter of this scheduler is to be added. Dirty schedulers of a type share a run
 * queue. */
static bool has_counter(const struct vm_scheduler *scheduler, enum vm_counter counter)
{
    return scheduler->type == VM_SCHEDULER_NORMAL ||
           (counter == VM_SWITCHES && scheduler->number == 1);
}

bool vm_work(struct vm *vm, enum vm_counter counter, struct vm_work *ret_work)
{
    uint64_t offset = (uint64_t)offset_of(&vm->layout, counter);
    struct counters counters = {.vm = vm, .counter = counter};

    *ret_work = (struct vm_work){0};
    if (!vm_counts(vm, counter))
        return false;
    for (uint32_t i = 0; i < vm->scheduler_count; i++)
        if (has_counter(&vm->schedulers[i], counter) &&
            !add(&counters, vm->schedulers[i].data + offset))
            return false;
    if (counter == VM_COLLECTIONS && vm->dirty_gc_info && !add(&counters, vm->dirty_gc_info))
        return false;
    if (!add_up(&counters))
        return false;
    *ret_work = counters.sum;
    return true;
}
