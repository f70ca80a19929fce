// SPDX-License-Identifier: Apache-2.0
#include "beam/atom.h"

#include <string.h>

#include "native/memory.h"
#include "vm_constants.h"

enum {
    SEGMENT_SIZE = 1 << INDEX_PAGE_SHIFT,
    LOOK_MAX = 1 << 16,
    TEXT_MAX = 24,
    ATOM_HEAD = 40, /* bytes of Atom with its length */
};

static const char CONTEXT[] = "$__current_otel_ctx", TRACER[] = "otel_tracer",
                  SPAN_CTX[] = "span_ctx";

static bool is_found(const struct trace_atoms *atoms)
{
    return atoms->wire.context && atoms->wire.tracer && atoms->wire.span_ctx;
}

/* True if one of the three names has this size. */
static bool has_size_of(int16_t size)
{
    return size == sizeof(CONTEXT) - 1 || size == sizeof(TRACER) - 1 ||
           size == sizeof(SPAN_CTX) - 1;
}

/* Look at the atom with this index, whose struct begins with `head`. */
static void consider(const struct vm *vm, struct trace_atoms *atoms, uint64_t index,
                     const uint8_t head[ATOM_HEAD])
{
    uint64_t term = index << TAG_IMMED2_SIZE | TAG_IMMED2_ATOM;
    char text[TEXT_MAX];
    int16_t size;

    memcpy(&size, head + vm->layout.atom_len, sizeof(size));
    if (!has_size_of(size) ||
        !atom_table_text(vm->memory, &vm->layout, vm->roots.atom_table, index, text, sizeof(text)))
        return;
    if (!strcmp(text, CONTEXT))
        atoms->wire.context = term;
    else if (!strcmp(text, TRACER))
        atoms->wire.tracer = term;
    else if (!strcmp(text, SPAN_CTX))
        atoms->wire.span_ctx = term;
}

/* Look at the atoms from `seen` on, up to `end` or the end of their segment of the table. False if
 * an atom can't be read. */
static bool look_at_segment(const struct vm *vm, struct trace_atoms *atoms, uint64_t end)
{
    const struct layout *layout = &vm->layout;
    uint64_t first = atoms->seen & ~(uint64_t)(SEGMENT_SIZE - 1), segments, segment, address;
    uint64_t pointers[SEGMENT_SIZE];
    uint8_t head[ATOM_HEAD];
    struct read_cache cache;

    read_cache_init(&cache, vm->memory);
    if (end > first + SEGMENT_SIZE)
        end = first + SEGMENT_SIZE;
    if (!memory_read_u64(vm->memory, vm->roots.atom_table + (uint64_t)layout->index_seg_table,
                         &segments) ||
        !memory_read_u64(vm->memory, segments + (first >> INDEX_PAGE_SHIFT) * sizeof(segment),
                         &segment) ||
        !memory_read(vm->memory, segment, pointers, (end - first) * sizeof(*pointers)))
        return false;
    for (; atoms->seen < end && !is_found(atoms); atoms->seen++) {
        address = pointers[atoms->seen - first];
        if (!memory_read_cached(&cache, address, head, sizeof(head)))
            return false;
        consider(vm, atoms, atoms->seen, head);
    }
    return true;
}

bool trace_atoms_look(const struct vm *vm, struct trace_atoms *atoms)
{
    const struct layout *layout = &vm->layout;
    uint64_t end;
    uint32_t entries;

    if (layout->sizeof_atom < ATOM_HEAD || layout->atom_len < 0 ||
        layout->atom_len > ATOM_HEAD - (int)sizeof(int16_t) ||
        !memory_read_u32(vm->memory, vm->roots.atom_table + (uint64_t)layout->index_entries,
                         &entries))
        return false;
    end = entries < atoms->seen + LOOK_MAX ? entries : atoms->seen + LOOK_MAX;
    while (atoms->seen < end && !is_found(atoms) && look_at_segment(vm, atoms, end))
        ;
    return is_found(atoms);
}
