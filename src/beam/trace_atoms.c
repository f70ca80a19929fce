// SPDX-License-Identifier: Apache-2.0
#include "beam/atom.h"

#include <string.h>

#include "native/memory.h"
#include "vm_constants.h"

enum {
    SEGMENT_SIZE = 1 << INDEX_PAGE_SHIFT,
    LOOK_MAX = 1 << 16,
    TEXT_MAX = 24,
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

/* Look at the atom with this index, whose struct has these bytes. `texts` reads its text. */
static void consider(const struct layout *layout, struct memory *texts, struct trace_atoms *atoms,
                     uint64_t index, const uint8_t atom[ATOM_BYTES_MAX])
{
    uint64_t term = index << TAG_IMMED2_SIZE | TAG_IMMED2_ATOM;
    char text[TEXT_MAX];
    int16_t size;

    memcpy(&size, atom + layout->atom_len, sizeof(size));
    if (!has_size_of(size) || !atom_struct_text(texts, layout, atom, index, text, sizeof(text)))
        return;
    if (!strcmp(text, CONTEXT))
        atoms->wire.context = term;
    else if (!strcmp(text, TRACER))
        atoms->wire.tracer = term;
    else if (!strcmp(text, SPAN_CTX))
        atoms->wire.span_ctx = term;
}

/* Look at the atoms from `seen` on, up to `end` or the end of their segment of the table. False if
 * an atom can't be read. Structs are near each other, and so are texts: each has a cache. */
static bool look_at_segment(const struct vm *vm, struct trace_atoms *atoms, uint64_t end)
{
    const struct layout *layout = &vm->layout;
    uint64_t first = atoms->seen & ~(uint64_t)(SEGMENT_SIZE - 1), segments, segment, address;
    uint64_t pointers[SEGMENT_SIZE];
    uint8_t atom[ATOM_BYTES_MAX];
    struct read_cache structs;
    struct cached_memory texts;

    read_cache_init(&structs, vm->memory);
    memory_cached_init(&texts, vm->memory);
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
        if (!memory_read_cached(&structs, address, atom, (size_t)layout->sizeof_atom))
            return false;
        consider(layout, &texts.memory, atoms, atoms->seen, atom);
    }
    return true;
}

bool trace_atoms_look(const struct vm *vm, struct trace_atoms *atoms)
{
    const struct layout *layout = &vm->layout;
    uint64_t end;
    uint32_t entries;

    if (layout->sizeof_atom > ATOM_BYTES_MAX || layout->atom_len < 0 ||
        !memory_read_u32(vm->memory, vm->roots.atom_table + (uint64_t)layout->index_entries,
                         &entries))
        return false;
    end = entries < atoms->seen + LOOK_MAX ? entries : atoms->seen + LOOK_MAX;
    while (atoms->seen < end && !is_found(atoms) && look_at_segment(vm, atoms, end))
        ;
    return is_found(atoms);
}
