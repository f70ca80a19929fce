// SPDX-License-Identifier: Apache-2.0
/* What dataflow.c (following paths) and dataflow_value.c (values and their origins) share. */
#pragma once

#include "arch/instruction.h"
#include "os/dataflow.h"

enum { SLOTS_MAX = 48 }; /* remembered words of the stack */

enum { BASE_NUMBER, BASE_UNKNOWN, BASE_REGISTERS, BASE_OTHER = BASE_REGISTERS + CPU_REGISTERS };

/* The origin of an unknown value. */
struct base {
    enum { BASE_START, BASE_MEMORY, BASE_RESULT } kind;
    struct flow_value address; /* of the memory; or the function, as a number */
};

struct slot {
    int64_t offset; /* from the initial stack pointer */
    struct flow_value value;
};

/* The known values at a point of a path. */
struct state {
    uint64_t at;
    struct flow_value registers[CPU_REGISTERS];
    struct slot slots[SLOTS_MAX];
    unsigned int slot_count;
};

struct flow {
    const struct flow_code *code;
    const struct flow_visitor *visitor;
    struct decoder *decoder;
    uint8_t *bytes;
    uint8_t *visits; /* by byte of the code */
    struct base *bases;
    uint32_t base_count;
    size_t base_room;
    struct state *pending;
    unsigned int pending_count;
};

extern const struct flow_value flow_unknown;

struct flow_value flow_number(int64_t value);
/* Add with wrap-around, as the machine does. */
struct flow_value flow_plus(struct flow_value value, int64_t amount);
bool flow_equal(struct flow_value a, struct flow_value b);

/* Return the value from this origin, the same each time. `kind` is that of struct base. */
struct flow_value flow_value_from(struct flow *flow, int kind, struct flow_value address);
