// SPDX-License-Identifier: Apache-2.0
#include "symbol/unwind_internal.h"

#include "arch/code_bytes.h"
#include "native/memory.h"
#include "vm_constants.h"

/*
 * A frame begins with the place of a return address: the function stores it there when it calls
 * another function (x86/beam_asm.hpp erlang_call 25.2.3:255). While it calls none, NIL or an old
 * term is there (x86/instr_call.cpp emit_return 25.2.3:51, x86/instr_common.cpp emit_allocate_heap
 * 25.2.3:200, emit_i_trim 25.2.3:570, beam_common.c 25.2.3:555).
 */

enum {
    WORD_BYTES = sizeof(uint64_t),
    FRAGMENTS_MAX = 3, /* that call each other, and the trampoline of a breakpoint */
};

/* ---- the machine stack ---- */

static bool is_function(struct unwinder *unwinder, uint64_t return_address)
{
    struct code_place place;

    return code_find(unwinder->code, return_address - 1, &place) && place.kind == CODE_FUNCTION;
}

/* True if the word is the return address of a call of the fragment that runs. */
static bool is_called_from(const struct unwinder *unwinder, const struct unwind_state *state,
                           uint64_t word)
{
    uint8_t bytes[CPU_CALL_BYTES];
    const struct code_bytes call = {bytes, sizeof(bytes), word - sizeof(bytes)};
    struct code_place place;
    uint64_t target;
    size_t at = 0;

    return code_contains(unwinder->code, call.address) &&
           memory_read(unwinder->vm->memory, call.address, bytes, sizeof(bytes)) &&
           code_bytes_next_call(&call, &at, &target) &&
           code_find(unwinder->code, state->pc, &place) && place.start == target;
}

/* The stack pointer that JIT code noted before it last called C code; 0 if it can't be one. */
static uint64_t noted_sp(const struct unwind_state *state)
{
    uint64_t sp;

    return state->base && snapshot_word(state->snapshot, state->base + JIT_APART_SP, &sp) &&
                   state->base - sp <= (uint64_t)FRAGMENTS_MAX * WORD_BYTES && !(sp & 7)
               ? sp
               : 0;
}

/* A fragment that another one has called can have the stack pointer that C code gets. */
bool unwind_apart_in_c(const struct unwinder *unwinder, const struct unwind_state *state)
{
    uint64_t sp = state->registers.value[CPU_SP], noted = noted_sp(state), word;

    if (!state->is_leaf)
        return true;
    return noted && sp == jit_apart_aligned(noted) &&
           !(snapshot_word(state->snapshot, sp, &word) && is_called_from(unwinder, state, word));
}

static uint64_t jit_sp(const struct unwinder *unwinder, const struct unwind_state *state)
{
    return unwind_apart_in_c(unwinder, state) ? noted_sp(state) : state->registers.value[CPU_SP];
}

bool unwind_apart_jit_return(const struct unwind_state *state, uint64_t *address)
{
    uint64_t sp = noted_sp(state);

    return sp && snapshot_word(state->snapshot, jit_apart_aligned(sp) + JIT_FRAME_RETURN, address);
}

/* ---- returns ---- */

/* The register with the return address, in code that has taken it off the stack. */
static enum cpu_register return_register(enum fragment fragment)
{
    return fragment == FRAGMENT_CALL_BIF || fragment == FRAGMENT_CALL_NIF ? JIT_BIF_RETURN
                                                                          : JIT_RETURN;
}

/* Find the return address of code that is at depth 0, at `top` or in a register. False if there is
 * none. */
static bool find_return(struct unwinder *unwinder, const struct unwind_state *state, uint64_t top,
                        const struct code_place *place, uint64_t *word)
{
    enum cpu_register number = return_register(place->fragment);

    if (!snapshot_word(state->snapshot, top, word))
        return false;
    if (*word == TAG_IMMED2_NIL && state->is_leaf && registers_have(state->registers.known, number))
        *word = state->registers.value[number];
    return !(*word & 3) && is_function(unwinder, *word);
}

/* A function that is about to return. */
static uint64_t returning_caller(struct unwinder *unwinder, const struct unwind_state *state,
                                 uint64_t top, const struct code_place *place)
{
    uint64_t word, caller;

    if (!state->is_leaf || leaf_frame_words(unwinder->leaf_frames, state->pc) != 0 ||
        !snapshot_word(state->snapshot, top, &word) || word != TAG_IMMED2_NIL ||
        !find_return(unwinder, state, top, place, &caller) ||
        leaf_frame_call(unwinder->leaf_frames, caller, state->pc) == CALL_DISPROVEN)
        return 0;
    return caller;
}

/* ---- callers ---- */

/* Is the Erlang stack at `top` that of a function that raises an exception at `address`? The first
 * word is the return address to its caller if it has no frame. Else it is one in itself if a call
 * or a light BIF failed (x86/instr_bif.cpp 25.2.3:559), and otherwise none. It is none too when
 * handle_error() has moved the top to the function that catches the exception
 * (beam_common.c 25.2.3:555), so this needs proof. */
static bool can_raise(struct unwinder *unwinder, const struct unwind_state *state, uint64_t top,
                      uint64_t address)
{
    const struct stack_search search = {unwinder->leaf_frames, unwinder->code, state->snapshot,
                                        address};
    int32_t depth = leaf_frame_words(unwinder->leaf_frames, address);
    enum call_proof proof = stack_start_fits(&search, top);
    struct code_place place, first;
    uint64_t word;

    if (depth < 0 || !snapshot_word(state->snapshot, top, &word))
        return false;
    if (!code_contains(unwinder->code, word))
        return depth && proof == CALL_PROVEN;
    return proof != CALL_DISPROVEN &&
           (!depth || (code_find(unwinder->code, address, &place) &&
                       code_find(unwinder->code, word - 1, &first) && first.start == place.start));
}

/* The return address in the function that raised an exception, or 0. It has been taken off the
 * machine stack (x86/beam_asm_global.cpp emit_raise_exception 25.2.3:291), and nothing has been
 * pushed there since. It may also be what an older call left, so it has to fit the Erlang stack. */
static uint64_t raising_function(struct unwinder *unwinder, const struct unwind_state *state,
                                 uint64_t top)
{
    uint64_t sp = jit_sp(unwinder, state), word;

    return sp && snapshot_word(state->snapshot, sp - WORD_BYTES, &word) &&
                   is_function(unwinder, word) && can_raise(unwinder, state, top, word - 1)
               ? word
               : 0;
}

/* Emit what called the fragment, as far as it is on the machine stack. Return the return address in
 * the function that called the first fragment; 0 if the function jumped to it. */
static uint64_t emit_machine_callers(struct unwinder *unwinder, const struct unwind_state *state)
{
    uint64_t sp = jit_sp(unwinder, state), word;
    struct code_place place;

    for (int i = 0; i < FRAGMENTS_MAX && sp && sp < state->base; i++, sp += WORD_BYTES) {
        if (!snapshot_word(state->snapshot, sp, &word) ||
            !code_find(unwinder->code, word - 1, &place) || place.kind == CODE_HEADER)
            continue;
        unwind_emit(unwinder, ADDRESS_CODE, word, true);
        if (place.kind == CODE_FUNCTION)
            return word;
    }
    return 0;
}

static uint64_t emit_fragment_caller(struct unwinder *unwinder, const struct unwind_state *state,
                                     uint64_t top, const struct code_place *place)
{
    uint64_t word = emit_machine_callers(unwinder, state);

    if (word)
        return word;
    if (place->fragment == FRAGMENT_RAISE)
        word = raising_function(unwinder, state, top);
    else if (!find_return(unwinder, state, top, place, &word))
        word = 0;
    if (word)
        unwind_emit(unwinder, ADDRESS_CODE, word, true);
    return word;
}

void unwind_apart_caller(struct unwinder *unwinder, const struct unwind_state *state, uint64_t top,
                         uint64_t *leaf)
{
    struct code_place place;
    uint64_t word;

    if (!code_find(unwinder->code, state->pc - !state->is_leaf, &place))
        return;
    if (place.kind == CODE_FUNCTION) {
        word = returning_caller(unwinder, state, top, &place);
        if (!word)
            return;
        unwind_emit(unwinder, ADDRESS_CODE, word, true);
    } else {
        word = emit_fragment_caller(unwinder, state, top, &place);
    }
    *leaf = word ? word - 1 : 0;
}

/* The first function has taken its return address off the stack, and there is nothing else. */
bool unwind_apart_is_empty(const struct unwind_state *state, uint64_t top)
{
    uint64_t word;

    return top + WORD_BYTES == state->hend && snapshot_word(state->snapshot, top, &word) &&
           word == TAG_IMMED2_NIL;
}
