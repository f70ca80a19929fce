// SPDX-License-Identifier: Apache-2.0
#include "native/dataflow.h"

#include <stdlib.h>

#include "arch/cpu.h"
#include "arch/decoder.h"
#include "native/parser.h"
#include "util/alloc.h"

/* ---- values: known numbers, and unknown values by their origin ---- */

enum { SLOTS_MAX = 48 }; /* remembered words of the stack */

enum { BASE_NUMBER, BASE_UNKNOWN, BASE_REGISTERS, BASE_OTHER = BASE_REGISTERS + CPU_REGISTERS };

/* The origin of an unknown value. */
struct base {
    enum { BASE_START, BASE_MEMORY, BASE_RESULT } kind;
    struct flow_value address; /* of the memory; or the function, as a number */
};

struct stack_slot {
    int64_t offset; /* from the initial stack pointer */
    struct flow_value value;
};

/* The known values at a point of a path. */
struct flow_state {
    uint64_t at;
    struct flow_value registers[CPU_REGISTERS];
    struct stack_slot slots[SLOTS_MAX];
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
    struct flow_state *pending;
    unsigned int pending_count;
};

enum { BASES_MAX = 1 << 12 }; /* unknown values */

static const struct flow_value flow_unknown = {BASE_UNKNOWN, 0};

static struct flow_value flow_number(int64_t value)
{
    return (struct flow_value){BASE_NUMBER, value};
}

/* Add with wrap-around, as the machine does. */
static struct flow_value flow_plus(struct flow_value value, int64_t amount)
{
    if (value.base == BASE_UNKNOWN)
        return flow_unknown;
    value.offset = (int64_t)((uint64_t)value.offset + (uint64_t)amount);
    return value;
}

static bool flow_equal(struct flow_value a, struct flow_value b)
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

/* Return the value from this origin, the same each time. `kind` is as in struct base. */
static struct flow_value flow_value_from(struct flow *flow, int kind, struct flow_value address)
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

enum {
    CODE_MAX = 1 << 16, /* bytes of a function */
    VISITS_MAX = 4,     /* of one instruction, each with the values of another path */
    PENDING_MAX = 256,  /* branches to follow later */
    WORD_BYTES = 8,
};

/* ---- registers and memory ---- */

static void set_register(struct flow_state *state, const struct operand *operand,
                         struct flow_value value)
{
    if (operand->size == 4 && value.base == BASE_NUMBER)
        value.offset = (uint32_t)value.offset;
    state->registers[operand->reg] = value;
}

static struct flow_value address_of(const struct flow_state *state, const struct operand *memory)
{
    if (memory->reg == OTHER_REGISTER || memory->index != NO_REGISTER)
        return flow_unknown;
    if (memory->reg == NO_REGISTER)
        return flow_number(memory->number);
    return flow_plus(state->registers[memory->reg], memory->number);
}

static struct flow_value load(struct flow *flow, const struct flow_state *state,
                              struct flow_value address, unsigned int size)
{
    if (address.base == BASE_UNKNOWN || size < 4)
        return flow_unknown;
    if (flow_is_stack(address))
        for (unsigned int i = 0; i < state->slot_count; i++)
            if (state->slots[i].offset == address.offset)
                return state->slots[i].value;
    return flow_value_from(flow, BASE_MEMORY, address);
}

/* Drop the remembered words of the stack that overlap [from, from + size). */
static void forget(struct flow_state *state, int64_t from, uint64_t size)
{
    unsigned int kept = 0;

    for (unsigned int i = 0; i < state->slot_count; i++) {
        uint64_t above = (uint64_t)state->slots[i].offset - (uint64_t)from;

        if (above >= size && 0 - above >= WORD_BYTES)
            state->slots[kept++] = state->slots[i];
    }
    state->slot_count = kept;
}

static void store(struct flow *flow, struct flow_state *state, struct flow_value address,
                  struct flow_value value, unsigned int size)
{
    if (address.base == BASE_UNKNOWN)
        return;
    if (flow->visitor->store)
        flow->visitor->store(flow->visitor->context, flow, address, value);
    if (!flow_is_stack(address))
        return;
    forget(state, address.offset, size);
    if ((size == 8 || size == 4) && state->slot_count < SLOTS_MAX)
        state->slots[state->slot_count++] = (struct stack_slot){address.offset, value};
}

static struct flow_value get_operand(struct flow *flow, const struct flow_state *state,
                                     const struct operand *operand)
{
    switch ((enum operand_kind)operand->kind) {
    case OPERAND_REGISTER:
        return state->registers[operand->reg];
    case OPERAND_NUMBER:
        return flow_number(operand->number);
    case OPERAND_MEMORY:
        return load(flow, state, address_of(state, operand), operand->size);
    case OPERAND_UNKNOWN:
        break;
    }
    return flow_unknown;
}

/* ---- instructions ---- */

/* Execute any instruction but a jump or call. */
static void compute(struct flow *flow, struct flow_state *state,
                    const struct instruction *instruction)
{
    for (unsigned int i = 0; i < instruction->count; i++) {
        const struct assignment *assignment = &instruction->assignments[i];
        const struct operand *to = &assignment->to;
        struct flow_value value =
            flow_plus(get_operand(flow, state, &assignment->from), assignment->plus);

        if (to->kind == OPERAND_REGISTER)
            set_register(state, to, value);
        else
            store(flow, state, address_of(state, to), value, to->size);
    }
    for (unsigned int reg = 0; reg < CPU_REGISTERS; reg++)
        if (registers_have(instruction->unknown, reg))
            state->registers[reg] = flow_unknown;
}

static void clobber(struct flow_state *state, struct flow_value result)
{
    /* The callee may write to memory whose address it gets: a variable of any size. */
    for (unsigned int reg = 0; reg < CPU_REGISTERS; reg++) {
        if (!registers_have(cpu.lost, reg))
            continue;
        if (flow_is_stack(state->registers[reg]))
            forget(state, state->registers[reg].offset, INT64_MAX);
        state->registers[reg] = flow_unknown;
    }
    state->registers[cpu.result] = result;
}

/* The target of a jump or call; 0 if unknown. */
static uint64_t target_of(const struct flow *flow, const struct flow_state *state,
                          const struct instruction *instruction)
{
    const struct operand *operand = &instruction->target;
    struct flow_value address;
    uint64_t target;

    if (operand->kind != OPERAND_MEMORY || !flow->code->follow_literals)
        return instruction_target(instruction);
    address = address_of(state, operand);
    return address.base == BASE_NUMBER &&
                   flow->code->read(flow->code->context, (uint64_t)address.offset, &target,
                                    sizeof(target))
               ? target
               : 0;
}

static void report_call(struct flow *flow, const struct flow_state *state, uint64_t target,
                        bool is_jump)
{
    const struct flow_call call = {target, is_jump, state->registers};

    if (flow->visitor->call)
        flow->visitor->call(flow->visitor->context, flow, &call);
}

static bool is_inside(const struct flow *flow, uint64_t address)
{
    return address >= flow->code->start && address < flow->code->end;
}

/* Follow the branch to `target` when this path has ended. */
static void take_later(struct flow *flow, const struct flow_state *state, uint64_t target)
{
    if (!is_inside(flow, target) || flow->pending_count == PENDING_MAX)
        return;
    flow->pending[flow->pending_count] = *state;
    flow->pending[flow->pending_count++].at = target;
}

/* Execute one instruction. False if the path ends. */
static bool step(struct flow *flow, struct flow_state *state, const struct instruction *instruction)
{
    uint64_t target;

    switch ((enum instruction_kind)instruction->kind) {
    case INSTRUCTION_PLAIN:
        compute(flow, state, instruction);
        return true;
    case INSTRUCTION_CALL:
        target = target_of(flow, state, instruction);
        report_call(flow, state, target, false);
        clobber(state, flow_value_from(flow, BASE_RESULT, flow_number((int64_t)target)));
        return true;
    case INSTRUCTION_BRANCH:
        take_later(flow, state, target_of(flow, state, instruction));
        return true;
    case INSTRUCTION_JUMP:
        target = target_of(flow, state, instruction);
        if (is_inside(flow, target)) {
            state->at = target;
            return true;
        }
        report_call(flow, state, target, true);
        return false;
    case INSTRUCTION_RETURN:
    case INSTRUCTION_TRAP:
    case INSTRUCTION_SYSTEM:
        break;
    }
    return false;
}

static void follow_path(struct flow *flow, struct flow_state *state)
{
    while (is_inside(flow, state->at)) {
        size_t offset = state->at - flow->code->start;
        struct code_bytes code = {flow->bytes + offset, flow->code->end - state->at, state->at};
        struct instruction instruction;

        if (flow->visits[offset]++ == VISITS_MAX) {
            flow->visits[offset]--;
            return;
        }
        if (!decoder_next(flow->decoder, &code, &instruction))
            return;
        state->at = code.address;
        if (!step(flow, state, &instruction))
            return;
    }
}

static void follow_all(struct flow *flow)
{
    struct flow_state *state = xcalloc(1, sizeof(*state));

    state->at = flow->code->start;
    for (uint32_t i = 0; i < CPU_REGISTERS; i++)
        state->registers[i].base = BASE_REGISTERS + i;
    follow_path(flow, state);
    while (flow->pending_count) {
        *state = flow->pending[--flow->pending_count];
        follow_path(flow, state);
    }
    free(state);
}

bool flow_follow(const struct flow_code *code, const struct flow_visitor *visitor)
{
    struct flow flow = {.code = code, .visitor = visitor};
    size_t size = code->end - code->start;

    if (code->end <= code->start || size > CODE_MAX)
        return false;
    flow.bytes = xmalloc(size);
    if (!code->read(code->context, code->start, flow.bytes, size)) {
        free(flow.bytes);
        return false;
    }
    flow.decoder = parser_decoder(code->parser);
    decoder_ahead(flow.decoder, &(struct code_bytes){flow.bytes, size, code->start});
    flow.visits = xcalloc(size, 1);
    flow.pending = xcalloc(PENDING_MAX, sizeof(*flow.pending));
    follow_all(&flow);
    free(flow.pending);
    free(flow.visits);
    free(flow.bases);
    free(flow.bytes);
    decoder_free(flow.decoder);
    return true;
}
