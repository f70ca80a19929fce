// SPDX-License-Identifier: Apache-2.0
#include <stdlib.h>
#include <string.h>

#include "symbol/unwind_internal.h"
#include "util/alloc.h"

enum { NATIVE_FRAMES_MAX = 256 };

struct unwinder *unwinder_new(struct vm *vm, struct code *code)
{
    struct unwinder *unwinder = xcalloc(1, sizeof(*unwinder));

    unwinder->vm = vm;
    unwinder->code = code;
    unwinder->leaf_frames = leaf_frames_new(vm, code);
    return unwinder;
}

void unwinder_free(struct unwinder *unwinder)
{
    if (!unwinder)
        return;
    leaf_frames_free(unwinder->leaf_frames);
    free(unwinder->result.frames);
    free(unwinder);
}

void unwind_emit(struct unwinder *unwinder, enum address_kind kind, uint64_t address,
                 bool is_return)
{
    struct unwound *result = &unwinder->result;

    result->frames = xgrow(result->frames, &result->room, result->count, sizeof(*result->frames));
    result->frames[result->count++] = (struct unwound_frame){address, kind, is_return};
}

static uint64_t field(const uint8_t *bytes, int32_t offset)
{
    uint64_t value = 0;

    if (bytes && offset >= 0)
        memcpy(&value, bytes + offset, sizeof(value));
    return value;
}

/* True if the term is an atom whose index fits. */
static bool is_atom(uint64_t term)
{
    return (term & TAG_IMMED2_MASK) == TAG_IMMED2_ATOM &&
           term >> TAG_IMMED2_SIZE < 1u << MFA_INDEX_BITS;
}

uint64_t unwound_mfa_pack(const struct unwound_mfa *mfa)
{
    if (!is_atom(mfa->module) || !is_atom(mfa->function) || mfa->arity >= 1u << MFA_ARITY_BITS)
        return 0;
    return mfa->module >> TAG_IMMED2_SIZE << (MFA_INDEX_BITS + MFA_ARITY_BITS) |
           mfa->function >> TAG_IMMED2_SIZE << MFA_ARITY_BITS | mfa->arity;
}

struct unwound_mfa unwound_mfa(uint64_t address)
{
    uint64_t function = address >> MFA_ARITY_BITS & ((1u << MFA_INDEX_BITS) - 1);

    return (struct unwound_mfa){
        .module = address >> (MFA_INDEX_BITS + MFA_ARITY_BITS) << TAG_IMMED2_SIZE | TAG_IMMED2_ATOM,
        .function = function << TAG_IMMED2_SIZE | TAG_IMMED2_ATOM,
        .arity = address & ((1u << MFA_ARITY_BITS) - 1),
    };
}

/* Process.current at the sample, packed; 0 if none. */
static uint64_t read_current(const struct snapshot *snapshot)
{
    const uint8_t *bytes = snapshot_region(snapshot, REGION_MFA, WIRE_MFA_BYTES);
    uint64_t words[3];

    if (!bytes)
        return 0;
    memcpy(words, bytes, sizeof(words));
    if (words[2] >= 1u << MFA_ARITY_BITS)
        return 0;
    return unwound_mfa_pack(&(struct unwound_mfa){
        .module = words[0], .function = words[1], .arity = (uint32_t)words[2]});
}

static void read_state(const struct unwinder *unwinder, const struct snapshot *snapshot,
                       struct unwind_state *state)
{
    const struct layout *layout = &unwinder->vm->layout;
    const uint8_t *process =
        snapshot_region(snapshot, REGION_PROCESS, (size_t)layout->sizeof_process);

    memset(state, 0, sizeof(*state));
    state->snapshot = snapshot;
    for (int i = 0; i < CPU_REGISTERS; i++)
        state->registers.value[i] = snapshot_register(snapshot, i);
    state->registers.known = snapshot->sample->flags & WIRE_WAITS
                                 ? REGISTER_BIT(CPU_SP) | REGISTER_BIT(CPU_PC)
                                 : REGISTERS_ALL;
    state->pc = snapshot_register(snapshot, CPU_PC);
    state->is_leaf = true;
    if ((uint32_t)snapshot_scheduler_word(snapshot, layout->sched_type) == VM_SCHEDULER_NORMAL)
        state->base = snapshot_scheduler_word(snapshot, layout->sched_registers);
    state->has_process = process != NULL;
    state->stop = field(process, layout->process_stop);
    state->heap = field(process, layout->process_heap);
    state->hend = field(process, layout->process_hend);
    state->current = process ? read_current(snapshot) : 0;
    state->i = field(process, layout->process_i);
    state->fcalls = field(process, layout->process_fcalls);
}

bool unwind_on_erlang_stack(const struct unwind_state *state, uint64_t address)
{
    return (address & 7) == 0 && address > state->heap && address <= state->hend;
}

/* ---- native frames ---- */

static bool read_word(void *context, uint64_t address, uint64_t *word)
{
    return snapshot_word(context, address, word);
}

/* Unwind C frames down to Erlang code or the thread's root. True if state->pc is in Erlang code
 * then. */
static bool unwind_native(struct unwinder *unwinder, struct unwind_state *state)
{
    for (int i = 0; i < NATIVE_FRAMES_MAX; i++) {
        enum cfi_result result;

        if (code_contains(unwinder->code, state->pc))
            return true;
        if (state->pc < LOWEST_POINTER) {
            unwinder->result.native_broken = true;
            return false;
        }
        unwind_emit(unwinder, ADDRESS_NATIVE, state->pc, !state->is_leaf);
        result = cfi_step(unwinder->vm->mappings, &state->registers, state->is_leaf, read_word,
                          (void *)(uintptr_t)state->snapshot);
        if (result == CFI_END)
            return false;
        if (result != CFI_STEPPED)
            break;
        state->is_leaf = false;
        state->pc = state->registers.value[CPU_PC];
    }
    unwinder->result.native_broken = true;
    return false;
}

/* If the C stack can't be followed to its end, the return address into the JIT is still at its
 * place near the scheduler's registers (enum jit_frame). */
static bool jump_to_jit_frame(struct unwinder *unwinder, struct unwind_state *state)
{
    bool native_stack = unwinder->vm->features.native_stack;
    uint64_t pc;

    if (!state->base ||
        !(native_stack ? snapshot_word(state->snapshot, state->base + JIT_FRAME_RETURN, &pc)
                       : unwind_apart_jit_return(state, &pc)) ||
        !code_contains(unwinder->code, pc))
        return false;
    state->pc = pc;
    state->is_leaf = false;
    state->registers.known = 0;
    return true;
}

/* ---- the top of the Erlang stack ---- */

/* E, for calls that do not store it in Process.stop. */
static uint64_t stale_top(struct unwinder *unwinder, const struct unwind_state *state)
{
    unsigned int number = unwinder->vm->features.saved_top;
    uint64_t value = state->registers.value[number];

    if (registers_have(state->registers.known, number) && unwind_on_erlang_stack(state, value))
        return value;
    unwinder->result.no_leaf = true;
    return state->stop;
}

static bool is_on_erlang_stack(const struct unwind_state *state)
{
    return state->is_leaf &&
           unwind_on_erlang_stack(state, snapshot_register(state->snapshot, CPU_SP));
}

uint64_t unwind_fragment_caller_on_c_stack(struct unwinder *unwinder,
                                           const struct unwind_state *state)
{
    struct code_place place, caller;
    uint64_t word;

    if (!state->base || !unwinder->vm->features.native_stack || is_on_erlang_stack(state) ||
        !code_find(unwinder->code, state->pc - !state->is_leaf, &place) ||
        place.fragment != FRAGMENT_INIT_BITS ||
        !snapshot_word(state->snapshot, state->base + JIT_FRAME_RETURN, &word) ||
        !code_find(unwinder->code, word - 1, &caller) || caller.kind != CODE_FUNCTION)
        return 0;
    return word;
}

static uint64_t erlang_top(struct unwinder *unwinder, const struct unwind_state *state)
{
    uint64_t caller = unwind_fragment_caller_on_c_stack(unwinder, state);

    if (!unwinder->vm->features.native_stack && !unwind_apart_in_c(unwinder, state))
        return stale_top(unwinder, state);
    if (unwinder->vm->features.native_stack && is_on_erlang_stack(state))
        return snapshot_register(state->snapshot, CPU_SP);
    if (code_call_class(unwinder->code, caller ? caller : state->pc) == CALL_STALE)
        return stale_top(unwinder, state);
    return state->stop;
}

/* ---- BIFs ---- */

/* True if the process is being switched out or in. Then Process.i contains the address where the
 * process continues, and the stack does not (beam_asm: process_main, context_switch). */
static bool is_switched(struct unwinder *unwinder, const struct unwind_state *state)
{
    struct code_place place;

    return code_find(unwinder->code, state->pc - !state->is_leaf, &place) &&
           place.fragment == FRAGMENT_PROCESS_MAIN;
}

/* Emit Process.i, if it is valid. The VM writes it some instructions after the process stopped,
 * before the next call of C code. Until then it contains the address where the process last
 * continued (x86/process_main.cpp). */
static void emit_switched(struct unwinder *unwinder, const struct unwind_state *state)
{
    struct stack_search search = {unwinder->leaf_frames, unwinder->code, state->snapshot, state->i};

    if (!is_switched(unwinder, state) || !code_contains(unwinder->code, state->i))
        return;
    if (stack_start_fits(&search, state->stop) >= (state->is_leaf ? CALL_PROVEN : CALL_POSSIBLE))
        unwind_emit(unwinder, ADDRESS_CODE, state->i, false);
    else
        unwinder->result.no_leaf = true;
}

/* Read the Export that call_light_bif keeps in TMP_MEM2, or in the register that holds FCALLS in
 * Erlang code. */
static bool light_bif_export(const struct unwinder *unwinder, const struct unwind_state *state,
                             uint64_t *export)
{
    if (!unwinder->vm->features.light_bif_export_in_fcalls)
        return state->base &&
               snapshot_word(state->snapshot, state->base + JIT_FRAME_EXPORT, export);
    *export = state->registers.value[JIT_FCALLS];
    return registers_have(state->registers.known, JIT_FCALLS);
}

/* True if Process.current is valid. beam_jit_call_nif writes it (jit/beam_jit_common.cpp
 * 25.2.3:550, 27.3.4.1:628, 29.1.1:635). While beam_jit_call_nif is the leaf, Process.current may
 * still name the last BIF or NIF. */
static bool is_current_written(const struct unwinder *unwinder, const struct unwind_state *state,
                               enum fragment fragment)
{
    size_t native = unwinder->result.count - state->snapshot->sample->kernel_depth;

    return fragment != FRAGMENT_CALL_NIF || native != 1 || unwinder->result.native_broken;
}

/* Emit the frame of the JIT code that calls C code. If that code calls a BIF or NIF, emit the BIF
 * or NIF instead, because Erlang programmers do not know the name of its C function.
 *   call_light_bif: its Export is kept during the call
 *   call_bif, call_nif, dirty calls: Process.current (x86/instr_bif.cpp 25.2.3:746, 27.3.4.1:770,
 *                                                     29.1.1:819) */
static void emit_jit_call(struct unwinder *unwinder, const struct unwind_state *state)
{
    struct code_place place;
    uint64_t export;

    if (!state->is_leaf && code_find(unwinder->code, state->pc - 1, &place)) {
        if (place.fragment == FRAGMENT_CALL_LIGHT_BIF &&
            light_bif_export(unwinder, state, &export)) {
            unwind_emit(unwinder, ADDRESS_EXPORT, export, true);
            return;
        }
        if ((place.fragment == FRAGMENT_CALL_BIF || place.fragment == FRAGMENT_CALL_NIF) &&
            state->current && is_current_written(unwinder, state, place.fragment)) {
            unwind_emit(unwinder, ADDRESS_MFA, state->current, true);
            return;
        }
    }
    unwind_emit(unwinder, ADDRESS_CODE, state->pc, !state->is_leaf);
    emit_switched(unwinder, state);
}

/* Emit what a process does on a dirty scheduler. While a BIF or NIF runs, Process.i is not in
 * Erlang code (erl_nfunc_sched.h 25.2.3:42). Otherwise Process.i is where the process continues
 * after a system task, such as a garbage collection. */
static void emit_dirty(struct unwinder *unwinder, const struct unwind_state *state)
{
    if (code_contains(unwinder->code, state->i))
        unwind_emit(unwinder, ADDRESS_CODE, state->i, false);
    else if (state->current)
        unwind_emit(unwinder, ADDRESS_MFA, state->current, true);
}
/* ---- reductions ---- */

/* The JIT counts reductions down in a register. It stores the register in Process.fcalls before C
 * code that may use reductions, and loads it again afterwards
 * (x86/beam_asm.hpp 25.2.3:618, 27.3.4.1:622, 29.1.1:700, Update::eReductions). Within a slice both
 * only decrease, so the lower one is newer. In process_main, where processes are switched, both are
 * invalid (x86/process_main.cpp 25.2.3:112, 27.3.4.1:109, 29.1.1:111). */
static void find_reductions(struct unwinder *unwinder, const struct unwind_state *state)
{
    struct process_registers *registers = &unwinder->result.registers;
    bool narrow = unwinder->vm->features.fcalls_is_32_bits;
    uint64_t held = state->registers.value[JIT_FCALLS];
    int64_t in_register = narrow ? (int32_t)held : (int64_t)held;
    int64_t stored = narrow ? (int32_t)state->fcalls : (int64_t)state->fcalls;
    struct code_place place;

    if (!registers_have(state->registers.known, JIT_FCALLS) ||
        unwinder->vm->layout.process_fcalls < 0 || unwinder->vm->layout.sched_virtual_reds < 0 ||
        !code_find(unwinder->code, state->pc - !state->is_leaf, &place) ||
        place.fragment == FRAGMENT_PROCESS_MAIN)
        return;
    registers->reductions = REDUCTIONS_LEFT;
    registers->fcalls = in_register < stored ? in_register : stored;
    registers->virtual_reds =
        (uint32_t)snapshot_scheduler_word(state->snapshot, unwinder->vm->layout.sched_virtual_reds);
}

/* True if the process has returned from its first function. */
static bool is_empty(const struct unwinder *unwinder, const struct unwind_state *state,
                     uint64_t top)
{
    return top == state->hend ||
           (!unwinder->vm->features.native_stack && unwind_apart_is_empty(state, top));
}

/* Emit the callers of the running function. `top` is the top of the Erlang stack, or near it. */
static void walk_from_leaf(struct unwinder *unwinder, const struct unwind_state *state,
                           uint64_t top)
{
    struct stack_search search = {unwinder->leaf_frames, unwinder->code, state->snapshot,
                                  state->pc - !state->is_leaf};
    struct unwound *result = &unwinder->result;
    uint64_t start;

    if (is_empty(unwinder, state, top) && !result->no_leaf) {
        result->complete = true;
        return;
    }
    if (is_switched(unwinder, state)) {
        start = top; /* the frame is completely written, as in a process that does not run */
    } else if (result->no_leaf) {
        start = stack_start_near(&search, top);
    } else {
        if (unwinder->vm->features.native_stack)
            top = unwind_erlang_fragment_caller(unwinder, state, top, &search.leaf);
        else
            unwind_apart_caller(unwinder, state, top, &search.leaf);
        result->no_leaf = !stack_start(&search, top, &start);
    }
    if (result->no_leaf)
        unwind_emit(unwinder, ADDRESS_MISSING, 0, false);
    if (start)
        unwind_erlang(unwinder, state, start);
    result->complete &= !result->no_leaf;
}

static void unwind_process(struct unwinder *unwinder, struct unwind_state *state, bool in_code)
{
    uint64_t top;

    if (!in_code) {
        emit_dirty(unwinder, state);
        unwind_erlang(unwinder, state, state->stop);
        return;
    }
    top = erlang_top(unwinder, state);
    unwinder->result.registers.stop = unwinder->result.no_leaf ? 0 : top;
    find_reductions(unwinder, state);
    emit_jit_call(unwinder, state);
    walk_from_leaf(unwinder, state, top);
}

bool unwind_resumes_at(struct code *code, uint64_t i)
{
    struct code_place place;

    return code_find(code, i, &place) && place.fragment != FRAGMENT_RUN_PROCESS;
}

/* A process that does not run continues at Process.i, with the stack at Process.stop. */
static void unwind_at_rest(struct unwinder *unwinder, const struct unwind_state *state)
{
    unwinder->result.registers =
        (struct process_registers){.stop = state->stop, .reductions = REDUCTIONS_COUNTED};
    if (unwind_resumes_at(unwinder->code, state->i))
        unwind_emit(unwinder, ADDRESS_CODE, state->i, false);
    else if (state->current) /* in a BIF that will be called again, or a dirty one */
        unwind_emit(unwinder, ADDRESS_MFA, state->current, true);
    unwind_erlang(unwinder, state, state->stop);
}

struct unwound *unwind(struct unwinder *unwinder, const struct snapshot *snapshot)
{
    struct unwound *result = &unwinder->result;
    struct unwind_state state;
    bool in_code;

    *result = (struct unwound){.frames = result->frames, .room = result->room};
    if (snapshot->sample->flags & WIRE_ENTRY) {
        unwind_emit(unwinder, ADDRESS_ENTRY, 0, false);
        result->at_entry = true;
        return result;
    }
    for (uint32_t i = 0; i < snapshot->sample->kernel_depth; i++)
        unwind_emit(unwinder, ADDRESS_KERNEL, snapshot->kernel_stack[i], i > 0);
    if (snapshot->sample->flags & WIRE_AT_REST) {
        read_state(unwinder, snapshot, &state);
        unwind_at_rest(unwinder, &state);
        return result;
    }
    if (!(snapshot->sample->flags & WIRE_REGISTERS)) {
        result->native_broken = true;
        return result;
    }
    read_state(unwinder, snapshot, &state);
    in_code = unwind_native(unwinder, &state);
    /* A C function that never returns, such as abort() of musl, looks like the first of its thread.
     * But a normal scheduler runs a process from the JIT's code. */
    result->native_broken |= !in_code && state.has_process && state.base;
    if (!in_code && result->native_broken)
        in_code = jump_to_jit_frame(unwinder, &state);
    if (state.has_process)
        unwind_process(unwinder, &state, in_code);
    else if (in_code)
        unwind_emit(unwinder, ADDRESS_CODE, state.pc, !state.is_leaf);
    return result;
}
