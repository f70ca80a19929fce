// SPDX-License-Identifier: Apache-2.0
/*
 * How a term looks in memory on a 64-bit VM (erl_term.h; the same in OTP 24 to 29 unless noted).
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

#include "os/memory.h"

enum { TERM_NIL = 0x3b };

static inline bool term_is_list(uint64_t term)
{
    return (term & 3) == 1;
}
static inline bool term_is_boxed(uint64_t term)
{
    return (term & 3) == 2;
}
static inline bool term_is_pid(uint64_t term)
{
    return (term & 0xf) == 0x3;
}
static inline bool term_is_port(uint64_t term)
{
    return (term & 0xf) == 0x7;
}
static inline bool term_is_small(uint64_t term)
{
    return (term & 0xf) == 0xf;
}
static inline bool term_is_atom(uint64_t term)
{
    return (term & 0x3f) == 0x0b;
}
static inline uint64_t term_address(uint64_t term)
{
    return term & ~(uint64_t)7;
}
static inline int64_t term_small(uint64_t term)
{
    return (int64_t)term >> 4;
}
static inline uint64_t term_atom_index(uint64_t term)
{
    return term >> 6;
}

/* A header word: the kind of object and the number of words that follow. */
enum term_kind {
    TERM_TUPLE = 0x0,
    TERM_POSITIVE_BIG = 0x2,
    TERM_NEGATIVE_BIG = 0x3,
    TERM_REFERENCE = 0x4,
    TERM_FUN = 0x5,
    TERM_FLOAT = 0x6,
    TERM_BINARY_1 = 0x8, /* until 26: reference-counted; from 27: bits on the heap */
    TERM_BINARY_2 = 0x9, /* until 26: on the heap; from 27: part of another */
    TERM_BINARY_3 = 0xa, /* until 26: part of another; from 27: reference to a binary */
    TERM_MAP_27 = 0xb,   /* from 27 */
    TERM_EXTERNAL_PID = 0xc,
    TERM_EXTERNAL_PORT = 0xd,
    TERM_EXTERNAL_REFERENCE = 0xe,
    TERM_MAP = 0xf, /* until 26 */
};
static inline enum term_kind term_header_kind(uint64_t header)
{
    return header >> 2 & 0xf;
}
static inline uint64_t term_header_words(uint64_t header)
{
    return header >> 6;
}

/* The bytes of a binary in the target. */
struct term_bytes {
    uint64_t address;
    uint64_t size; /* whole bytes */
};

/* Find the bytes of the boxed binary at `address`. False if it is not a binary, does not begin and
 * end at a byte, or can't be read. */
bool term_binary(struct memory *memory, int otp_release, uint64_t address,
                 struct term_bytes *bytes);
