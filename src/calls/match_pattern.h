// SPDX-License-Identifier: Apache-2.0
/*
 * Patterns for the arguments of a call, as users write them: "m:f({ok, _}, 42, <<"x", _/binary>>)".
 *
 * A pattern has Erlang's notation. `_` stands for any term, and so does a variable that occurs
 * once. Parts that the kernel can't compare are refused: variables that occur twice, funs,
 * references, ports, pids of other nodes, bits.
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
    MATCH_SMALL, /* an integer of up to 60 bits */
    MATCH_BIG,   /* a larger one */
    MATCH_FLOAT,
    MATCH_PID,
    MATCH_NIL,
    MATCH_TUPLE,
    MATCH_CONS,
    MATCH_BINARY,
    MATCH_MAP
};

enum { MATCH_PARTS = 256, MATCH_WORDS = WIRE_MATCH_BYTES / 8 - 1 /* of a number */ };

/* A part of a pattern. Parts of tuples, conses (head and tail) and maps (key and value of each
 * pair) are linked: `first`, then `next`; 0 ends them. */
struct match_part {
    enum match_kind kind;
    uint32_t count; /* TUPLE, MAP: parts; BINARY: bytes; BIG, FLOAT: words */
    uint16_t first, next;
    bool is_prefix;   /* BINARY: more bytes may follow */
    bool is_negative; /* BIG */
    union {
        int64_t value; /* SMALL */
        struct {
            uint64_t number, serial;
        } pid;
        char atom[FUNCTION_NAME_ATOM_BYTES];
        unsigned char bytes[WIRE_MATCH_BYTES];
        uint64_t words[MATCH_WORDS]; /* BIG: the lowest first; FLOAT: a double */
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
