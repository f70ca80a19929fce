/* SPDX-License-Identifier: Apache-2.0 OR (BSD-2-Clause OR GPL-2.0) */
/*
 * A pattern for the arguments of a call, as steps that bpf/match.h takes at each hit.
 *
 * The program has slots for terms, the first of which are the arguments. A step compares the term
 * in a slot, and may put the parts of that term into further slots. A call matches if all steps
 * succeed. If memory can't be read, or a map is too large, the result is unknown.
 */
#ifndef BEAMFLAME_WIRE_MATCH_H
#define BEAMFLAME_WIRE_MATCH_H

#include "wire.h"

enum wire_match_limits {
    WIRE_MATCH_STEPS = 128,
    WIRE_MATCH_SLOTS = 240,
    WIRE_MATCH_ELEMENTS = 32,  /* of a tuple; arguments of a call */
    WIRE_MATCH_BYTE_ROWS = 16, /* of a pattern */
    WIRE_MATCH_BYTES = 248,    /* of a binary, or of a number with its header */
    WIRE_MATCH_KEY_STEPS = 8,  /* that compare the key of a map */
    WIRE_MATCH_NODES = 1024,   /* of a large map that are searched: keys, and nodes of the tree */
};

enum wire_match_kind {
    WIRE_MATCH_EQUAL,  /* `value` is the immediate term */
    WIRE_MATCH_TUPLE,  /* of `size` elements, which get the slots from `to` on */
    WIRE_MATCH_LIST,   /* a cell, whose head and tail get slot `to` and the one behind it */
    WIRE_MATCH_BINARY, /* `size` bytes, which are row `value` of the pattern's bytes */
    WIRE_MATCH_PREFIX, /* a binary of whole bytes that begins with them */
    WIRE_MATCH_NUMBER, /* a boxed float or integer: these are its bytes, from its header on */
    WIRE_MATCH_MAP,    /* any map */
    WIRE_MATCH_PAIR,   /* a map with a key that passes the next `size` steps. The key gets slot `to`
                          and its value the one behind it. */
};

struct wire_match_step {
    __u8 kind, slot, to, size;
    __u32 unused;
    __u64 value;
};

/* Without steps, all calls match. */
struct wire_match {
    __u64 count;
    struct wire_match_step steps[WIRE_MATCH_STEPS];
    __u64 bytes[WIRE_MATCH_BYTE_ROWS][WIRE_MATCH_BYTES / 8]; /* zeros follow the bytes */
};

#endif
