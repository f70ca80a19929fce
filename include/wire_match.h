/* SPDX-License-Identifier: Apache-2.0 OR (BSD-2-Clause OR GPL-2.0) */
/*
 * A pattern for the arguments of a call, as steps that bpf/match.h takes at each hit.
 *
 * The program has slots for terms, the first of which are the arguments. A step compares the term
 * in a slot, and may put the parts of that term into further slots. A call matches if all steps
 * succeed.
 */
#ifndef BEAMFLAME_WIRE_MATCH_H
#define BEAMFLAME_WIRE_MATCH_H

#include "wire.h"

enum wire_match_limits {
    WIRE_MATCH_STEPS = 64,
    WIRE_MATCH_SLOTS = 128,
    WIRE_MATCH_ELEMENTS = 16, /* of a tuple; arguments of a call */
    WIRE_MATCH_BINARIES = 8,  /* of a pattern */
    WIRE_MATCH_BYTES = 64,    /* of a binary */
};

enum wire_match_kind {
    WIRE_MATCH_EQUAL,  /* `value` is the immediate term */
    WIRE_MATCH_TUPLE,  /* of `size` elements, which get the slots from `to` on */
    WIRE_MATCH_LIST,   /* a cell, whose head and tail get slot `to` and the one behind it */
    WIRE_MATCH_BINARY, /* `size` bytes, which are binary number `value` of the pattern */
    WIRE_MATCH_PREFIX, /* a binary of whole bytes that begins with them */
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
    __u64 binaries[WIRE_MATCH_BINARIES][WIRE_MATCH_BYTES / 8]; /* zeros follow the bytes */
};

#endif
