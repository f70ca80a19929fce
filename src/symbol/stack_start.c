// SPDX-License-Identifier: Apache-2.0
#include "symbol/unwind_internal.h"

#include "native/stack_depth.h"

enum {
    SEARCHED_BYTES = 1 << 15,
    LINKS = 64,       /* frames to follow */
    LINKS_WANTED = 3, /* frames that suffice if the next one is unknown */
    WORD_BYTES = sizeof(uint64_t),
};

/* Return addresses on the Erlang stack are aligned, so that they are no terms. */
static bool is_return_address(const struct stack_search *search, uint64_t word)
{
    struct code_place place;

    return !(word & 3) && code_contains(search->code, word) &&
           code_find(search->code, word - 1, &place) && place.kind != CODE_HEADER;
}

static bool in_function(const struct stack_search *search, uint64_t address)
{
    struct code_place place;

    return code_find(search->code, address, &place) && place.kind == CODE_FUNCTION;
}

static bool is_bottom(const struct stack_search *search, uint64_t word)
{
    return word == code_normal_exit(search->code);
}

/* Find the first return address whose call could lead to the leaf. */
static bool search_from(const struct stack_search *search, uint64_t top, uint64_t *ret_start)
{
    uint64_t word;

    *ret_start = top;
    for (uint64_t at = top; at - top < SEARCHED_BYTES; at += WORD_BYTES) {
        enum call_proof proof = CALL_POSSIBLE;

        if (!snapshot_word(search->snapshot, at, &word))
            return false;
        if (!is_bottom(search, word) && !is_return_address(search, word))
            continue;
        if (is_bottom(search, word))
            proof = CALL_PROVEN;
        else if (search->leaf)
            proof = leaf_frame_call(search->frames, word, search->leaf);
        *ret_start = at;
        if (proof != CALL_DISPROVEN)
            return proof == CALL_PROVEN;
    }
    return false;
}

/* False if the word at the place of a return address is clearly something else: then the frame has
 * another size than assumed. An address in no known code counts as an unknown return address. */
static bool can_be_return_address(const struct stack_search *search, uint64_t at)
{
    uint64_t word;

    return !snapshot_word(search->snapshot, at, &word) || is_bottom(search, word) ||
           (!(word & 3) && word >= LOWEST_POINTER);
}

bool stack_start(const struct stack_search *search, uint64_t top, uint64_t *ret_start)
{
    int32_t words =
        search->leaf ? leaf_frame_words(search->frames, search->leaf) : STACK_DEPTH_UNKNOWN;

    *ret_start = top;
    if (!leaf_frames_are_known(search->frames))
        return true;
    if (words != STACK_DEPTH_UNKNOWN) {
        *ret_start = top + (uint64_t)words * WORD_BYTES;
        if (can_be_return_address(search, *ret_start))
            return true;
    }
    return search_from(search, top, ret_start);
}

/* True if frames lead from the return address at `at` to the root, or far enough. */
static bool is_chain(const struct stack_search *search, uint64_t at)
{
    uint64_t word, next;
    int links = 0;

    if (!snapshot_word(search->snapshot, at, &word))
        return false;
    for (; links < LINKS && !is_bottom(search, word); links++) {
        int32_t words = leaf_frame_caller_words(search->frames, word - 1);

        if (words == STACK_DEPTH_UNKNOWN)
            return links >= LINKS_WANTED;
        at += (uint64_t)words * WORD_BYTES;
        if (!snapshot_word(search->snapshot, at, &next))
            return links >= LINKS_WANTED;
        if (!is_bottom(search, next) &&
            (!is_return_address(search, next) ||
             (in_function(search, next - 1) &&
              leaf_frame_call(search->frames, next, word - 1) == CALL_DISPROVEN)))
            return false;
        word = next;
    }
    return true;
}

uint64_t stack_start_near(const struct stack_search *search, uint64_t about)
{
    uint64_t word;

    for (uint64_t at = about; at - about < SEARCHED_BYTES; at += WORD_BYTES) {
        if (!snapshot_word(search->snapshot, at, &word))
            return 0;
        if (is_bottom(search, word) || (is_return_address(search, word) &&
                                        in_function(search, word - 1) && is_chain(search, at)))
            return at;
    }
    return 0;
}

enum call_proof stack_start_fits(const struct stack_search *search, uint64_t top)
{
    int32_t words = leaf_frame_words(search->frames, search->leaf);
    uint64_t word;

    if (!leaf_frames_are_known(search->frames))
        return CALL_PROVEN;
    if (words == STACK_DEPTH_UNKNOWN ||
        !snapshot_word(search->snapshot, top + (uint64_t)words * WORD_BYTES, &word) ||
        is_bottom(search, word))
        return CALL_POSSIBLE;
    return is_return_address(search, word) ? leaf_frame_call(search->frames, word, search->leaf)
                                           : CALL_DISPROVEN;
}
