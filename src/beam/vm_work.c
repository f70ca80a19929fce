// SPDX-License-Identifier: Apache-2.0
/* The work of a VM, by the counters of its schedulers. */
#include "beam/vm.h"

enum { AT_ONCE = 64 }; /* counters that are read in one call */

/* A counter of a scheduler. */
struct cell {
    enum vm_counter counter;
    uint64_t address;
    uint64_t words[2];
};

/* Counters that are still to be read, and what the counters before have added up to. */
struct cells {
    struct vm *vm;
    struct cell list[AT_ONCE];
    size_t count;
    unsigned int missing; /* set of counters */
    struct vm_work *works;
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

/* Words of a counter: an ErtsGCInfo has the words reclaimed, and then the collections (erl_gc.h
 * 25.2.3:158, 29.1.1:157). */
static size_t words_of(enum vm_counter counter)
{
    return counter == VM_COLLECTIONS ? 2 : 1;
}

/* Read the cells, add them up, and forget them. */
static void add_up(struct cells *cells)
{
    struct memory_span spans[AT_ONCE];

    for (size_t i = 0; i < cells->count; i++) {
        struct cell *cell = &cells->list[i];

        spans[i] = (struct memory_span){cell->address, cell->words,
                                        words_of(cell->counter) * sizeof(uint64_t), false};
    }
    memory_read_spans(cells->vm->memory, spans, cells->count);
    for (size_t i = 0; i < cells->count; i++) {
        const struct cell *cell = &cells->list[i];
        struct vm_work *work = &cells->works[cell->counter];

        if (!spans[i].is_read)
            cells->missing |= 1u << cell->counter;
        work->amount += cell->words[0];
        work->count += cell->words[words_of(cell->counter) - 1];
    }
    cells->count = 0;
}

static void add(struct cells *cells, enum vm_counter counter, uint64_t address)
{
    cells->list[cells->count++] = (struct cell){.counter = counter, .address = address};
    if (cells->count == AT_ONCE)
        add_up(cells);
}

/* The counters of a scheduler grow in erts_schedule() (reductions: erl_process.c 26.2.1:9600, where
 * a run has a least cost of CONTEXT_REDS / 10; context_switches of its run queue: 25.2.3:9974,
 * 27.3.4.1:10071, 29.1.1:10178; reductions of its run queue: ERTS_PROC_REDUCTIONS_EXECUTED()) and
 * in garbage_collect() (gc_info: erl_gc.c 25.2.3:842, 27.3.4.1:897, 29.1.1:930). */
static uint64_t address_of(const struct layout *layout, const struct vm_scheduler *scheduler,
                           enum vm_counter counter)
{
    switch (counter) {
    case VM_SWITCHES:
        return scheduler->run_queue + (uint64_t)layout->run_queue_switches;
    case VM_EXECUTED:
        return scheduler->run_queue + (uint64_t)layout->run_queue_reductions;
    case VM_COLLECTIONS:
        return scheduler->data + (uint64_t)layout->sched_gc_info;
    default:
        return scheduler->data + (uint64_t)layout->sched_reductions;
    }
}

/* True if the counter of this scheduler is to be added. Dirty schedulers of a type share a run
 * queue. */
static bool has_counter(const struct vm_scheduler *scheduler, enum vm_counter counter)
{
    return scheduler->type == VM_SCHEDULER_NORMAL ||
           (counter == VM_SWITCHES && scheduler->number == 1);
}

static void add_all(struct cells *cells, enum vm_counter counter)
{
    const struct vm *vm = cells->vm;

    for (uint32_t i = 0; i < vm->scheduler_count; i++)
        if (has_counter(&vm->schedulers[i], counter))
            add(cells, counter, address_of(&vm->layout, &vm->schedulers[i], counter));
    if (counter == VM_COLLECTIONS && vm->dirty_gc_info)
        add(cells, counter, vm->dirty_gc_info);
}

unsigned int vm_works(struct vm *vm, unsigned int wanted, struct vm_work works[VM_COUNTERS])
{
    struct cells cells = {.vm = vm, .works = works};

    for (int counter = 0; counter < VM_COUNTERS; counter++) {
        works[counter] = (struct vm_work){0};
        if (!vm_counts(vm, (enum vm_counter)counter))
            cells.missing |= 1u << counter;
        else if (wanted >> counter & 1)
            add_all(&cells, (enum vm_counter)counter);
    }
    add_up(&cells);
    return wanted & ~cells.missing;
}

bool vm_work(struct vm *vm, enum vm_counter counter, struct vm_work *ret_work)
{
    struct vm_work works[VM_COUNTERS];
    bool is_known = vm_works(vm, 1u << counter, works);

    *ret_work = works[counter];
    return is_known;
}
