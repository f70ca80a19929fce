// SPDX-License-Identifier: Apache-2.0
/* Lies about atoms, and about the list of code that the JIT keeps for debuggers. */
#include <string.h>

#include "beam/gdb_jit.h"
#include "beam/term.h"
#include "hostile.h"

/* ---- atoms ---- */

/* All names are as long as a length can be. */
void lie_atoms(void)
{
    uint64_t table = vm->roots.atom_table, segments, segment, atom;
    uint16_t length = INT16_MAX;

    if (!memory_read_u64(vm->memory, table + (uint64_t)vm->layout.index_seg_table, &segments) ||
        !memory_read_u64(vm->memory, segments, &segment))
        fail("atoms can't be read");
    put_u32(table + (uint64_t)vm->layout.index_size, UINT32_MAX / 1024 * 1024);
    put_u32(table + (uint64_t)vm->layout.index_entries, UINT32_MAX / 1024 * 1024);
    for (uint64_t i = 300; i < 1024; i++)
        if (memory_read_u64(vm->memory, segment + i * 8, &atom) && atom)
            put(atom + (uint64_t)vm->layout.atom_len, &length, sizeof(length));
}

void lie_held_atoms(void)
{
    uint64_t segments;

    if (!memory_read_u64(vm->memory, vm->roots.atom_table + (uint64_t)vm->layout.index_seg_table,
                         &segments))
        fail("atoms can't be read");
    put_u64(segments, held_page());
}

static uint64_t name_address(uint64_t atom)
{
    struct term_bytes bytes;
    uint64_t name;

    if (vm->layout.atom_name >= 0)
        return memory_read_u64(vm->memory, atom + (uint64_t)vm->layout.atom_name, &name) ? name : 0;
    return memory_read_u64(vm->memory, atom + (uint64_t)vm->layout.atom_bin, &name) &&
                   term_binary(vm->memory, &vm->layout, true, term_address(name), &bytes)
               ? bytes.address
               : 0;
}

/* All names that the node has made itself, of modules, functions, applications and the node,
 * begin with what changes a terminal. */
void lie_names(void)
{
    enum { MADE_BY_THE_VM = 1200 };
    static const char escape[] = "\x1b[31m\xe2\x80\xae";
    uint64_t table = vm->roots.atom_table, segments, segment, atom, name;
    uint16_t length;
    uint32_t count;

    if (!memory_read_u64(vm->memory, table + (uint64_t)vm->layout.index_seg_table, &segments) ||
        !memory_read_u32(vm->memory, table + (uint64_t)vm->layout.index_entries, &count))
        fail("atoms can't be read");
    for (uint64_t i = MADE_BY_THE_VM; i < count; i++)
        if (memory_read_u64(vm->memory, segments + i / 1024 * 8, &segment) &&
            memory_read_u64(vm->memory, segment + i % 1024 * 8, &atom) &&
            memory_read(vm->memory, atom + (uint64_t)vm->layout.atom_len, &length,
                        sizeof(length)) &&
            length >= sizeof(escape) && (name = name_address(atom)))
            put(name, escape, sizeof(escape) - 1);
}

/* ---- code ---- */

static uint64_t descriptor(void)
{
    return vm->roots.jit_descriptor + GDB_JIT_FIRST_ENTRY;
}

/* Put an entry before `next`. */
static uint64_t put_entry(uint64_t next, uint64_t symfile, uint64_t size)
{
    const uint64_t entry[] = {next, 0, symfile, size};
    uint64_t at = words(entry, 4);

    if (next && next != held)
        put_u64(next + 8, at);
    return at;
}

static uint64_t first_entry(void)
{
    uint64_t first;

    if (!memory_read_u64(vm->memory, descriptor(), &first))
        fail("the list of code can't be read");
    return first;
}

/* A symbol file of one module: kind, base, ranges, size of the code, name. */
static uint64_t symbol_file(uint64_t base, uint32_t ranges)
{
    uint8_t bytes[48] = {1};

    memcpy(bytes + 8, &base, sizeof(base));
    memcpy(bytes + 16, &ranges, sizeof(ranges));
    bytes[20] = 64;
    bytes[24] = 2; /* size of the name, "m" */
    bytes[26] = 'm';
    return words((const uint64_t *)(void *)bytes, sizeof(bytes) / 8);
}

/* Make the entry of the VM's own code, which has kind 0, the newest as well: the VM is known by
 * it. */
static void put_own_code_first(uint64_t next)
{
    uint64_t entry[4], at = first_entry();
    uint32_t kind = 1;

    while (at && kind) {
        if (!memory_read(vm->memory, at, entry, sizeof(entry)) ||
            !memory_read_u32(vm->memory, entry[2], &kind))
            fail("the list of code can't be read");
        at = entry[0];
    }
    put_u64(descriptor(), put_entry(next, entry[2], entry[3]));
}

/* Each module lies before the one that was loaded before it. */
void lie_code(void)
{
    uint64_t next = first_entry();

    for (uint64_t i = 0; i < 1000000; i++)
        next = put_entry(next, symbol_file(0x600000000000 - i * 64, 0), 48);
    put_own_code_first(next);
}

void lie_code_ring(void)
{
    uint64_t first = put_entry(0, symbol_file(0x600000000000, 0), 48);

    put_u64(first, first);
    put_u64(first + 8, first);
    put_own_code_first(first);
}

void lie_code_sizes(void)
{
    uint64_t next = first_entry();

    for (uint64_t i = 64; i-- > 4;)
        next = put_entry(next, symbol_file(0x600000000000 + i * 64, UINT32_MAX), (uint64_t)1 << i);
    put_own_code_first(next);
}

void lie_held_code(void)
{
    put_own_code_first(held_page());
}
