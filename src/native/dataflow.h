// SPDX-License-Identifier: Apache-2.0
/*
 * Data flow in machine code, found by following its paths.
 *
 * A path begins at the start of a function, where each register holds an unknown value of its own.
 * Moves, additions of constants and spills are followed. Any other instruction makes the value of
 * the registers that it writes unknown. So what is reported about a call or a store is true of that
 * path, but not everything is reported: a path ends at a computed jump, and code that many paths
 * reach is followed only a few times. A field of a struct counts as having its initial value,
 * whatever the code stored to it.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "arch.h"

struct parser;

/* Code to follow: [start, end), the parser that decodes it (borrowed), and a function that reads
 * it. */
struct flow_code {
    struct parser *parser;
    /* False if it can't be read. */
    bool (*read)(void *context, uint64_t address, void *buffer, size_t size);
    void *context;
    uint64_t start, end;
    bool follow_literals; /* follow a call or jump through a word in memory to where the word points
                           * now. Not for a file: its words are filled in when it is loaded. */
};

/* A base, which is an unknown value or zero, plus a number. */
struct flow_value {
    uint32_t base;
    int64_t offset;
};

struct flow;

bool flow_is_number(struct flow_value value, int64_t number);
/* True for the initial value of a register plus `offset`. */
bool flow_is_register(struct flow_value value, enum cpu_register reg, int64_t offset);
/* True for an address on the stack. */
bool flow_is_stack(struct flow_value value);
/* True for the result of a call. *ret_function, if not NULL, is the function (0 if unknown). */
bool flow_is_result(const struct flow *flow, struct flow_value value, uint64_t *ret_function);
/* True if the base of the value is 4 or 8 bytes of memory at *ret_address. */
bool flow_is_memory(const struct flow *flow, struct flow_value value,
                    struct flow_value *ret_address);
/* True for the word at offset `field` from the initial value of a register. */
bool flow_is_field(const struct flow *flow, struct flow_value value, enum cpu_register reg,
                   int64_t field);

/* A call, or a jump (jmp) out of the code or to an unknown target. */
struct flow_call {
    uint64_t target; /* 0: unknown */
    bool is_jump;
    const struct flow_value *registers; /* just before the call */
};

/* Argument `index` (0 to 5) of a call. */
struct flow_value flow_argument(const struct flow_call *call, unsigned int index);

/* Called for each call and store on the paths. Either function may be NULL. */
struct flow_visitor {
    void (*call)(void *context, const struct flow *flow, const struct flow_call *call);
    void (*store)(void *context, const struct flow *flow, struct flow_value address,
                  struct flow_value value);
    void *context;
};

/* Follow all paths. False if the code can't be read or is too large. */
bool flow_follow(const struct flow_code *code, const struct flow_visitor *visitor);
