// SPDX-License-Identifier: Apache-2.0
#include "os/dataflow.h"

#include <stdlib.h>

#include "os/dataflow_internal.h"
#include "util/alloc.h"

enum {
    CODE_MAX = 1 << 16, /* bytes of a function */
    VISITS_MAX = 4,     /* of one instruction, each with the values of another path */
    PENDING_MAX = 256,  /* branches to follow later */
    WORD_BYTES = 8,
};

/* ---- registers ---- */

/* Find a general register and the size of the part that is named. False for other registers. */
static bool general_register(x86_reg reg, enum flow_register *ret_register, unsigned int *ret_size)
{
    static const x86_reg NAMES[][FLOW_REGISTERS] = {
        {X86_REG_RAX, X86_REG_RCX, X86_REG_RDX, X86_REG_RBX, X86_REG_RSP, X86_REG_RBP, X86_REG_RSI,
         X86_REG_RDI, X86_REG_R8, X86_REG_R9, X86_REG_R10, X86_REG_R11, X86_REG_R12, X86_REG_R13,
         X86_REG_R14, X86_REG_R15},
        {X86_REG_EAX, X86_REG_ECX, X86_REG_EDX, X86_REG_EBX, X86_REG_ESP, X86_REG_EBP, X86_REG_ESI,
         X86_REG_EDI, X86_REG_R8D, X86_REG_R9D, X86_REG_R10D, X86_REG_R11D, X86_REG_R12D,
         X86_REG_R13D, X86_REG_R14D, X86_REG_R15D},
        {X86_REG_AX, X86_REG_CX, X86_REG_DX, X86_REG_BX, X86_REG_SP, X86_REG_BP, X86_REG_SI,
         X86_REG_DI, X86_REG_R8W, X86_REG_R9W, X86_REG_R10W, X86_REG_R11W, X86_REG_R12W,
         X86_REG_R13W, X86_REG_R14W, X86_REG_R15W},
        {X86_REG_AL, X86_REG_CL, X86_REG_DL, X86_REG_BL, X86_REG_SPL, X86_REG_BPL, X86_REG_SIL,
         X86_REG_DIL, X86_REG_R8B, X86_REG_R9B, X86_REG_R10B, X86_REG_R11B, X86_REG_R12B,
         X86_REG_R13B, X86_REG_R14B, X86_REG_R15B},
        {X86_REG_AH, X86_REG_CH, X86_REG_DH, X86_REG_BH},
    };
    static const unsigned int SIZES[] = {8, 4, 2, 1, 1};

    for (size_t size = 0; reg && size < sizeof(SIZES) / sizeof(*SIZES); size++)
        for (int i = 0; i < FLOW_REGISTERS; i++)
            if (NAMES[size][i] == reg) {
                *ret_register = (enum flow_register)i;
                *ret_size = SIZES[size];
                return true;
            }
    return false;
}

static struct flow_value get_register(const struct state *state, x86_reg reg)
{
    enum flow_register number;
    unsigned int size;

    return general_register(reg, &number, &size) && size >= 4 ? state->registers[number]
                                                              : flow_unknown;
}

static void set_register(struct state *state, x86_reg reg, struct flow_value value)
{
    enum flow_register number;
    unsigned int size;

    if (!general_register(reg, &number, &size))
        return;
    if (size == 4 && value.base == BASE_NUMBER)
        value.offset = (uint32_t)value.offset;
    state->registers[number] = size >= 4 ? value : flow_unknown;
}

/* ---- memory ---- */

static struct flow_value address_of(const struct state *state, const cs_insn *insn,
                                    const x86_op_mem *memory)
{
    struct flow_value value = flow_number(0);

    if (memory->segment != X86_REG_INVALID || memory->index != X86_REG_INVALID)
        return flow_unknown;
    if (memory->base == X86_REG_RIP)
        value = flow_number((int64_t)(insn->address + insn->size));
    else if (memory->base != X86_REG_INVALID)
        value = get_register(state, memory->base);
    return flow_plus(value, memory->disp);
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
                                     const cs_insn *insn, const cs_x86_op *operand)
{
    switch (operand->type) {
    case X86_OP_REG:
        return get_register(state, operand->reg);
    case X86_OP_IMM:
        return flow_number(operand->imm);
    case X86_OP_MEM:
        return load(flow, state, address_of(state, insn, &operand->mem), operand->size);
    default:
        return flow_unknown;
    }
}

static void set_operand(struct flow *flow, struct state *state, const cs_insn *insn,
                        const cs_x86_op *operand, struct flow_value value)
{
    if (operand->type == X86_OP_REG)
        set_register(state, operand->reg, value);
    else if (operand->type == X86_OP_MEM)
        store(flow, state, address_of(state, insn, &operand->mem), value, operand->size);
}

/* ---- instructions ---- */

static void push(struct flow *flow, struct state *state, struct flow_value value)
{
    state->registers[FLOW_RSP] = flow_plus(state->registers[FLOW_RSP], -WORD_BYTES);
    store(flow, state, state->registers[FLOW_RSP], value, WORD_BYTES);
}

static struct flow_value pop(struct flow *flow, struct state *state)
{
    struct flow_value value = load(flow, state, state->registers[FLOW_RSP], WORD_BYTES);

    state->registers[FLOW_RSP] = flow_plus(state->registers[FLOW_RSP], WORD_BYTES);
    return value;
}

/* An instruction that is not followed: all registers and memory that it writes become unknown. */
static void forget_written(struct flow *flow, struct state *state, const cs_insn *insn)
{
    const cs_x86 *x86 = &insn->detail->x86;
    cs_regs read, written;
    uint8_t read_count, written_count;

    for (unsigned int i = 0; i < x86->op_count; i++)
        if (x86->operands[i].type == X86_OP_MEM &&
            (i == 0 || x86->operands[i].access & CS_AC_WRITE))
            set_operand(flow, state, insn, &x86->operands[i], flow_unknown);
    if (cs_regs_access(flow->decoder, insn, read, &read_count, written, &written_count) !=
        CS_ERR_OK)
        return;
    for (unsigned int i = 0; i < written_count; i++) {
        enum flow_register reg;
        unsigned int size;

        if (general_register(written[i], &reg, &size))
            state->registers[reg] = flow_unknown;
    }
}

static void add(struct flow *flow, struct state *state, const cs_insn *insn, int64_t amount)
{
    const cs_x86_op *operand = &insn->detail->x86.operands[0];

    set_operand(flow, state, insn, operand,
                flow_plus(get_operand(flow, state, insn, operand), amount));
}

/* An "and" aligns the stack pointer. The result is still an address on the stack. */
static bool is_alignment(const cs_x86 *x86)
{
    return x86->operands[0].type == X86_OP_REG && x86->operands[0].reg == X86_REG_RSP;
}

/* Execute any instruction but a jump or call. */
static void compute(struct flow *flow, struct state *state, const cs_insn *insn)
{
    const cs_x86 *x86 = &insn->detail->x86;
    const cs_x86_op *to = &x86->operands[0], *from = &x86->operands[1];

    switch (insn->id) {
    case X86_INS_MOV:
    case X86_INS_MOVABS:
        set_operand(flow, state, insn, to, get_operand(flow, state, insn, from));
        return;
    case X86_INS_LEA:
        set_operand(flow, state, insn, to, address_of(state, insn, &from->mem));
        return;
    case X86_INS_PUSH:
        push(flow, state, get_operand(flow, state, insn, to));
        return;
    case X86_INS_POP:
        set_operand(flow, state, insn, to, pop(flow, state));
        return;
    case X86_INS_LEAVE:
        state->registers[FLOW_RSP] = state->registers[FLOW_RBP];
        state->registers[FLOW_RBP] = pop(flow, state);
        return;
    case X86_INS_XOR:
    case X86_INS_SUB:
        if (to->type == X86_OP_REG && from->type == X86_OP_REG && to->reg == from->reg)
            set_operand(flow, state, insn, to, flow_number(0));
        else if (insn->id == X86_INS_SUB && from->type == X86_OP_IMM)
            add(flow, state, insn, (int64_t)(0 - (uint64_t)from->imm));
        else
            forget_written(flow, state, insn);
        return;
    case X86_INS_ADD:
        if (from->type == X86_OP_IMM)
            add(flow, state, insn, from->imm);
        else
            forget_written(flow, state, insn);
        return;
    case X86_INS_AND:
        if (!is_alignment(x86))
            forget_written(flow, state, insn);
        return;
    case X86_INS_CMP:
    case X86_INS_TEST:
    case X86_INS_NOP:
    case X86_INS_ENDBR64:
        return;
    default:
        forget_written(flow, state, insn);
    }
}

static void clobber(struct state *state, struct flow_value result)
{
    static const enum flow_register LOST[] = {FLOW_RCX, FLOW_RDX, FLOW_RSI, FLOW_RDI,
                                              FLOW_R8,  FLOW_R9,  FLOW_R10, FLOW_R11};

    /* The callee may write to memory whose address it gets: a variable of any size. */
    for (size_t i = 0; i < sizeof(LOST) / sizeof(*LOST); i++) {
        if (flow_is_stack(state->registers[LOST[i]]))
            forget(state, state->registers[LOST[i]].offset, INT64_MAX);
        state->registers[LOST[i]] = flow_unknown;
    }
    state->registers[FLOW_RAX] = result;
}

/* The target of a jump or call; 0 if unknown. */
static uint64_t target_of(const struct flow *flow, const struct state *state, const cs_insn *insn)
{
    const cs_x86_op *operand = &insn->detail->x86.operands[0];
    struct flow_value address;
    uint64_t target;

    if (operand->type == X86_OP_IMM)
        return (uint64_t)operand->imm;
    if (operand->type != X86_OP_MEM || !flow->code->follow_literals)
        return 0;
    address = address_of(state, insn, &operand->mem);
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
static bool step(struct flow *flow, struct state *state, const cs_insn *insn)
{
    uint64_t target;

    if (cs_insn_group(flow->decoder, insn, CS_GRP_RET) ||
        cs_insn_group(flow->decoder, insn, CS_GRP_INT) || insn->id == X86_INS_UD2 ||
        insn->id == X86_INS_HLT)
        return false;
    if (cs_insn_group(flow->decoder, insn, CS_GRP_CALL)) {
        target = target_of(flow, state, insn);
        report_call(flow, state, target, false);
        clobber(state, flow_value_from(flow, BASE_RESULT, flow_number((int64_t)target)));
        return true;
    }
    if (!cs_insn_group(flow->decoder, insn, CS_GRP_JUMP)) {
        compute(flow, state, insn);
        return true;
    }
    target = target_of(flow, state, insn);
    if (insn->id != X86_INS_JMP) {
        take_later(flow, state, target);
        return true;
    }
    if (is_inside(flow, target)) {
        state->at = target;
        return true;
    }
    report_call(flow, state, target, true);
    return false;
}

static void follow_path(struct flow *flow, struct state *state, cs_insn *insn)
{
    while (is_inside(flow, state->at)) {
        size_t offset = state->at - flow->code->start;
        const uint8_t *bytes = flow->bytes + offset;
        size_t size = flow->code->end - state->at;
        uint64_t address = state->at, next;

        if (flow->visits[offset]++ == VISITS_MAX) {
            flow->visits[offset]--;
            return;
        }
        if (!cs_disasm_iter(flow->decoder, &bytes, &size, &address, insn))
            return;
        next = state->at + insn->size;
        state->at = next;
        if (!step(flow, state, insn))
            return;
    }
}

static void follow_all(struct flow *flow, cs_insn *insn)
{
    struct state *state = xcalloc(1, sizeof(*state));

    state->at = flow->code->start;
    for (uint32_t i = 0; i < FLOW_REGISTERS; i++)
        state->registers[i].base = BASE_REGISTERS + i;
    follow_path(flow, state, insn);
    while (flow->pending_count) {
        *state = flow->pending[--flow->pending_count];
        follow_path(flow, state, insn);
    }
    free(state);
}

bool flow_follow(const struct flow_code *code, const struct flow_visitor *visitor)
{
    struct flow flow = {.code = code, .visitor = visitor};
    size_t size = code->end - code->start;
    cs_insn *insn;

    if (code->end <= code->start || size > CODE_MAX ||
        cs_open(CS_ARCH_X86, CS_MODE_64, &flow.decoder) != CS_ERR_OK)
        return false;
    cs_option(flow.decoder, CS_OPT_DETAIL, CS_OPT_ON);
    flow.bytes = xmalloc(size);
    if (!code->read(code->context, code->start, flow.bytes, size)) {
        free(flow.bytes);
        cs_close(&flow.decoder);
        return false;
    }
    flow.visits = xcalloc(size, 1);
    flow.pending = xcalloc(PENDING_MAX, sizeof(*flow.pending));
    insn = cs_malloc(flow.decoder);
    if (insn) {
        follow_all(&flow, insn);
        cs_free(insn, 1);
    }
    free(flow.pending);
    free(flow.visits);
    free(flow.bases);
    free(flow.bytes);
    cs_close(&flow.decoder);
    return insn != NULL;
}
