/* SPDX-License-Identifier: Apache-2.0 OR (BSD-2-Clause OR GPL-2.0) */
/*
 * The copy of a call's arguments, shared by bpf/arguments.h and user space.
 *
 * A collection moves terms, so the program copies them at the hit. A copy begins with a word for
 * each argument. Equal arguments have equal copies. A word is an immediate term as the VM has it,
 * or has the tag of a header, which no term has:
 *
 *      bits 2..7 enum wire_argument_kind | 8..15 place | 16..23 copied | 24..63 size
 *
 * `place` is the word of the copy where the contents begin, 0: they were not copied.
 *
 *      kind     contents                          copied          size
 *      LIST     head and tail of the first cell   1               0
 *      TUPLE    elements                          elements        all elements
 *      MAP      keys, then as many values         pairs           all pairs
 *      BINARY   bytes, zeros up to a word         bytes           all bits
 *      BIG      digits                            words           all words
 *      FLOAT    a double                          1               0
 *
 * With shapes only, no place is given except to tuples. LIST then has the number of its cells in
 * `size`, and 1 in `copied` if it has more than that.
 */
#ifndef BEAMFLAME_WIRE_ARGUMENTS_H
#define BEAMFLAME_WIRE_ARGUMENTS_H

#include "wire.h"

enum wire_arguments_limits {
    WIRE_ARGUMENT_WORDS = 128,   /* of a copy */
    WIRE_ARGUMENT_ELEMENTS = 16, /* of a tuple or map that are copied; arguments of a call */
    WIRE_ARGUMENT_BYTES = 64,    /* of a binary */
    WIRE_ARGUMENT_DIGITS = 2,    /* words of an integer */
    WIRE_ARGUMENT_CELLS = 32,    /* of a list, that are counted for its shape */
    WIRE_ARGUMENT_LEVELS = 8,    /* of nesting, at most */
    WIRE_ARGUMENT_ROWS = 1 << 11,
    WIRE_ARGUMENT_OPEN = 1 << 12, /* calls that have not returned and whose arguments are kept */
};

enum wire_argument_kind {
    WIRE_ARGUMENT_CUT, /* not copied, because there was no room or the memory can't be read */
    WIRE_ARGUMENT_LIST,
    WIRE_ARGUMENT_TUPLE,
    WIRE_ARGUMENT_MAP,
    WIRE_ARGUMENT_BINARY,
    WIRE_ARGUMENT_BIG,
    WIRE_ARGUMENT_BIG_NEGATIVE,
    WIRE_ARGUMENT_FLOAT,
    WIRE_ARGUMENT_FUN,
    WIRE_ARGUMENT_REFERENCE,
    WIRE_ARGUMENT_PID,
    WIRE_ARGUMENT_PORT,
    WIRE_ARGUMENT_INTEGER, /* a shape */
    WIRE_ARGUMENT_OTHER,
};

struct wire_arguments {
    __u32 arity;
    __u32 words; /* that `word` has */
    __u64 word[WIRE_ARGUMENT_WORDS];
};

/* Copies of one hash are taken for equal. That unequal ones have the same of 64 bits is unlikely:
 * with all rows in use, 1 to 10^13. */
struct wire_arguments_key {
    __u64 hash; /* of the copy */
    __u64 function;
};

struct wire_arguments_row {
    __u64 calls, weight; /* as in wire_call_row */
    struct wire_arguments arguments;
};

/* What the program needs to know of terms. */
struct wire_argument_fields {
    __u32 levels; /* of nesting that are copied; 0: arguments are not copied */
    bool shapes_only;
    bool in_bits;         /* binaries have the form of 27 and later */
    __s16 binary_of_size; /* offset of Binary.orig_size; negative: unknown */
};

static inline __u64 wire_argument(enum wire_argument_kind kind, __u32 place, __u32 copied,
                                  __u64 size)
{
    return (__u64)kind << 2 | (__u64)(place & 0xff) << 8 | (__u64)(copied & 0xff) << 16 |
           size << 24;
}

#endif
