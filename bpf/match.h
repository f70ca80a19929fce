/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* Decides if the arguments of a call match the pattern of its function (wire_match.h). */
#ifndef BEAMFLAME_MATCH_H
#define BEAMFLAME_MATCH_H

#include "arguments.h"
#include "wire_match.h"

/* Some function has a pattern. */
const volatile bool has_matches;

struct match_slots {
    __u64 terms[WIRE_MATCH_SLOTS + WIRE_MATCH_ELEMENTS]; /* some are filled and not used */
    __u64 bytes[WIRE_MATCH_BYTES / 8];
};

struct {
    __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
    __uint(max_entries, 1);
    __type(key, __u32);
    __type(value, struct match_slots);
} match_slots SEC(".maps");

struct {
    __uint(type, BPF_MAP_TYPE_ARRAY);
    __uint(max_entries, WIRE_CALL_TRIAL + 1);
    __type(key, __u32); /* the number of the function */
    __type(value, struct wire_match);
} matches SEC(".maps");

enum match_result { MATCH_UNREADABLE = -1, MATCH_NO, MATCH_YES };

static __always_inline struct match_slots *the_slots(void)
{
    __u32 zero = 0;

    return bpf_map_lookup_elem(&match_slots, &zero);
}

/* Read words of the VM into the slots from `to` on. */
static __always_inline enum match_result fill_slots(struct match_slots *slots, __u32 to, __u64 at,
                                                    __u32 count)
{
    __u32 bytes = 8 * count;

    if (!IS_BELOW(to, WIRE_MATCH_SLOTS) || !IS_BELOW(bytes, 8 * WIRE_MATCH_ELEMENTS + 1))
        return MATCH_UNREADABLE;
    return !bytes || read_user(&slots->terms[to], bytes, at) ? MATCH_YES : MATCH_UNREADABLE;
}

static __always_inline enum match_result
match_tuple(struct match_slots *slots, __u64 at, __u64 header, const struct wire_match_step *step)
{
    if (header != ((__u64)step->size << HEADER_ARITY_OFFS | ARITYVAL_SUBTAG))
        return MATCH_NO;
    return fill_slots(slots, step->to, at + 8, step->size);
}

static __always_inline enum match_result match_binary(struct match_slots *slots, __u64 at,
                                                      __u64 header, const struct wire_match *match,
                                                      const struct wire_match_step *step)
{
    struct found_bytes found = {};
    __u32 kind = header & TAG_HEADER_MASK, number = step->value, bytes = step->size;

    if (header & TAG_PRIMARY_MASK || !is_binary(kind))
        return MATCH_NO;
    if (!(argument_fields.in_bits ? find_new_bytes(at, kind, &found)
                                  : find_old_bytes(at, kind, &found)))
        return MATCH_UNREADABLE;
    if (found.bits % 8 || found.bits / 8 < bytes ||
        (step->kind == WIRE_MATCH_BINARY && found.bits / 8 != bytes))
        return MATCH_NO;
    if (!bytes)
        return MATCH_YES;
    for (__u32 i = 0; i < WIRE_MATCH_BYTES / 8; i++)
        slots->bytes[i] = 0;
    if (!found.at || !IS_BELOW(bytes, WIRE_MATCH_BYTES + 1) ||
        !IS_BELOW(number, WIRE_MATCH_BINARIES) || !read_user(slots->bytes, bytes, found.at))
        return MATCH_UNREADABLE;
    for (__u32 i = 0; i < WIRE_MATCH_BYTES / 8; i++)
        if (slots->bytes[i] != match->binaries[number][i])
            return MATCH_NO;
    return MATCH_YES;
}

/* Take a step. A function of its own for the verifier, which so looks at it once. */
__noinline int match_step(__u32 function, __u32 number)
{
    const struct wire_match *match = bpf_map_lookup_elem(&matches, &function);
    struct match_slots *slots = the_slots();
    const struct wire_match_step *step;
    __u64 term, header;
    __u32 slot;

    if (!match || !slots || number >= WIRE_MATCH_STEPS)
        return MATCH_UNREADABLE;
    step = &match->steps[number];
    slot = step->slot;
    if (!IS_BELOW(slot, WIRE_MATCH_SLOTS))
        return MATCH_UNREADABLE;
    term = slots->terms[slot];
    if (step->kind == WIRE_MATCH_EQUAL)
        return term == step->value;
    if (step->kind == WIRE_MATCH_LIST)
        return (term & TAG_PRIMARY_MASK) == TAG_PRIMARY_LIST
                   ? fill_slots(slots, step->to, term & ~7ULL, 2)
                   : MATCH_NO;
    if ((term & TAG_PRIMARY_MASK) != TAG_PRIMARY_BOXED)
        return MATCH_NO;
    if (!read_user(&header, sizeof(header), term & ~7ULL))
        return MATCH_UNREADABLE;
    return step->kind == WIRE_MATCH_TUPLE ? match_tuple(slots, term & ~7ULL, header, step)
                                          : match_binary(slots, term & ~7ULL, header, match, step);
}

/* Match the arguments of a call. `registers` is the address of X0. */
static __always_inline enum match_result match_call(__u32 function, __u64 registers, __u32 arity)
{
    const struct wire_match *match = bpf_map_lookup_elem(&matches, &function);
    struct match_slots *slots = the_slots();
    enum match_result result = MATCH_YES;

    if (!match || !match->count)
        return MATCH_YES;
    if (!slots)
        return MATCH_UNREADABLE;
    result = fill_slots(slots, 0, registers, arity);
    for (__u32 i = 0; i < WIRE_MATCH_STEPS && result == MATCH_YES; i++) {
        if (i >= match->count)
            break;
        result = match_step(function, i);
    }
    return result;
}

#endif
