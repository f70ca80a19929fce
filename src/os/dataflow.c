// SPDX-License-Identifier: Apache-2.0
#include "os/dataflow.h"

#include <stdlib.h>

#include "arch/cpu.h"
#include "os/dataflow_internal.h"
#include "util/alloc.h"

enum {
    CODE_MAX = 1 << 16, /* bytes of a function */
    VISITS_MAX = 4,     /* of one instruction, each with the values of another path */
    PENDING_MAX = 256,  /* branches to follow later */
    WORD_BYTES = 8,
};

/* ---- registers and memory ---- */

static void set_register(struct state *state, const struct operand *operand,
                         struct flow_value value)
{
    if (operand->size == 4 && value.base == BASE_NUMBER)
        value.offset = (uint32_t)value.offset;
    state->registers[operand->reg] = value;
}

static struct flow_value address_of(const struct state *state, const struct operand *memory)
{
    if (memory->reg == OTHER_REGISTER || memory->index != NO_REGISTER)
        return flow_unknown;
    if (memory->reg == NO_REGISTER)
        return flow_number(memory->number);
    return flow_plus(state->registers[memory->reg], memory->number);
}

static struct flow_value load(struct flow *flow, const struct state *state,
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
static void forget(struct state *state, int64_t from, uint64_t size)
{
    unsigned int kept = 0;

    for (unsigned int i = 0; i < state->slot_count; i++) {
        uint64_t above = (uint64_t)state->slots[i].offset - (uint64_t)from;

        if (above >= size && 0 - above >= WORD_BYTES)
            state->slots[kept++] = state->slots[i];
    }
    state->slot_count = kept;
}

static void store(struct flow *flow, struct state *state, struct flow_value address,
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
        state->slots[state->slot_count++] = (struct slot){address.offset, value};
}

static struct flow_value get_operand(struct flow *flow, const struct state *state,
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
static void compute(struct flow *flow, struct state *state, const struct instruction *instruction)
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

static void clobber(struct state *state, struct flow_value result)
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
static uint64_t target_of(const struct flow *flow, const struct state *state,
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

static void report_call(struct flow *flow, const struct state *state, uint64_t target, bool is_jump)
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
static void take_later(struct flow *flow, const struct state *state, uint64_t target)
{
    if (!is_inside(flow, target) || flow->pending_count == PENDING_MAX)
        return;
    flow->pending[flow->pending_count] = *state;
    flow->pending[flow->pending_count++].at = target;
}

/* Execute one instruction. False if the path ends. */
static bool step(struct flow *flow, struct state *state, const struct instruction *instruction)
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

static void follow_path(struct flow *flow, struct state *state)
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
    struct state *state = xcalloc(1, sizeof(*state));

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

    if (code->end <= code->start || size > CODE_MAX || !(flow.decoder = decoder_new()))
        return false;
    flow.bytes = xmalloc(size);
    if (!code->read(code->context, code->start, flow.bytes, size)) {
        free(flow.bytes);
        decoder_free(flow.decoder);
        return false;
    }
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
