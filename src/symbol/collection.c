// SPDX-License-Identifier: Apache-2.0
#include "symbol/collection.h"

#include <stdbool.h>
#include <string.h>

#include "vm_constants.h"

static uint64_t number_at(const uint8_t *bytes, int32_t offset, size_t size)
{
    uint64_t number = 0;

    if (offset >= 0)
        memcpy(&number, bytes + offset, size);
    return number;
}

static uint64_t word_at(const uint8_t *bytes, int32_t offset)
{
    return number_at(bytes, offset, 8);
}

static bool needs_full_sweep(const struct layout *layout, const uint8_t *process)
{
    return number_at(process, layout->process_flags, 4) & F_NEED_FULLSWEEP;
}

/* True if there were enough minor collections (garbage_collect(), erl_gc.c 26:758). */
static bool is_due(const struct layout *layout, const uint8_t *process)
{
    return number_at(process, layout->process_gen_gcs, 2) >=
           number_at(process, layout->process_max_gen_gcs, 2);
}

/* True if a minor collection would have nothing to move to an old heap, and there is no old heap
 * (minor_collection(), erl_gc.c 26:1412). */
static bool has_nothing_old(const struct layout *layout, const uint8_t *process)
{
    uint64_t abandoned = word_at(process, layout->process_abandoned_heap);
    uint64_t heap = abandoned ? abandoned : word_at(process, layout->process_heap);

    return !word_at(process, layout->process_old_heap) &&
           word_at(process, layout->process_high_water) == heap;
}

enum microstate collection_kind(const struct layout *layout, const uint8_t *process,
                                enum call_ahead sweep)
{
    switch (sweep) {
    case CALL_ALWAYS:
        return MICROSTATE_GC_MAJOR;
    case CALL_NEVER:
        return word_at(process, layout->process_old_heap) ? MICROSTATE_GC_MINOR
                                                          : MICROSTATE_GC_MAJOR;
    case CALL_PERHAPS:
        return needs_full_sweep(layout, process) || is_due(layout, process) ||
                       has_nothing_old(layout, process)
                   ? MICROSTATE_GC_MAJOR
                   : MICROSTATE_GC_MINOR;
    case CALL_UNKNOWN:
        break;
    }
    /* The flag is set only until the sweep begins (major_collection(), erl_gc.c 26:1860). */
    return needs_full_sweep(layout, process) ? MICROSTATE_GC_MAJOR : MICROSTATE_GC;
}
