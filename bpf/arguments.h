/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * Copies the arguments of a call: the X registers, and the terms that they lead to
 * (wire_arguments.h).
 *
 * On x86-64 the JIT keeps all X registers in memory, to which a register of the CPU points
 * (`registers`, jit/x86/beam_asm.hpp 25.2.3:72). At the entry of a function they are its arguments.
 * Nothing moves the terms of a process while it is in the hit.
 *
 * The words of the copy are a queue: each word is looked at once, in order, and appends the
 * contents of its term. So what is near the arguments has room before what is deep in them.
 */
#ifndef BEAMFLAME_ARGUMENTS_H
#define BEAMFLAME_ARGUMENTS_H

#include "vm_constants.h"
#include "wire_arguments.h"

const volatile struct wire_argument_fields argument_fields;

enum {
    MOST_BYTES = 8 * WIRE_ARGUMENT_ELEMENTS, /* that are appended at once */
    ROOM_WORDS = WIRE_ARGUMENT_WORDS + WIRE_ARGUMENT_ELEMENTS,
};

/* The row comes first, so that it can be put into a map. */
struct arguments_copy {
    struct wire_arguments_row row;
    __u64 beyond[WIRE_ARGUMENT_ELEMENTS]; /* words may be written before it is checked that they
                                             have room */
    __u64 hash;
    __u8 levels[ROOM_WORDS]; /* that a word may have below it, 0: it is no term */
};

struct {
    __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
    __uint(max_entries, 1);
    __type(key, __u32);
    __type(value, struct arguments_copy);
} copies SEC(".maps");

struct {
    __uint(type, BPF_MAP_TYPE_HASH);
    __uint(max_entries, WIRE_ARGUMENT_ROWS);
    __type(key, struct wire_arguments_key);
    __type(value, struct wire_arguments_row);
} argument_rows SEC(".maps");

static __always_inline struct arguments_copy *the_copy(void)
{
    __u32 zero = 0;

    return bpf_map_lookup_elem(&copies, &zero);
}

static __always_inline bool read_user(void *to, __u32 size, __u64 at)
{
    return !bpf_probe_read_user(to, size, (void *)at);
}

/* True if the verifier sees that the value is less than the limit. The compiler knows of no
 * connection to what was checked before, and so leaves out no check. */
#define IS_BELOW(value, limit)                                                                     \
    ({                                                                                             \
        __asm__ volatile("" : "+r"(value));                                                        \
        (value) < (limit);                                                                         \
    })

/* Append words that the memory at `at` has. Return their place, or 0: no room, or unreadable. */
static __always_inline __u32 append(struct arguments_copy *copy, __u64 at, __u32 bytes, __u8 levels)
{
    __u64 *words = copy->row.arguments.word;
    __u32 place = copy->row.arguments.words, count = (bytes + 7) / 8, last = place + count - 1;

    if (!count || !IS_BELOW(last, WIRE_ARGUMENT_WORDS))
        return 0;
    words[last] = 0; /* which is the last one filled, and maybe not in full */
    if (!IS_BELOW(place, WIRE_ARGUMENT_WORDS) || !IS_BELOW(bytes, MOST_BYTES + 1) ||
        !read_user(&words[place], bytes, at))
        return 0;
    for (__u32 i = 0; i < MOST_BYTES / 8; i++) {
        if (i < count)
            copy->levels[place + i] = levels;
    }
    copy->row.arguments.words = place + count;
    return place;
}

/* ---- terms ---- */

static __always_inline __u64 count_cells(__u64 list)
{
    __u32 cells = 0;

    for (; cells < WIRE_ARGUMENT_CELLS; cells++) {
        if ((list & TAG_PRIMARY_MASK) != TAG_PRIMARY_LIST ||
            !read_user(&list, sizeof(list), (list & ~7ULL) + 8))
            break;
    }
    return wire_argument(
        WIRE_ARGUMENT_LIST, 0,
        cells == WIRE_ARGUMENT_CELLS && (list & TAG_PRIMARY_MASK) == TAG_PRIMARY_LIST, cells);
}

/* The tail has as many levels as the list. */
static __always_inline __u64 copy_list(struct arguments_copy *copy, __u64 list, __u8 levels)
{
    __u32 place;

    if (argument_fields.shapes_only)
        return count_cells(list);
    if (levels < 2)
        return wire_argument(WIRE_ARGUMENT_LIST, 0, 0, 0);
    place = append(copy, list & ~7ULL, 16, levels - 1);
    if (!place || !IS_BELOW(place, WIRE_ARGUMENT_WORDS))
        return wire_argument(WIRE_ARGUMENT_LIST, 0, 0, 0);
    copy->levels[place + 1] = levels;
    return wire_argument(WIRE_ARGUMENT_LIST, place, 1, 0);
}

static __always_inline __u64 copy_tuple(struct arguments_copy *copy, __u64 at, __u64 arity,
                                        __u8 levels)
{
    __u32 count = arity < WIRE_ARGUMENT_ELEMENTS ? arity : WIRE_ARGUMENT_ELEMENTS;
    __u32 place = levels > 1 && count ? append(copy, at + 8, 8 * count, levels - 1) : 0;

    return wire_argument(WIRE_ARGUMENT_TUPLE, place, place ? count : 0, arity);
}

/* A flat map has its size, a tuple of keys, and the values behind its header (flatmap_t, erl_map.h
 * 25.2.3:38). A larger one, a tree, has only its size there (hashmap_head_t). */
static __always_inline __u64 copy_map(struct arguments_copy *copy, __u64 at, __u64 header,
                                      __u8 levels)
{
    struct {
        __u64 size, keys;
    } map;
    __u32 count, place;

    if (!read_user(&map, sizeof(map), at + 8))
        return 0;
    count = map.size < WIRE_ARGUMENT_ELEMENTS ? map.size : WIRE_ARGUMENT_ELEMENTS;
    if ((header >> HEADER_ARITY_OFFS & MAP_HEADER_TYPE_MASK) != MAP_HEADER_TAG_FLATMAP_HEAD ||
        argument_fields.shapes_only || levels < 2 || !count ||
        copy->row.arguments.words + 2 * count > WIRE_ARGUMENT_WORDS)
        return wire_argument(WIRE_ARGUMENT_MAP, 0, 0, map.size);
    place = append(copy, (map.keys & ~7ULL) + 8, 8 * count, levels - 1);
    if (!place || !append(copy, at + 24, 8 * count, levels - 1))
        return 0;
    return wire_argument(WIRE_ARGUMENT_MAP, place, count, map.size);
}

struct found_bytes {
    __u64 at, bits; /* `at` 0: unknown, or not at a byte */
};

/* src/beam/term_binary.c draws the forms. */
static __always_inline bool find_old_bytes(__u64 at, __u32 kind, struct found_bytes *found)
{
    __u64 words[4], data[4], original;

    if (!read_user(&words[0], 8, at + 8))
        return false;
    found->bits = words[0] * 8;
    if (kind == HEAP_BINARY_SUBTAG) {
        found->at = at + 16;
        return true;
    }
    if (kind == REFC_BINARY_SUBTAG)
        return read_user(&found->at, 8, at + 32);
    if (!read_user(words, sizeof(words), at + 8))
        return false;
    found->bits += words[2] & 0xff;
    original = words[3] & ~7ULL;
    if (words[2] & 0xffff || !read_user(&data[0], 8, original))
        return true;
    if ((data[0] & TAG_HEADER_MASK) == HEAP_BINARY_SUBTAG)
        found->at = original + 16 + words[1];
    else if ((data[0] & TAG_HEADER_MASK) == REFC_BINARY_SUBTAG &&
             read_user(&data[0], 8, original + 32))
        found->at = data[0] + words[1];
    return true;
}

static __always_inline bool find_new_bytes(__u64 at, __u32 kind, struct found_bytes *found)
{
    __u64 words[4], base; /* the base, its two flags, first bit, last bit, BinRef */

    if (kind == HEAP_BITS_SUBTAG) {
        found->at = at + 16;
        return read_user(&found->bits, 8, at + 8);
    }
    if (!read_user(words, sizeof(words), at + 8))
        return false;
    found->bits = words[2] - words[1];
    base = words[0] & ~3ULL;
    if (words[1] % 8)
        return true;
    if (words[0] & 2) { /* its bytes can move (term_binary.c) */
        if (argument_fields.binary_of_size < 0 || !read_user(&base, 8, (words[3] & ~7ULL) + 8))
            return true;
        base += argument_fields.binary_of_size + 8;
    }
    found->at = base + words[1] / 8;
    return true;
}

static __always_inline __u64 copy_binary(struct arguments_copy *copy, __u64 at, __u32 kind)
{
    struct found_bytes found = {};
    __u32 bytes, place = 0;

    if (!(argument_fields.in_bits ? find_new_bytes(at, kind, &found)
                                  : find_old_bytes(at, kind, &found)))
        return 0;
    bytes = found.bits / 8 < WIRE_ARGUMENT_BYTES ? found.bits / 8 : WIRE_ARGUMENT_BYTES;
    if (!argument_fields.shapes_only && found.at && found.bits % 8 == 0)
        place = append(copy, found.at, bytes, 0);
    return wire_argument(WIRE_ARGUMENT_BINARY, place, place ? bytes : 0, found.bits);
}

static __always_inline __u64 copy_number(struct arguments_copy *copy, __u64 at, __u64 words,
                                         enum wire_argument_kind kind)
{
    __u32 count = words < WIRE_ARGUMENT_DIGITS ? words : WIRE_ARGUMENT_DIGITS, place;

    if (argument_fields.shapes_only)
        return wire_argument(kind == WIRE_ARGUMENT_FLOAT ? kind : WIRE_ARGUMENT_INTEGER, 0, 0, 0);
    place = words <= WIRE_ARGUMENT_DIGITS ? append(copy, at + 8, 8 * count, 0) : 0;
    return wire_argument(kind, place, place ? count : 0, words);
}

static __always_inline bool is_binary(__u32 kind)
{
    return kind == HEAP_BITS_SUBTAG || kind == SUB_BITS_SUBTAG ||
           (!argument_fields.in_bits && kind == SUB_BINARY_SUBTAG);
}

static __always_inline __u64 copy_boxed(struct arguments_copy *copy, __u64 at, __u8 levels)
{
    __u64 header;
    __u32 kind;

    if (!read_user(&header, sizeof(header), at) || header & TAG_PRIMARY_MASK)
        return 0;
    kind = header & TAG_HEADER_MASK;
    if (kind == ARITYVAL_SUBTAG)
        return copy_tuple(copy, at, header >> HEADER_ARITY_OFFS, levels);
    if (is_binary(kind))
        return copy_binary(copy, at, kind);
    if (kind == (argument_fields.in_bits ? MAP_SUBTAG_27 : MAP_SUBTAG_26))
        return copy_map(copy, at, header, levels);
    if (kind == FLOAT_SUBTAG)
        return copy_number(copy, at, 1, WIRE_ARGUMENT_FLOAT);
    if (kind == POS_BIG_SUBTAG || kind == NEG_BIG_SUBTAG)
        return copy_number(copy, at, header >> HEADER_ARITY_OFFS,
                           kind == POS_BIG_SUBTAG ? WIRE_ARGUMENT_BIG : WIRE_ARGUMENT_BIG_NEGATIVE);
    if (kind == FUN_SUBTAG)
        return wire_argument(WIRE_ARGUMENT_FUN, 0, 0, 0);
    if (kind == REF_SUBTAG || kind == EXTERNAL_REF_SUBTAG)
        return wire_argument(WIRE_ARGUMENT_REFERENCE, 0, 0, 0);
    if (kind == EXTERNAL_PID_SUBTAG || kind == EXTERNAL_PORT_SUBTAG)
        return wire_argument(kind == EXTERNAL_PID_SUBTAG ? WIRE_ARGUMENT_PID : WIRE_ARGUMENT_PORT,
                             0, 0, 0);
    return wire_argument(WIRE_ARGUMENT_OTHER, 0, 0, 0);
}

static __always_inline __u64 shape_of_immediate(__u64 term)
{
    if ((term & TAG_IMMED1_MASK) == TAG_IMMED1_SMALL)
        return wire_argument(WIRE_ARGUMENT_INTEGER, 0, 0, 0);
    if ((term & TAG_IMMED1_MASK) == TAG_IMMED1_PID)
        return wire_argument(WIRE_ARGUMENT_PID, 0, 0, 0);
    if ((term & TAG_IMMED1_MASK) == TAG_IMMED1_PORT)
        return wire_argument(WIRE_ARGUMENT_PORT, 0, 0, 0);
    return term;
}

/* ---- the copy ---- */

/* Replace the term at this place of the copy by what stands for it. A function of its own for the
 * verifier, which so looks at it once. */
__noinline int copy_term(__u32 at)
{
    struct arguments_copy *copy = the_copy();
    __u64 term, word;
    __u8 levels;

    if (!copy || at >= WIRE_ARGUMENT_WORDS)
        return 0;
    term = copy->row.arguments.word[at];
    levels = copy->levels[at];
    if (!levels)
        return 0;
    if ((term & TAG_PRIMARY_MASK) == TAG_PRIMARY_LIST)
        word = copy_list(copy, term, levels);
    else if ((term & TAG_PRIMARY_MASK) == TAG_PRIMARY_BOXED)
        word = copy_boxed(copy, term & ~7ULL, levels);
    else if ((term & TAG_PRIMARY_MASK) == TAG_PRIMARY_HEADER)
        word = 0;
    else
        word = argument_fields.shapes_only ? shape_of_immediate(term) : term;
    copy->row.arguments.word[at] = word;
    return 0;
}

__noinline int hash_words(__u32 function)
{
    struct arguments_copy *copy = the_copy();
    __u64 hash = function;

    if (!copy)
        return 0;
    for (__u32 i = 0; i < WIRE_ARGUMENT_WORDS; i++) {
        if (i >= copy->row.arguments.words)
            break;
        hash = (hash ^ copy->row.arguments.word[i]) * 0x9e3779b97f4a7c15ULL;
        hash ^= hash >> 32;
    }
    copy->hash = hash;
    return 0;
}

/* Copy the arguments of a call into the_copy(). */
static __always_inline struct arguments_copy *copy_arguments(__u64 registers, __u32 arity)
{
    struct arguments_copy *copy = the_copy();
    __u32 count = arity < WIRE_ARGUMENT_ELEMENTS ? arity : WIRE_ARGUMENT_ELEMENTS;

    if (!copy)
        return 0;
    copy->row.calls = copy->row.weight = 0;
    copy->row.arguments.arity = arity;
    copy->row.arguments.words = 0;
    append(copy, registers, 8 * count, argument_fields.levels);
    for (__u32 i = 0; i < WIRE_ARGUMENT_WORDS; i++) {
        if (i >= copy->row.arguments.words)
            break;
        copy_term(i);
    }
    return copy;
}

/* Count a call with the arguments of the copy, if there is room. */
static __always_inline void count_arguments(struct arguments_copy *copy, __u32 function,
                                            __u64 weight)
{
    struct wire_arguments_key key = {.function = function};
    struct wire_arguments_row *row;

    hash_words(function);
    key.hash = copy->hash;
    row = bpf_map_lookup_elem(&argument_rows, &key);
    if (!row) {
        bpf_map_update_elem(&argument_rows, &key, &copy->row, BPF_NOEXIST);
        row = bpf_map_lookup_elem(&argument_rows, &key);
    }
    if (!row)
        return;
    __sync_fetch_and_add(&row->calls, 1);
    __sync_fetch_and_add(&row->weight, weight);
}

#endif
