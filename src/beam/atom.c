// SPDX-License-Identifier: Apache-2.0
/*
 *  IndexTable        seg_table            segment: 1024 pointers       Atom
 *  erts_atom_table ──────────> [ 0 ] ──────────> [ index & 1023 ] ──────────> len | name or bin
 *                              [ 1 ]
 *                              [...]  by index >> 10   (index.h 25.2.3:39, atom.h)
 */
#include "beam/atom.h"

#include <stdlib.h>
#include <string.h>

#include "beam/erlang_escape.h"
#include "beam/term.h"
#include "util/alloc.h"
#include "vm_constants.h"

enum {
    SEGMENT_SIZE = 1 << INDEX_PAGE_SHIFT,
    INDEX_MAX = 1 << 26,                /* far more than a VM can have */
    TEXT_MAX = MAX_ATOM_CHARACTERS * 4, /* in UTF-8 */
};

/* Cached texts of atoms with neighbouring numbers. An agent has a cache for each VM, and most have
 * few texts, so a piece is smaller than a segment. */
enum { PIECE_SIZE = 32 };

struct atom_piece {
    char *texts[PIECE_SIZE];
};

struct atoms {
    struct vm *vm;
    struct atom_piece **pieces;
    size_t piece_count;
};

static bool text_address(struct memory *memory, const struct layout *layout, const uint8_t *atom,
                         uint64_t *address, size_t size)
{
    struct term_bytes bytes;
    uint64_t word;

    if (layout->atom_name >= 0) {
        memcpy(address, atom + layout->atom_name, sizeof(*address));
        return true;
    }
    /* The name is a binary term (atom.h 29, Atom.u.bin). */
    memcpy(&word, atom + layout->atom_bin, sizeof(word));
    if (!term_is_boxed(word) || !term_binary(memory, layout, true, term_address(word), &bytes) ||
        bytes.size < size)
        return false;
    *address = bytes.address;
    return true;
}

bool atom_struct_text(struct memory *memory, const struct layout *layout,
                      const uint8_t atom[ATOM_BYTES_MAX], uint64_t index, char *text, size_t size)
{
    uint32_t stored_index;
    uint64_t address;
    int16_t length;

    memcpy(&length, atom + layout->atom_len, sizeof(length));
    memcpy(&stored_index, atom + layout->atom_index, sizeof(stored_index));
    if (length < 0 || (size_t)length >= size || stored_index != index ||
        !text_address(memory, layout, atom, &address, length) ||
        !memory_read(memory, address, text, length))
        return false;
    text[length] = '\0';
    return true;
}

bool atom_table_text(struct memory *memory, const struct layout *layout, uint64_t table,
                     uint64_t index, char *text, size_t size)
{
    uint64_t segments, segment, address;
    uint8_t atom[ATOM_BYTES_MAX];

    return layout->sizeof_atom <= ATOM_BYTES_MAX && layout->atom_len >= 0 && index < INDEX_MAX &&
           memory_read_u64(memory, table + layout->index_seg_table, &segments) &&
           memory_read_u64(memory, segments + (index >> INDEX_PAGE_SHIFT) * 8, &segment) &&
           memory_read_u64(memory, segment + (index % SEGMENT_SIZE) * 8, &address) &&
           memory_read(memory, address, atom, layout->sizeof_atom) &&
           atom_struct_text(memory, layout, atom, index, text, size);
}

struct atoms *atoms_new(struct vm *vm)
{
    struct atoms *atoms = xcalloc(1, sizeof(*atoms));

    atoms->vm = vm;
    return atoms;
}

void atoms_free(struct atoms *atoms)
{
    if (!atoms)
        return;
    for (size_t i = 0; i < atoms->piece_count; i++) {
        for (size_t j = 0; atoms->pieces[i] && j < PIECE_SIZE; j++)
            free(atoms->pieces[i]->texts[j]);
        free(atoms->pieces[i]);
    }
    free(atoms->pieces);
    free(atoms);
}

/* The slot of an atom's cached text. */
static char **slot(struct atoms *atoms, uint64_t index)
{
    size_t number = index / PIECE_SIZE;

    if (number >= atoms->piece_count) {
        atoms->pieces = xreallocarray(atoms->pieces, number + 1, sizeof(*atoms->pieces));
        while (atoms->piece_count <= number)
            atoms->pieces[atoms->piece_count++] = NULL;
    }
    if (!atoms->pieces[number])
        atoms->pieces[number] = xcalloc(1, sizeof(struct atom_piece));
    return &atoms->pieces[number]->texts[index % PIECE_SIZE];
}

static bool exists(const struct atoms *atoms, uint64_t index)
{
    const struct vm *vm = atoms->vm;
    uint32_t entries;

    return memory_read_u32(vm->memory, vm->roots.atom_table + vm->layout.index_entries, &entries) &&
           index < entries && index < INDEX_MAX;
}

const char *atom_text(struct atoms *atoms, uint64_t term)
{
    uint64_t index = term_atom_index(term);
    const struct vm *vm = atoms->vm;
    char text[TEXT_MAX + 1], **cached;

    if (!term_is_atom(term))
        return NULL;
    if (index / PIECE_SIZE < atoms->piece_count && atoms->pieces[index / PIECE_SIZE] &&
        *slot(atoms, index))
        return *slot(atoms, index);
    if (!exists(atoms, index) ||
        !atom_table_text(vm->memory, &vm->layout, vm->roots.atom_table, index, text, sizeof(text)))
        return NULL;
    cached = slot(atoms, index);
    *cached = xstrdup(text);
    return *cached;
}

uint64_t atom_find(struct atoms *atoms, const char *text)
{
    for (uint64_t index = 0; exists(atoms, index); index++) {
        uint64_t term = index << TAG_IMMED2_SIZE | TAG_IMMED2_ATOM;
        const char *found = atom_text(atoms, term);

        if (found && !strcmp(found, text))
            return term;
    }
    return 0;
}

/* "Enum" for the Elixir module 'Elixir.Enum'; NULL if it is not an Elixir module. */
static const char *elixir_name(const char *module)
{
    static const char prefix[] = "Elixir.";
    size_t length = sizeof(prefix) - 1;
    bool is_elixir =
        strncmp(module, prefix, length) == 0 && module[length] >= 'A' && module[length] <= 'Z';

    return is_elixir ? module + length : NULL;
}

const char *atom_shown(const char *text)
{
    const char *elixir = elixir_name(text);

    return elixir ? elixir : text;
}

void atom_mfa_format(const char *module, const char *function, uint32_t arity, char *buffer,
                     size_t size)
{
    const char *elixir = elixir_name(module);
    struct buffer out = {0};

    if (elixir) {
        buffer_format(&out, "%s.%s", elixir, function);
    } else {
        erlang_escape_atom(&out, module);
        buffer_byte(&out, ':');
        erlang_escape_atom(&out, function);
    }
    buffer_format(&out, "/%u", arity);
    erlang_escape_copy(&out, buffer, size);
    buffer_free(&out);
}
