/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * Find the trace that a process works for. OpenTelemetry keeps it in the process dictionary
 * (opentelemetry_api v1.5.0: src/otel_ctx.erl, src/otel_tracer.erl, include/opentelemetry.hrl; the
 * names are those of all releases since 0.5):
 *
 *      '$__current_otel_ctx' => #{{otel_tracer, span_ctx} => SpanCtx, ...}
 *      SpanCtx     {span_ctx, TraceId, SpanId, ...}                      9 elements, until 1.4
 *                  {span_ctx, TraceId, HexTraceId, SpanId, HexSpanId, ...}  11, since 1.5
 *
 * The process is the one that this thread runs, or one that no thread runs, so its terms do not
 * change meanwhile. They move while a collection runs: its traces are not read. All other terms are
 * read only if each has the form above.
 */
#ifndef BEAMFLAME_TRACE_H
#define BEAMFLAME_TRACE_H

#include "sample.h"
#include "vm_constants.h"

enum trace_found { TRACE_NONE, TRACE_FOUND, TRACE_UNKNOWN };

enum {
    TRACE_CHAIN = 8, /* entries of a slot of the dictionary, at most */
    TRACE_KEYS = 16, /* keys of a context, at most */
    TRACE_PAIR = 2 << HEADER_ARITY_OFFS | ARITYVAL_SUBTAG,
    TRACE_CTX_9 = 9 << HEADER_ARITY_OFFS | ARITYVAL_SUBTAG,
    TRACE_CTX_11 = 11 << HEADER_ARITY_OFFS | ARITYVAL_SUBTAG,
    TRACE_BIG_1 = 1 << HEADER_ARITY_OFFS | POS_BIG_SUBTAG,
    TRACE_BIG_2 = 2 << HEADER_ARITY_OFFS | POS_BIG_SUBTAG,
};

/* Read the object of a list or boxed term. */
static __always_inline bool trace_read(void *to, __u32 size, __u64 term)
{
    return !bpf_probe_read_user(to, size, (void *)(term & ~7ULL));
}

static __always_inline bool trace_is(__u64 term, enum tag_primary tag)
{
    return (term & TAG_PRIMARY_MASK) == tag;
}

/* All functions read into `words`, which has room for 6: three frames of a probe's programs fill
 * the 512 bytes of the BPF stack. */

/* Find the slot of the key. The hash of an atom is its index (erl_process_dict.c, MAKE_HASH() and
 * pd_hash_value_to_ix()). */
static __always_inline bool trace_slot(const struct wire_target *target, __u64 dictionary,
                                       __u64 *words)
{
    __u32 hash = target->trace.context >> TAG_IMMED2_SIZE, mask, at;

    words[0] = words[1] = 0;
    if (bpf_probe_read_user(&words[0], sizeof(mask),
                            (void *)(dictionary + target->procdict_size_mask)) ||
        bpf_probe_read_user(&words[1], sizeof(mask), (void *)(dictionary + target->procdict_used)))
        return false;
    mask = words[0];
    at = hash & mask;
    if (at >= (__u32)words[1])
        at = hash & mask >> 1;
    return !bpf_probe_read_user(&words[0], sizeof(words[0]),
                                (void *)(dictionary + target->procdict_data + 8ULL * at));
}

/* Find the context, and put it into words[0]. A slot is NIL, one entry, or a list of entries. */
static __always_inline enum trace_found trace_context(const struct wire_target *target,
                                                      __u64 dictionary, __u64 *words)
{
    __u64 *cell = words, *entry = words + 2;

    if (!trace_slot(target, dictionary, words))
        return TRACE_UNKNOWN;
    if (words[0] == TAG_IMMED2_NIL)
        return TRACE_NONE;
    cell[1] = words[0];
    for (__u32 i = 0; i < TRACE_CHAIN; i++) {
        barrier_var(i);
        cell[0] = cell[1];
        cell[1] = TAG_IMMED2_NIL;
        if (trace_is(cell[0], TAG_PRIMARY_LIST) && !trace_read(cell, 2 * sizeof(*cell), cell[0]))
            return TRACE_UNKNOWN;
        if (!trace_is(cell[0], TAG_PRIMARY_BOXED) ||
            !trace_read(entry, 3 * sizeof(*entry), cell[0]) || entry[0] != TRACE_PAIR)
            return TRACE_UNKNOWN;
        if (entry[1] == target->trace.context) {
            words[0] = entry[2];
            return TRACE_FOUND;
        }
        if (cell[1] == TAG_IMMED2_NIL)
            return TRACE_NONE;
    }
    return TRACE_UNKNOWN;
}

/* Find the value of the key {otel_tracer, span_ctx} in the context, and put it into words[0]. The
 * context is a map that is no tree, with the header, the number of keys, a tuple of the keys, and
 * the values. */
static __always_inline enum trace_found trace_span_ctx(const struct wire_target *target,
                                                       __u64 *words)
{
    const __u64 flat = MAP_HEADER_TYPE_MASK << HEADER_ARITY_OFFS | TAG_HEADER_MASK;
    __u64 context = words[0], *map = words, *key = words + 3;

    if (trace_is(context, TAG_PRIMARY_IMMED1)) /* undefined */
        return TRACE_NONE;
    if (!trace_is(context, TAG_PRIMARY_BOXED) || !trace_read(map, 3 * sizeof(*map), context) ||
        ((map[0] & flat) != MAP_SUBTAG_26 && (map[0] & flat) != MAP_SUBTAG_27) ||
        map[1] > TRACE_KEYS)
        return TRACE_UNKNOWN;
    for (__u32 i = 0; i < TRACE_KEYS && i < map[1]; i++) {
        barrier_var(i);
        if (!trace_read(key, sizeof(*key), (map[2] & ~7ULL) + 8 + 8ULL * i))
            return TRACE_UNKNOWN;
        if (!trace_is(key[0], TAG_PRIMARY_BOXED))
            continue;
        if (!trace_read(key, 3 * sizeof(*key), key[0]))
            return TRACE_UNKNOWN;
        if (key[0] == TRACE_PAIR && key[1] == target->trace.tracer &&
            key[2] == target->trace.span_ctx)
            return trace_read(words, sizeof(*words), (context & ~7ULL) + 24 + 8ULL * i)
                       ? TRACE_FOUND
                       : TRACE_UNKNOWN;
    }
    return TRACE_NONE;
}

/* Read an integer that is not negative into words[0] and words[1], the low one first. */
static __always_inline bool trace_integer(__u64 term, __u64 *words)
{
    words[0] = term >> TAG_IMMED1_SIZE;
    words[1] = 0;
    if ((term & TAG_IMMED1_MASK) == TAG_IMMED1_SMALL)
        return (__s64)term >= 0;
    if (!trace_is(term, TAG_PRIMARY_BOXED) || !trace_read(words, sizeof(*words), term))
        return false;
    term = (term & ~7ULL) + 8;
    return words[0] == TRACE_BIG_1 ? trace_read(words, 8, term)
                                   : words[0] == TRACE_BIG_2 && trace_read(words, 16, term);
}

/* Read the ids of the span context in words[0]. */
static __always_inline enum trace_found trace_ids(const struct wire_target *target, __u64 *words,
                                                  struct wire_trace *trace)
{
    __u64 span_ctx = words[0];

    if (trace_is(span_ctx, TAG_PRIMARY_IMMED1)) /* undefined */
        return TRACE_NONE;
    if (!trace_is(span_ctx, TAG_PRIMARY_BOXED) ||
        !trace_read(words, 5 * sizeof(*words), span_ctx) || words[1] != target->trace.span_ctx ||
        (words[0] != TRACE_CTX_9 && words[0] != TRACE_CTX_11))
        return TRACE_UNKNOWN;
    words[5] = words[0] == TRACE_CTX_9 ? words[3] : words[4];
    if (!trace_integer(words[2], words))
        return TRACE_UNKNOWN;
    trace->trace_low = words[0];
    trace->trace_high = words[1];
    if (!trace_integer(words[5], words) || words[1])
        return TRACE_UNKNOWN;
    trace->span = words[0];
    /* A span of a tracer that does nothing has ids of 0. */
    return (trace->trace_low || trace->trace_high) && trace->span ? TRACE_FOUND : TRACE_NONE;
}

/* Add the region of the trace, if the process has one. Called where the target has traces. */
__noinline int put_trace(__u32 at, __u64 dictionary, __u32 state)
{
    struct scratch *scratch = scratch_at(at);
    struct wire_target *target;
    struct wire_trace *trace;
    enum trace_found found;

    if (!scratch)
        return 0;
    target = bpf_map_lookup_elem(&targets, &scratch->sample.pid);
    trace = room(scratch);
    if (!target || !trace)
        return 0;
    found =
        state & ERTS_PSFLG_GC ? TRACE_UNKNOWN : trace_context(target, dictionary, scratch->trace);
    if (found == TRACE_FOUND)
        found = trace_span_ctx(target, scratch->trace);
    if (found == TRACE_FOUND)
        found = trace_ids(target, scratch->trace, trace);
    if (found == TRACE_FOUND)
        sample_add_region(scratch, REGION_TRACE, 0, sizeof(*trace));
    if (found == TRACE_UNKNOWN)
        scratch->sample.flags |= WIRE_TRACE_UNKNOWN;
    return found;
}

#endif
