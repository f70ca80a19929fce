// SPDX-License-Identifier: Apache-2.0
/* Values in data flow: known numbers, and unknown values by their origin. */
#include "arch/cpu.h"
#include "os/dataflow_internal.h"
#include "util/alloc.h"

enum { BASES_MAX = 1 << 12 }; /* unknown values */

const struct flow_value flow_unknown = {BASE_UNKNOWN, 0};

struct flow_value flow_number(int64_t value)
{
    return (struct flow_value){BASE_NUMBER, value};
}

struct flow_value flow_plus(struct flow_value value, int64_t amount)
{
    if (value.base == BASE_UNKNOWN)
        return flow_unknown;
    value.offset = (int64_t)((uint64_t)value.offset + (uint64_t)amount);
    return value;
}

bool flow_equal(struct flow_value a, struct flow_value b)
{
    return a.base == b.base && a.offset == b.offset;
}

bool flow_is_number(struct flow_value value, int64_t number)
{
    return value.base == BASE_NUMBER && value.offset == number;
}

bool flow_is_register(struct flow_value value, enum cpu_register reg, int64_t offset)
{
    return value.base == BASE_REGISTERS + reg && value.offset == offset;
}

bool flow_is_stack(struct flow_value value)
{
    return value.base == BASE_REGISTERS + CPU_SP;
}

static const struct base *base_of(const struct flow *flow, struct flow_value value)
{
    static const struct base none = {BASE_START, {BASE_UNKNOWN, 0}};

    return value.base >= BASE_OTHER ? &flow->bases[value.base - BASE_OTHER] : &none;
}

bool flow_is_result(const struct flow *flow, struct flow_value value, uint64_t *ret_function)
{
    const struct base *base = base_of(flow, value);

    if (base->kind != BASE_RESULT || value.offset)
        return false;
    if (ret_function)
        *ret_function = (uint64_t)base->address.offset;
    return true;
}

bool flow_is_memory(const struct flow *flow, struct flow_value value,
                    struct flow_value *ret_address)
{
    const struct base *base = base_of(flow, value);

    if (base->kind != BASE_MEMORY)
        return false;
    *ret_address = base->address;
    return true;
}

bool flow_is_field(const struct flow *flow, struct flow_value value, enum cpu_register reg,
                   int64_t field)
{
    struct flow_value address;

    return value.offset == 0 && flow_is_memory(flow, value, &address) &&
           flow_is_register(address, reg, field);
}

struct flow_value flow_argument(const struct flow_call *call, unsigned int index)
{
    return call->registers[cpu.arguments[index]];
}

struct flow_value flow_value_from(struct flow *flow, int kind, struct flow_value address)
{
    for (uint32_t i = 0; i < flow->base_count; i++)
        if ((int)flow->bases[i].kind == kind && flow_equal(flow->bases[i].address, address))
            return (struct flow_value){BASE_OTHER + i, 0};
    if (flow->base_count == BASES_MAX)
        return flow_unknown;
    flow->bases = xgrow(flow->bases, &flow->base_room, flow->base_count, sizeof(*flow->bases));
    flow->bases[flow->base_count].kind = kind;
    flow->bases[flow->base_count].address = address;
    return (struct flow_value){BASE_OTHER + flow->base_count++, 0};
}
