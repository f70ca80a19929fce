// SPDX-License-Identifier: Apache-2.0
/* The tests that recognise the VM's global variables among all bytes of its data. */
#include "beam/roots.h"

#include <string.h>

#include "beam/allocators.h"
#include "beam/atom.h"
#include "beam/term.h"

/* User space maps nothing below or above. */
enum { LOWEST_ADDRESS = 0x10000 };
static const uint64_t highest_address = (uint64_t)1 << 56;

static bool is_pointer(uint64_t value, unsigned int alignment)
{
    return value >= LOWEST_ADDRESS && value < highest_address && value % alignment == 0;
}

/* True for a pointer to allocated memory. Most pointers in the data lead into the executable
 * instead. */
static bool is_allocated(const struct roots_search *search, uint64_t value, unsigned int alignment)
{
    return is_pointer(value, alignment) &&
           (value < search->executable_start || value >= search->start + search->size);
}

static const uint8_t *data_at(const struct roots_search *search, uint64_t address, size_t size)
{
    uint64_t at = address - search->start;

    return at <= search->size && size <= search->size - at ? search->bytes + at : NULL;
}

static bool data_u64(const struct roots_search *search, uint64_t address, uint64_t *value)
{
    const uint8_t *data = data_at(search, address, sizeof(*value));

    if (data)
        memcpy(value, data, sizeof(*value));
    return data;
}

static bool data_u32(const struct roots_search *search, uint64_t address, uint32_t *value)
{
    const uint8_t *data = data_at(search, address, sizeof(*value));

    if (data)
        memcpy(value, data, sizeof(*value));
    return data;
}

/* True for a table whose elements have ids with this tag. The element that marks slots "being
 * created" has such an id too (erl_ptab.c 25.2.3:357, erts_ptab_init_table). */
static bool is_ptab(const struct roots_search *search, uint64_t address, unsigned int tag)
{
    const struct layout *layout = search->layout;
    uint64_t slots, invalid, id, last;
    uint32_t max, mask, count;

    if (!data_u64(search, address + layout->ptab_tab, &slots) || !is_pointer(slots, 64) ||
        !data_u32(search, address + layout->ptab_max, &max) || max < ERTS_MIN_PROCESSES ||
        max > ERTS_PTAB_MAX_SIZE || (max & (max - 1)) != 0 ||
        !data_u32(search, address + layout->ptab_pix_mask, &mask) || mask != max - 1 ||
        !data_u32(search, address + layout->ptab_count, &count) || count > max ||
        !data_u64(search, address + layout->ptab_invalid_element, &invalid) ||
        !is_pointer(invalid, 8))
        return false;
    return memory_read_u64(search->memory, invalid + layout->process_id, &id) &&
           (id & TAG_IMMED1_MASK) == tag &&
           memory_read_u64(search->memory, slots + (max - 1) * sizeof(slots), &last);
}

bool root_test_process_table(const struct roots_search *search, uint64_t address, uint64_t *root)
{
    *root = address;
    return is_ptab(search, address, 0x3);
}

bool root_test_port_table(const struct roots_search *search, uint64_t address, uint64_t *root)
{
    *root = address;
    return is_ptab(search, address, 0x7);
}

static bool atom_is(const struct roots_search *search, uint64_t table, uint64_t index,
                    const char *expected)
{
    char text[32];

    return atom_table_text(search->memory, search->layout, table, index, text, sizeof(text)) &&
           strcmp(text, expected) == 0;
}

/* The first two atoms are the same in all releases (atom.names: "'false' and 'true' must be
 * first"). */
bool root_test_atom_table(const struct roots_search *search, uint64_t address, uint64_t *root)
{
    const struct layout *layout = search->layout;
    uint32_t size, entries;
    uint64_t segments;

    *root = address;
    return data_u32(search, address + layout->index_size, &size) && size > 0 && size % 1024 == 0 &&
           data_u32(search, address + layout->index_entries, &entries) && entries > 100 &&
           entries <= size && data_u64(search, address + layout->index_seg_table, &segments) &&
           is_pointer(segments, 8) && atom_is(search, address, 0, "false") &&
           atom_is(search, address, 1, "true");
}

/* True if the value at `address` points to the first scheduler of a type. */
static bool is_schedulers(const struct roots_search *search, uint64_t address,
                          enum vm_scheduler_type type, uint64_t *root)
{
    const struct layout *layout = search->layout;
    int32_t number_at = type == VM_SCHEDULER_NORMAL ? layout->sched_no : layout->sched_dirty_no;
    uint64_t scheduler, number, thread, queue;
    uint32_t stored_type;

    if (!data_u64(search, address, &scheduler) || !is_allocated(search, scheduler, 64) ||
        !memory_read_u32(search->memory, scheduler + layout->sched_type, &stored_type) ||
        stored_type != (uint32_t)type ||
        !memory_read_u64(search->memory, scheduler + number_at, &number) || number != 1 ||
        !memory_read_u64(search->memory, scheduler + layout->sched_run_queue, &queue) ||
        !is_pointer(queue, 64) ||
        !memory_read_u64(search->memory, scheduler + layout->sched_tid, &thread) ||
        !is_pointer(thread, 8))
        return false;
    *root = scheduler;
    return true;
}

bool root_test_schedulers(const struct roots_search *search, uint64_t address, uint64_t *root)
{
    return is_schedulers(search, address, VM_SCHEDULER_NORMAL, root);
}

bool root_test_dirty_cpu_schedulers(const struct roots_search *search, uint64_t address,
                                    uint64_t *root)
{
    return is_schedulers(search, address, VM_SCHEDULER_DIRTY_CPU, root);
}

bool root_test_dirty_io_schedulers(const struct roots_search *search, uint64_t address,
                                   uint64_t *root)
{
    return is_schedulers(search, address, VM_SCHEDULER_DIRTY_IO, root);
}

/*
 * GDB's JIT interface (gdb manual, "JIT Interface"; beam_jit_metadata.cpp 27.3.4.1:62):
 *
 *   descriptor  u32 version = 1 | u32 action | relevant entry * | first entry *
 *   entry       next * | previous * | file * | u64 size of the file
 *
 * New code becomes the first entry, so the head is read again from the target. The `previous`
 * pointer of the first entry is undefined until OTP 27 (x86/beam_asm.cpp 24.3.4.4:724,
 * beam_jit_metadata.cpp 26.2.1:226).
 */
bool root_test_jit_descriptor(const struct roots_search *search, uint64_t address, uint64_t *root)
{
    uint64_t first, entry[4], next[2];
    uint32_t version, action;

    *root = address;
    if (!data_u32(search, address, &version) || version != 1 ||
        !data_u32(search, address + 4, &action) || action > 2 ||
        !memory_read_u64(search->memory, address + 16, &first) || !is_pointer(first, 8) ||
        !memory_read(search->memory, first, entry, sizeof(entry)) || !is_pointer(entry[2], 1) ||
        entry[3] < 8 || entry[3] > 1u << 30)
        return false;
    if (entry[0] == 0)
        return entry[1] == 0;
    return memory_read(search->memory, entry[0], next, sizeof(next)) && next[1] == first;
}

/* struct ranges of beam_ranges.c (25.2.3:31), the same in 24 to 29. */
struct ranges {
    uint64_t modules; /* {start, end} pairs in address order */
    int64_t count, allocated;
    uint64_t middle; /* points into modules, to where the last search ended */
};
enum { CODE_INDICES = 3, ACTIVE_INDEX = sizeof(struct ranges) * CODE_INDICES + 4 };

static bool is_ranges(const struct ranges *ranges)
{
    if (ranges->modules == 0)
        return ranges->count == 0 && ranges->middle == 0;
    return is_pointer(ranges->modules, 8) && ranges->count > 0 &&
           ranges->count <= ranges->allocated && ranges->allocated < 1000000 &&
           ranges->middle >= ranges->modules &&
           ranges->middle < ranges->modules + 16 * (uint64_t)ranges->count &&
           (ranges->middle - ranges->modules) % 16 == 0;
}

/* True if the first 64 ranges are in order and don't overlap. */
static bool is_ordered(const struct roots_search *search, const struct ranges *ranges)
{
    uint64_t pairs[64][2], before = 0;
    size_t count = ranges->count < 64 ? (size_t)ranges->count : 64;

    if (!memory_read(search->memory, ranges->modules, pairs, count * sizeof(pairs[0])))
        return false;
    for (size_t i = 0; i < count; i++) {
        if (pairs[i][0] < before || pairs[i][1] <= pairs[i][0])
            return false;
        before = pairs[i][1];
    }
    return true;
}

/* Three generations of ranges, then the index of the generation being made and the index of the
 * generation in use. */
bool root_test_code_ranges(const struct roots_search *search, uint64_t address, uint64_t *root)
{
    const uint8_t *data = data_at(search, address, ACTIVE_INDEX + 4);
    struct ranges ranges[CODE_INDICES];
    uint32_t active;

    if (!data)
        return false;
    memcpy(ranges, data, sizeof(ranges));
    memcpy(&active, data + ACTIVE_INDEX, sizeof(active));
    *root = address;
    return is_ranges(&ranges[0]) && is_ranges(&ranges[1]) && is_ranges(&ranges[2]) &&
           active < CODE_INDICES && ranges[active].count > 0 && is_ordered(search, &ranges[active]);
}

/* A pointer to an ErlNode. The node's name is an atom with an '@', and the node points to its own
 * entry in the distribution. erts_this_dist_entry, declared next to erts_this_node, points to the
 * same entry (erl_node_tables.c 25.2.3:50). */
bool root_test_this_node(const struct roots_search *search, uint64_t address, uint64_t *root)
{
    const struct layout *layout = search->layout;
    uint64_t node, name, entry, variable;
    char text[256 * 4];

    *root = address;
    if (layout->node_sysname < 0 || layout->node_dist_entry < 0 ||
        !data_u64(search, address, &node) || !is_allocated(search, node, 8) ||
        !data_u64(search, address + 8, &variable) || !is_allocated(search, variable, 8) ||
        !memory_read_u64(search->memory, node + layout->node_dist_entry, &entry) ||
        entry != variable || !memory_read_u64(search->memory, node + layout->node_sysname, &name))
        return false;
    return term_is_atom(name) &&
           atom_table_text(search->memory, layout, search->atom_table, term_atom_index(name), text,
                           sizeof(text)) &&
           strchr(text, '@');
}

/* erts_allctrs_info[]. Without a single allocator (+Mea min) it stays unknown. */
bool root_test_allocators(const struct roots_search *search, uint64_t address, uint64_t *root)
{
    const uint8_t *data = data_at(search, address, ALLOCATORS_BYTES);

    *root = address;
    return data && allocators_are(search->memory, search->layout, data);
}
