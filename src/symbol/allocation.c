// SPDX-License-Identifier: Apache-2.0
#include "symbol/allocation.h"

#include <stdlib.h>
#include <string.h>

#include "arch.h"
#include "util/address_map.h"
#include "util/alloc.h"
#include "vm_constants.h"

enum { PROCESSES_MAX = 1 << 16 };

/* The state of a process since its last collection, which left `high_water`. */
struct allocation_progress {
    uint64_t high_water, top;
    uint64_t charged; /* words */
};

struct allocation {
    const struct vm *vm;
    struct code *code;
    struct address_map *by_pid; /* pid term -> index in progress */
    struct allocation_progress progress[PROCESSES_MAX];
};

struct allocation *allocation_new(const struct vm *vm, struct code *code)
{
    struct allocation *allocation = xcalloc(1, sizeof(*allocation));

    allocation->vm = vm;
    allocation->code = code;
    allocation->by_pid = address_map_new(PROCESSES_MAX);
    return allocation;
}

void allocation_free(struct allocation *allocation)
{
    if (!allocation)
        return;
    address_map_free(allocation->by_pid);
    free(allocation);
}

static struct allocation_progress *progress_of(struct allocation *allocation, uint64_t pid)
{
    bool is_new;
    size_t place = address_map_place(allocation->by_pid, pid, &is_new);

    if (is_new)
        allocation->progress[place] = (struct allocation_progress){0};
    return &allocation->progress[place];
}

static const uint8_t *process_of(const struct allocation *allocation,
                                 const struct snapshot *snapshot)
{
    return snapshot_region(snapshot, REGION_PROCESS, (size_t)allocation->vm->layout.sizeof_process);
}

/* The heap's top. JIT code has it in a register, and stores it when it calls C code that may
 * allocate. Growth that C code has not stored yet is seen at a later sample. */
static uint64_t heap_top(const struct allocation *allocation, const struct snapshot *snapshot,
                         const uint8_t *process)
{
    if ((snapshot->sample->flags & WIRE_REGISTERS) &&
        code_contains(allocation->code, snapshot_register(snapshot, CPU_PC)))
        return snapshot_register(snapshot, JIT_HTOP);
    return layout_word(process, allocation->vm->layout.process_htop);
}

uint64_t allocation_at_sample(struct allocation *allocation, const struct snapshot *snapshot)
{
    const struct layout *layout = &allocation->vm->layout;
    const uint8_t *process = process_of(allocation, snapshot);
    uint64_t high_water, top, words;
    struct allocation_progress *progress;

    if (!process || layout_word(process, layout->process_abandoned_heap) ||
        ((uint32_t)layout_word(process, layout->process_state) & ERTS_PSFLG_GC))
        return 0;
    high_water = layout_word(process, layout->process_high_water);
    top = heap_top(allocation, snapshot, process);
    if (high_water < layout_word(process, layout->process_heap) || top < high_water ||
        top > layout_word(process, layout->process_hend))
        return 0;
    progress = progress_of(allocation, layout_word(process, layout->process_id));
    if (progress->high_water != high_water || top < progress->top)
        *progress = (struct allocation_progress){.high_water = high_water, .top = high_water};
    words = (top - progress->top) / sizeof(uint64_t);
    progress->top = top;
    progress->charged += words;
    return words;
}

uint64_t allocation_at_hit(struct allocation *allocation, const struct snapshot *snapshot)
{
    const struct layout *layout = &allocation->vm->layout;
    const uint8_t *process = process_of(allocation, snapshot);
    struct allocation_progress *progress;
    uint64_t high_water, charged;

    if (!process)
        return 0;
    high_water = layout_word(process, layout->process_high_water);
    progress = progress_of(allocation, layout_word(process, layout->process_id));
    charged = progress->high_water == high_water ? progress->charged : 0;
    *progress = (struct allocation_progress){.high_water = high_water,
                                             .top = layout_word(process, layout->process_htop)};
    return charged;
}
