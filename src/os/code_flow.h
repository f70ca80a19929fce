// SPDX-License-Identifier: Apache-2.0
/*
 * What x86-64 machine code does with what it is given, by following its paths.
 *
 * A path is followed from the start of a function with each register holding an unknown value of
 * its own. Moves, additions of constants and spills are followed; whatever else writes a register
 * makes its value unknown. So what is said of a call or a store is true of that path, but not
 * everything is said: paths that go through computed jumps end there, and code that is reached in
 * many ways is looked at only a few times. A field of a struct counts as what it was at first,
 * whatever was stored to it since.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* By the number that instructions have for them. */
enum flow_register {
    FLOW_RAX,
    FLOW_RCX,
    FLOW_RDX,
    FLOW_RBX,
    FLOW_RSP,
    FLOW_RBP,
    FLOW_RSI,
    FLOW_RDI,
    FLOW_R8,
    FLOW_R9,
    FLOW_R10,
    FLOW_R11,
    FLOW_R12,
    FLOW_R13,
    FLOW_R14,
    FLOW_R15,
    FLOW_REGISTERS
};

/* Code to follow: [start, end) and where to read it. */
struct flow_code {
    /* False if it can't be read. */
    bool (*read)(void *context, uint64_t address, void *buffer, size_t size);
    void *context;
    uint64_t start, end;
    bool follow_literals; /* a call through a word in memory goes where that word says now (not so
                           * in a file, where such words are filled in when it is loaded) */
};

/* A value is something that is not known, plus a number. */
struct flow_value {
    uint32_t base;
    int64_t offset;
};

struct flow;

bool flow_is_number(struct flow_value value, int64_t number);
/* What the register held at the start, plus `offset`. */
bool flow_is_register(struct flow_value value, enum flow_register reg, int64_t offset);
/* An address on the stack. */
bool flow_is_stack(struct flow_value value);
/* What a call returned; *ret_function, if not NULL, is the function (0 if not known). */
bool flow_is_result(const struct flow *flow, struct flow_value value, uint64_t *ret_function);
/* Base of the value is what lies in memory, 4 or 8 bytes, at *ret_address. */
bool flow_is_memory(const struct flow *flow, struct flow_value value,
                    struct flow_value *ret_address);
/* The word at offset `field` from what a register held at the start. */
bool flow_is_field(const struct flow *flow, struct flow_value value, enum flow_register reg,
                   int64_t field);

/* A call, or a jump to another function. */
struct flow_call {
    uint64_t target; /* 0 if not known */
    bool is_jump;
    const struct flow_value *registers; /* just before */
};

/* Of the calling convention (System V ABI 3.2.3): 0 to 5. */
struct flow_value flow_argument(const struct flow_call *call, unsigned int index);

/* What is told along the paths; either may be NULL. */
struct flow_visitor {
    void (*call)(void *context, const struct flow *flow, const struct flow_call *call);
    void (*store)(void *context, const struct flow *flow, struct flow_value address,
                  struct flow_value value);
    void *context;
};

/* False if the code can't be read or is too large. */
bool flow_follow(const struct flow_code *code, const struct flow_visitor *visitor);
