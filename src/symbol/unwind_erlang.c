// SPDX-License-Identifier: Apache-2.0
#include "symbol/unwind_internal.h"

enum {
    ERLANG_WORDS_MAX = 1 << 16, /* more than is ever copied of a stack */
    STACK_BYTES_MAX = 1 << 30,
};

static bool is_return_address(struct unwinder *unwinder, const struct unwind_state *state,
                              uint64_t word)
{
    /* THE_NON_VALUE, other remains in unwritten slots, and saved frame pointers. */
    if ((word & 3) || word < LOWEST_POINTER || unwind_on_erlang_stack(state, word))
        return false;
    return code_contains(unwinder->code, word);
}

static bool is_bottom(struct unwinder *unwinder, uint64_t word)
{
    return word == code_normal_exit(unwinder->code);
}

/* Emit the frame of a return address, but not one of tracing. Return the number of words behind it
 * to skip: words of a tracing frame may look like return addresses. */
static unsigned emit_return_address(struct unwinder *unwinder, uint64_t word)
{
    struct code_place place;

    if (!code_find(unwinder->code, word - 1, &place) || place.kind == CODE_HEADER) {
        unwind_emit(unwinder, ADDRESS_UNKNOWN, word, true);
        return 0;
    }
    switch (place.fragment) {
    case FRAGMENT_TRACE:
        return 0;
    case FRAGMENT_TIME_TRACE:
        return 1;
    case FRAGMENT_RETURN_TRACE:
        return 2;
    default:
        unwind_emit(unwinder, ADDRESS_CODE, word, true);
        return 0;
    }
}

/* With +JPperf fp each return address has a frame pointer before it, which points up the stack. It
 * points outside of [heap, hend] if a garbage collection has already replaced heap and hend. */
static bool is_frame_pointer(struct unwinder *unwinder, uint64_t at, uint64_t word)
{
    return code_frame_pointers(unwinder->code) && (word & 7) == 0 && word > at &&
           word - at < STACK_BYTES_MAX;
}

/* Emit a word that could be a return address by its bits but lies in no code. It is shown and
 * counted, because the unwinder does not understand this place. */
static void emit_unknown(struct unwinder *unwinder, const struct unwind_state *state, uint64_t at,
                         uint64_t word)
{
    if ((word & 3) == 0 && word >= LOWEST_POINTER && !unwind_on_erlang_stack(state, word) &&
        !is_frame_pointer(unwinder, at, word))
        unwind_emit(unwinder, ADDRESS_UNKNOWN, word, true);
}

/* Continue behind a part of the stack that was not copied. 0 if nothing follows. */
static uint64_t skip_gap(struct unwinder *unwinder, const struct unwind_state *state, uint64_t at)
{
    uint64_t next = snapshot_next_erlang(state->snapshot, at);

    if (!next)
        return 0;
    unwind_emit(unwinder, ADDRESS_CUT, (next - at) / sizeof(uint64_t), false);
    unwinder->result.truncated = true;
    return next;
}

void unwind_erlang(struct unwinder *unwinder, const struct unwind_state *state, uint64_t at)
{
    unsigned skip = 0;

    for (int i = 0; i < ERLANG_WORDS_MAX; i++, at += sizeof(uint64_t)) {
        uint64_t word;

        if (!snapshot_word(state->snapshot, at, &word)) {
            at = skip_gap(unwinder, state, at);
            if (!at || !snapshot_word(state->snapshot, at, &word))
                return;
        }
        if (skip) {
            skip--;
            continue;
        }
        if (is_bottom(unwinder, word)) {
            unwinder->result.complete = true;
            return;
        }
        if (is_return_address(unwinder, state, word))
            skip = emit_return_address(unwinder, word);
        else
            emit_unknown(unwinder, state, at, word);
    }
}

/* A fragment begins like a function: with +JPperf fp it pushes its caller's frame pointer. */
static uint64_t skip_frame_pointer(struct unwinder *unwinder, const struct unwind_state *state,
                                   uint64_t at)
{
    uint64_t word;

    return snapshot_word(state->snapshot, at, &word) && !code_contains(unwinder->code, word) &&
                   is_frame_pointer(unwinder, at, word)
               ? at + sizeof(word)
               : at;
}

uint64_t unwind_erlang_fragment_caller(struct unwinder *unwinder, const struct unwind_state *state,
                                       uint64_t top, uint64_t *leaf)
{
    uint64_t word = unwind_fragment_caller_on_c_stack(unwinder, state);
    struct code_place place, caller;

    if (word) {
        unwind_emit(unwinder, ADDRESS_CODE, word, true);
        *leaf = word - 1;
        return top;
    }
    for (int i = 0; i < 2; i++) {
        if (!code_find(unwinder->code, state->pc - !state->is_leaf, &place) ||
            place.kind == CODE_FUNCTION)
            return top;
        *leaf = 0;
        if (place.fragment == FRAGMENT_LENGTH && snapshot_word(state->snapshot, top - 8, &word) &&
            code_find(unwinder->code, word - 1, &caller) && caller.kind == CODE_FUNCTION) {
            unwind_emit(unwinder, ADDRESS_CODE, word, true);
            *leaf = word - 1;
            return top;
        }
        top = skip_frame_pointer(unwinder, state, top);
        if (!snapshot_word(state->snapshot, top, &word) || is_bottom(unwinder, word) ||
            !code_find(unwinder->code, word - 1, &caller) || caller.kind == CODE_HEADER)
            return top;
        unwind_emit(unwinder, ADDRESS_CODE, word, true);
        top += sizeof(word);
        if (caller.kind == CODE_FUNCTION) {
            *leaf = word - 1;
            return top;
        }
    }
    return top;
}
