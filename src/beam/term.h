// SPDX-License-Identifier: Apache-2.0
/*
 * How a term looks in memory on a 64-bit VM (vm_constants.h has the tags).
 *
 * The two low bits of a word are its tag; an immediate has more tag bits:
 *
 *      ...00  header of a boxed object, or a return address on a stack
 *      ...01  list: pointer to two words, head and tail
 *      ...10  boxed: pointer to a header word, whose bits 2..5 are the kind of object
 *      ..0011 pid       ..0111 port       ..1111 small integer
 *      001011 atom      111011 NIL (011011 is a catch tag)
 *
 * Pointers are 8-aligned. Since 26 bit 2 of a pointer may mark a literal, so it is masked off.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "beam/layout.h"
#include "native/memory.h"
#include "vm_constants.h"

static inline bool term_is_header(uint64_t term)
{
    return (term & TAG_PRIMARY_MASK) == TAG_PRIMARY_HEADER;
}
static inline bool term_is_list(uint64_t term)
{
    return (term & TAG_PRIMARY_MASK) == TAG_PRIMARY_LIST;
}
static inline bool term_is_boxed(uint64_t term)
{
    return (term & TAG_PRIMARY_MASK) == TAG_PRIMARY_BOXED;
}
static inline bool term_is_immediate(uint64_t term)
{
    return (term & TAG_PRIMARY_MASK) == TAG_PRIMARY_IMMED1;
}
static inline bool term_is_pid(uint64_t term)
{
    return (term & TAG_IMMED1_MASK) == TAG_IMMED1_PID;
}
static inline bool term_is_port(uint64_t term)
{
    return (term & TAG_IMMED1_MASK) == TAG_IMMED1_PORT;
}
static inline bool term_is_small(uint64_t term)
{
    return (term & TAG_IMMED1_MASK) == TAG_IMMED1_SMALL;
}
static inline bool term_is_atom(uint64_t term)
{
    return (term & TAG_IMMED2_MASK) == TAG_IMMED2_ATOM;
}
static inline uint64_t term_address(uint64_t term)
{
    return term & ~(uint64_t)7;
}
static inline int64_t term_small(uint64_t term)
{
    return (int64_t)term >> TAG_IMMED1_SIZE;
}
static inline uint64_t term_atom_index(uint64_t term)
{
    return term >> TAG_IMMED2_SIZE;
}

/* The kind of object of a header word (enum thing_subtag), and the number of words that follow. */
static inline unsigned int term_header_kind(uint64_t header)
{
    return header & TAG_HEADER_MASK & ~TAG_PRIMARY_MASK;
}
static inline uint64_t term_header_words(uint64_t header)
{
    return header >> HEADER_ARITY_OFFS;
}

/* True for the header of a map that is no tree. */
static inline bool term_is_flat_map(uint64_t header)
{
    return term_is_header(header) &&
           (term_header_kind(header) == MAP_SUBTAG_26 ||
            term_header_kind(header) == MAP_SUBTAG_27) &&
           (term_header_words(header) & MAP_HEADER_TYPE_MASK) == MAP_HEADER_TAG_FLATMAP_HEAD;
}

/* The bytes of a binary in the target. */
struct term_bytes {
    uint64_t address;
    uint64_t size; /* whole bytes */
};

/* Find the bytes of the boxed binary at `address`, in the form of features.binaries_in_bits or in
 * the older one. False if it is not a binary, does not begin and end at a byte, or can't be read.
 */
bool term_binary(struct memory *memory, const struct layout *layout, bool in_bits, uint64_t address,
                 struct term_bytes *bytes);
