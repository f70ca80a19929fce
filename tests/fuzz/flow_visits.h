// SPDX-License-Identifier: Apache-2.0
/* The questions of the fuzzers of machine code at each call and each store that data flow
 * visits. */
#pragma once

#include "arch/cpu.h"
#include "native/dataflow.h"

static inline void look_at_call(void *context, const struct flow *flow,
                                const struct flow_call *call)
{
    struct flow_value address;
    uint64_t function;

    (void)context;
    for (unsigned int i = 0; i < 6; i++) {
        flow_is_memory(flow, flow_argument(call, i), &address);
        flow_is_result(flow, flow_argument(call, i), &function);
    }
}

static inline void look_at_store(void *context, const struct flow *flow, struct flow_value address,
                                 struct flow_value value)
{
    (void)context;
    (void)address;
    flow_is_field(flow, value, cpu.arguments[0], 0);
}
