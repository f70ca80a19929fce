/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* Decides if the arguments of a call match the pattern of its function (wire_match.h). */
#ifndef BEAMFLAME_MATCH_H
#define BEAMFLAME_MATCH_H

#include "arguments.h"
#include "wire_match.h"

/* Some function has a pattern. */
const volatile bool has_matches;

enum {
    TREE_CHILDREN = 16, /* of a node */
    TREE_ROOM = 1 << 8, /* nodes that wait: a tree has less than 16 levels */
};

struct match_slots {
    __u64 terms[WIRE_MATCH_SLOTS + WIRE_MATCH_ELEMENTS]; /* some are filled and not used */
    __u64 bytes[WIRE_MATCH_BYTES / 8];
    __u64 nodes[TREE_ROOM + TREE_CHILDREN]; /* of a tree, whose contents were not looked at */
    __u64 node_count;
    /* of this call */
    __u64 visited; /* nodes of trees */
    __u64 search_ns;
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

enum match_result { MATCH_UNKNOWN = -1, MATCH_NO, MATCH_YES };

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
        return MATCH_UNKNOWN;
    return !bytes || read_user(&slots->terms[to], bytes, at) ? MATCH_YES : MATCH_UNKNOWN;
}

static __always_inline enum match_result
match_tuple(struct match_slots *slots, __u64 at, __u64 header, const struct wire_match_step *step)
{
    if (header != ((__u64)step->size << HEADER_ARITY_OFFS | ARITYVAL_SUBTAG))
        return MATCH_NO;
    return fill_slots(slots, step->to, at + 8, step->size);
}

/* Compare the memory at `at` with the bytes of the step. */
static __always_inline enum match_result match_bytes(struct match_slots *slots, __u64 at,
                                                     const struct wire_match *match,
                                                     const struct wire_match_step *step)
{
    __u32 row = step->value, bytes = step->size, last = (bytes - 1) / 8;

    if (!bytes)
        return MATCH_YES;
    if (!IS_BELOW(row, WIRE_MATCH_BYTE_ROWS) || !IS_BELOW(last, WIRE_MATCH_BYTES / 8))
        return MATCH_UNKNOWN;
    slots->bytes[last] = 0; /* which maybe is not filled in full */
    if (!IS_BELOW(bytes, WIRE_MATCH_BYTES + 1) || !at || !read_user(slots->bytes, bytes, at))
        return MATCH_UNKNOWN;
    for (__u32 i = 0; i < WIRE_MATCH_BYTES / 8; i++) {
        if (i > last)
            break;
        if (slots->bytes[i] != match->bytes[row][i])
            return MATCH_NO;
    }
    return MATCH_YES;
}

/* The bytes of the step begin with the header, which has the size. */
static __always_inline enum match_result match_number(struct match_slots *slots, __u64 at,
                                                      __u64 header, const struct wire_match *match,
                                                      const struct wire_match_step *step)
{
    __u32 row = step->value;

    if (!IS_BELOW(row, WIRE_MATCH_BYTE_ROWS))
        return MATCH_UNKNOWN;
    return header == match->bytes[row][0] ? match_bytes(slots, at, match, step) : MATCH_NO;
}

static __always_inline enum match_result match_binary(struct match_slots *slots, __u64 at,
                                                      __u64 header, const struct wire_match *match,
                                                      const struct wire_match_step *step)
{
    struct found_bytes found = {};
    __u32 kind = header & TAG_HEADER_MASK;

    if (header & TAG_PRIMARY_MASK || !is_binary(kind))
        return MATCH_NO;
    if (!(argument_fields.in_bits ? find_new_bytes(at, kind, &found)
                                  : find_old_bytes(at, kind, &found)))
        return MATCH_UNKNOWN;
    if (found.bits % 8 || found.bits / 8 < step->size ||
        (step->kind == WIRE_MATCH_BINARY && found.bits / 8 != step->size))
        return MATCH_NO;
    return match_bytes(slots, found.at, match, step);
}

static __always_inline bool is_map(__u64 header)
{
    return (header & TAG_HEADER_MASK) == (argument_fields.in_bits ? MAP_SUBTAG_27 : MAP_SUBTAG_26);
}

static __always_inline __u32 type_of_map(__u64 header)
{
    return header >> HEADER_ARITY_OFFS & MAP_HEADER_TYPE_MASK;
}

/* Take a step, except WIRE_MATCH_PAIR. A function of its own for the verifier, which so looks at it
 * once. */
__noinline int match_step(__u32 function, __u32 number)
{
    const struct wire_match *match = bpf_map_lookup_elem(&matches, &function);
    struct match_slots *slots = the_slots();
    const struct wire_match_step *step;
    __u64 term, at, header;
    __u32 slot;

    if (!match || !slots || number >= WIRE_MATCH_STEPS)
        return MATCH_UNKNOWN;
    step = &match->steps[number];
    slot = step->slot;
    if (!IS_BELOW(slot, WIRE_MATCH_SLOTS))
        return MATCH_UNKNOWN;
    term = slots->terms[slot];
    at = term & ~7ULL;
    if (step->kind == WIRE_MATCH_EQUAL)
        return term == step->value;
    if (step->kind == WIRE_MATCH_LIST)
        return (term & TAG_PRIMARY_MASK) == TAG_PRIMARY_LIST ? fill_slots(slots, step->to, at, 2)
                                                             : MATCH_NO;
    if ((term & TAG_PRIMARY_MASK) != TAG_PRIMARY_BOXED)
        return MATCH_NO;
    if (!read_user(&header, sizeof(header), at))
        return MATCH_UNKNOWN;
    if (step->kind == WIRE_MATCH_TUPLE)
        return match_tuple(slots, at, header, step);
    if (step->kind == WIRE_MATCH_MAP)
        return is_map(header);
    if (step->kind == WIRE_MATCH_NUMBER)
        return match_number(slots, at, header, match, step);
    return match_binary(slots, at, header, match, step);
}

/* ---- maps ---- */

/* Compare the key in its slot by the steps behind step `number`. */
__noinline int match_key(__u32 function, __u32 number)
{
    const struct wire_match *match = bpf_map_lookup_elem(&matches, &function);
    enum match_result result = MATCH_YES;
    __u32 count;

    if (!match || number >= WIRE_MATCH_STEPS)
        return MATCH_UNKNOWN;
    count = match->steps[number].size;
    for (__u32 i = 1; i <= WIRE_MATCH_KEY_STEPS && result == MATCH_YES; i++) {
        if (i > count)
            break;
        result = match_step(function, number + i);
    }
    return result;
}

/* Search a map that is no tree (copy_map() of arguments.h). The slot is read at once: verifiers of
 * some kernels forget what they know of `number` when a helper is called. */
__noinline int match_flat(__u32 function, __u32 number, __u64 at)
{
    const struct wire_match *match = bpf_map_lookup_elem(&matches, &function);
    struct match_slots *slots = the_slots();
    struct {
        __u64 size, keys;
    } map;
    enum match_result result = MATCH_NO;
    __u32 to;

    if (!match || !slots || number >= WIRE_MATCH_STEPS)
        return MATCH_UNKNOWN;
    to = match->steps[number].to;
    if (!read_user(&map, sizeof(map), at + 8))
        return MATCH_UNKNOWN;
    for (__u32 i = 0; i < MAP_SMALL_MAP_LIMIT; i++) {
        if (i >= map.size)
            return MATCH_NO;
        result = fill_slots(slots, to, (map.keys & ~7ULL) + 8 + 8 * i, 1);
        if (result == MATCH_YES)
            result = match_key(function, number);
        if (result == MATCH_YES)
            return fill_slots(slots, to + 1, at + 24 + 8 * i, 1);
        if (result == MATCH_UNKNOWN)
            return MATCH_UNKNOWN;
    }
    return map.size > MAP_SMALL_MAP_LIMIT ? MATCH_UNKNOWN : MATCH_NO;
}

/* Of 16 bits: sums of 2, of 4, of 8 and of all. */
static __always_inline __u32 count_bits(__u32 bits)
{
    bits -= bits >> 1 & 0x5555;
    bits = (bits & 0x3333) + (bits >> 2 & 0x3333);
    bits = (bits + (bits >> 4)) & 0x0f0f;
    return (bits + (bits >> 8)) & 0x1f;
}

/* Let the children of a node wait. The head of a tree has the number of all keys before them. A
 * tuple has keys of the same hash. */
static __always_inline enum match_result open_node(struct match_slots *slots, __u64 at)
{
    __u64 header, count = 0, first = 8;
    __u32 children, room = slots->node_count;

    if (!read_user(&header, sizeof(header), at))
        return MATCH_UNKNOWN;
    if (is_map(header)) {
        count = count_bits(header >> MAP_HEADER_VAL_OFFS & MAP_HEADER_VAL_MASK);
        if (type_of_map(header) != MAP_HEADER_TAG_HAMT_NODE_BITMAP)
            first = 16;
    } else if ((header & TAG_HEADER_MASK) == ARITYVAL_SUBTAG) {
        count = header >> HEADER_ARITY_OFFS;
    }
    if (!count || count > TREE_CHILDREN || !IS_BELOW(room, TREE_ROOM))
        return MATCH_UNKNOWN;
    children = 8 * count;
    if (!IS_BELOW(children, 8 * TREE_CHILDREN + 1) ||
        !read_user(&slots->nodes[room], children, at + first))
        return MATCH_UNKNOWN;
    slots->node_count = room + count;
    return MATCH_NO;
}

/* Look at the node that waits since last: a pair, or a node with children. MATCH_YES: the pair of
 * the key was found. */
__noinline int match_node(__u32 function, __u32 number)
{
    const struct wire_match *match = bpf_map_lookup_elem(&matches, &function);
    struct match_slots *slots = the_slots();
    enum match_result result;
    __u64 node;
    __u32 last, to;

    if (!match || !slots || number >= WIRE_MATCH_STEPS)
        return MATCH_UNKNOWN;
    to = match->steps[number].to;
    last = slots->node_count - 1;
    if (!IS_BELOW(last, TREE_ROOM + TREE_CHILDREN))
        return MATCH_UNKNOWN;
    node = slots->nodes[last];
    slots->node_count = last;
    if ((node & TAG_PRIMARY_MASK) == TAG_PRIMARY_BOXED)
        return open_node(slots, node & ~7ULL);
    if ((node & TAG_PRIMARY_MASK) != TAG_PRIMARY_LIST)
        return MATCH_UNKNOWN;
    result = fill_slots(slots, to, node & ~7ULL, 2);
    return result == MATCH_YES ? match_key(function, number) : result;
}

/* Search a map that is a tree. Interrupts are off: the limit is of all trees of a call. */
__noinline int match_tree(__u32 function, __u32 number, __u64 map)
{
    struct match_slots *slots = the_slots();

    if (!slots)
        return MATCH_UNKNOWN;
    slots->nodes[0] = map;
    slots->node_count = 1;
    for (__u32 i = 0; i < WIRE_MATCH_NODES && slots->visited < WIRE_MATCH_NODES; i++) {
        enum match_result result;

        if (!slots->node_count)
            return MATCH_NO;
        slots->visited++;
        result = match_node(function, number);
        if (result != MATCH_NO)
            return result;
    }
    return slots->node_count ? MATCH_UNKNOWN : MATCH_NO;
}

/* The same, and count the time. */
static __always_inline int match_tree_timed(struct match_slots *slots, __u32 function, __u32 number,
                                            __u64 map)
{
    __u64 began = bpf_ktime_get_ns();
    int result = match_tree(function, number, map);

    slots->search_ns += bpf_ktime_get_ns() - began;
    return result;
}

/* Take a step that finds a key of a map. */
__noinline int match_pair(__u32 function, __u32 number)
{
    const struct wire_match *match = bpf_map_lookup_elem(&matches, &function);
    struct match_slots *slots = the_slots();
    __u64 map, header;
    __u32 slot;

    if (!match || !slots || number >= WIRE_MATCH_STEPS)
        return MATCH_UNKNOWN;
    slot = match->steps[number].slot;
    if (!IS_BELOW(slot, WIRE_MATCH_SLOTS))
        return MATCH_UNKNOWN;
    map = slots->terms[slot];
    if ((map & TAG_PRIMARY_MASK) != TAG_PRIMARY_BOXED)
        return MATCH_NO;
    if (!read_user(&header, sizeof(header), map & ~7ULL))
        return MATCH_UNKNOWN;
    if (!is_map(header))
        return MATCH_NO;
    return type_of_map(header) == MAP_HEADER_TAG_FLATMAP_HEAD
               ? match_flat(function, number, map & ~7ULL)
               : match_tree_timed(slots, function, number, map);
}

/* ---- the call ---- */

/* Take all steps. */
__noinline int match_arguments(__u32 function)
{
    const struct wire_match *match = bpf_map_lookup_elem(&matches, &function);
    int result = MATCH_YES;

    if (!match)
        return MATCH_UNKNOWN;
    for (__u32 i = 0; i < WIRE_MATCH_STEPS && result == MATCH_YES; i++) {
        if (i >= match->count)
            break;
        result = match->steps[i].kind == WIRE_MATCH_PAIR ? match_pair(function, i)
                                                         : match_step(function, i);
    }
    return result;
}

/* Match the arguments of a call. `registers` is the address of X0. Add the time in which maps were
 * searched to `*search_ns`: it can be many times that of all else. */
static __always_inline enum match_result match_call(__u32 function, __u64 registers, __u32 arity,
                                                    __u64 *search_ns)
{
    const struct wire_match *match = bpf_map_lookup_elem(&matches, &function);
    struct match_slots *slots = the_slots();
    enum match_result result;

    if (!match || !match->count)
        return MATCH_YES;
    if (!slots || fill_slots(slots, 0, registers, arity) != MATCH_YES)
        return MATCH_UNKNOWN;
    slots->visited = slots->search_ns = 0;
    result = match_arguments(function);
    *search_ns += slots->search_ns;
    return result;
}

#endif
