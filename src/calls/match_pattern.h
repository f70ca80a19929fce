// SPDX-License-Identifier: Apache-2.0
/*
 * Patterns for the arguments of a call, as users write them: "m:f({ok, _}, 42, <<"x", _/binary>>)".
 *
 * A pattern has Erlang's notation. `_` stands for any term. Parts that the kernel can't compare are
 * refused: maps, floats, variables, integers of more than 60 bits, funs, pids, references, bits.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "beam/function_name.h"
#include "util/error.h"
#include "wire_match.h"

enum match_kind {
    MATCH_ANY,
    MATCH_ATOM,
    MATCH_INTEGER,
    MATCH_NIL,
    MATCH_TUPLE,
    MATCH_CONS,
    MATCH_BINARY
};

enum { MATCH_PARTS = 128 };

/* A part of a pattern. Parts of tuples and conses (head and tail) are linked: `first`, then `next`;
 * 0 ends them. */
struct match_part {
    enum match_kind kind;
    uint32_t count; /* TUPLE: elements; BINARY: bytes */
    uint16_t first, next;
    bool is_prefix; /* BINARY: more bytes may follow */
    int64_t value;  /* INTEGER */
    union {
        char atom[FUNCTION_NAME_ATOM_BYTES];
        unsigned char bytes[WIRE_MATCH_BYTES];
    };
};

/* Part 0 is a tuple of the arguments. */
struct match_pattern {
    struct function_name name; /* with its arity */
    struct match_part parts[MATCH_PARTS];
    size_t count;
};

/* Parse a pattern. Return 0, or -1 with ERROR_USAGE, which names the part that can't be matched. */
int match_pattern_parse(const char *text, struct match_pattern *pattern, struct error *error);
