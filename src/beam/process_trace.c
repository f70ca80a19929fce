// SPDX-License-Identifier: Apache-2.0
#include "beam/process_trace.h"

#include <string.h>

#include "beam/process_info.h"
#include "beam/term.h"
#include "native/memory.h"
#include "vm_constants.h"

enum {
    CHAIN_MAX = 64, /* entries of a slot of the dictionary */
    KEYS_MAX = 32,  /* of a map that is no tree */
    BIG_WORDS = 2,
};

struct reader {
    const struct vm *vm;
    const struct wire_trace_atoms *atoms;
    struct read_cache cache;
};

/* Read the first words of the object that a list or boxed term points to. */
static bool read_words(struct reader *reader, uint64_t term, uint64_t *words, size_t count)
{
    return memory_read_cached(&reader->cache, term_address(term), words, count * sizeof(*words));
}

/* Read the first `count` words of a tuple of this arity: its header, then elements. */
static bool read_tuple(struct reader *reader, uint64_t term, uint64_t arity, uint64_t *words,
                       size_t count)
{
    return term_is_boxed(term) && read_words(reader, term, words, count) &&
           words[0] == (arity << HEADER_ARITY_OFFS | ARITYVAL_SUBTAG);
}

/* ---- the dictionary ---- */

/* Read the slot of the context. The hash of an atom is its index (erl_process_dict.c, MAKE_HASH()
 * and pd_hash_value_to_ix()). */
static bool read_slot(struct reader *reader, uint64_t dictionary, uint64_t *slot)
{
    const struct layout *layout = &reader->vm->layout;
    uint32_t hash = (uint32_t)term_atom_index(reader->atoms->context), mask, used, at;

    if (!memory_read_cached(&reader->cache, dictionary + (uint64_t)layout->procdict_size_mask,
                            &mask, sizeof(mask)) ||
        !memory_read_cached(&reader->cache, dictionary + (uint64_t)layout->procdict_used, &used,
                            sizeof(used)))
        return false;
    at = hash & mask;
    if (at >= used)
        at = hash & mask >> 1;
    return memory_read_cached(&reader->cache,
                              dictionary + (uint64_t)layout->procdict_data + at * sizeof(*slot),
                              slot, sizeof(*slot));
}

/* Find the context. A slot is NIL, one entry, or a list of entries. */
static enum process_trace find_context(struct reader *reader, uint64_t dictionary,
                                       uint64_t *context)
{
    uint64_t rest, entry[3];

    if (!read_slot(reader, dictionary, &rest))
        return PROCESS_TRACE_UNKNOWN;
    for (int i = 0; i < CHAIN_MAX; i++) {
        uint64_t cell[2] = {rest, TAG_IMMED2_NIL};

        if (rest == TAG_IMMED2_NIL)
            return PROCESS_TRACE_NONE;
        if ((term_is_list(rest) && !read_words(reader, rest, cell, 2)) ||
            !read_tuple(reader, cell[0], 2, entry, 3))
            return PROCESS_TRACE_UNKNOWN;
        if (entry[1] == reader->atoms->context) {
            *context = entry[2];
            return PROCESS_TRACE_FOUND;
        }
        rest = cell[1];
    }
    return PROCESS_TRACE_UNKNOWN;
}

/* ---- the context ---- */

/* True if the term is the key {otel_tracer, span_ctx}; -1 if it can't be read. */
static int is_key(struct reader *reader, uint64_t term)
{
    uint64_t words[3];

    if (!term_is_boxed(term))
        return 0;
    if (!read_words(reader, term, words, 1))
        return -1;
    if (words[0] != (2 << HEADER_ARITY_OFFS | ARITYVAL_SUBTAG))
        return 0;
    if (!read_words(reader, term, words, 3))
        return -1;
    return words[1] == reader->atoms->tracer && words[2] == reader->atoms->span_ctx;
}

/* Find the span context: a value of the context, which is a map that is no tree: header, number of
 * keys, tuple of the keys, values. */
static enum process_trace find_span_ctx(struct reader *reader, uint64_t context, uint64_t *span_ctx)
{
    uint64_t map[3], keys[1 + KEYS_MAX];

    if (term_is_immediate(context)) /* undefined */
        return PROCESS_TRACE_NONE;
    if (!term_is_boxed(context) || !read_words(reader, context, map, 3) ||
        !term_is_flat_map(map[0]) || map[1] > KEYS_MAX ||
        !memory_read_cached(&reader->cache, term_address(map[2]), keys,
                            (1 + map[1]) * sizeof(*keys)))
        return PROCESS_TRACE_UNKNOWN;
    for (uint64_t i = 0; i < map[1]; i++) {
        int found = is_key(reader, keys[1 + i]);

        if (found < 0)
            return PROCESS_TRACE_UNKNOWN;
        if (found)
            return memory_read_cached(&reader->cache,
                                      term_address(context) + (3 + i) * sizeof(*span_ctx), span_ctx,
                                      sizeof(*span_ctx))
                       ? PROCESS_TRACE_FOUND
                       : PROCESS_TRACE_UNKNOWN;
    }
    return PROCESS_TRACE_NONE;
}

/* ---- ids ---- */

/* Read an integer that is not negative, the low word first. */
static bool read_integer(struct reader *reader, uint64_t term, uint64_t words[BIG_WORDS])
{
    uint64_t big[1 + BIG_WORDS], count;

    words[0] = words[1] = 0;
    if (term_is_small(term)) {
        words[0] = (uint64_t)term_small(term);
        return term_small(term) >= 0;
    }
    if (!term_is_boxed(term) || !read_words(reader, term, big, 1) ||
        term_header_kind(big[0]) != POS_BIG_SUBTAG)
        return false;
    count = term_header_words(big[0]);
    if (count > BIG_WORDS || !read_words(reader, term, big, 1 + count))
        return false;
    memcpy(words, &big[1], count * sizeof(*words));
    return true;
}

/* The record has 9 elements until opentelemetry_api 1.4, and 11 since 1.5: the id of the span is
 * behind the trace's, or behind the trace's in hexadecimal. */
static enum process_trace read_ids(struct reader *reader, uint64_t span_ctx,
                                   struct wire_trace *trace)
{
    enum { ELEMENTS_OLD = 9, ELEMENTS_NEW = 11 };
    uint64_t record[5], id[BIG_WORDS], span[BIG_WORDS];
    bool is_old;

    if (term_is_immediate(span_ctx)) /* undefined */
        return PROCESS_TRACE_NONE;
    is_old = read_tuple(reader, span_ctx, ELEMENTS_OLD, record, 5);
    if ((!is_old && !read_tuple(reader, span_ctx, ELEMENTS_NEW, record, 5)) ||
        record[1] != reader->atoms->span_ctx || !read_integer(reader, record[2], id) ||
        !read_integer(reader, record[is_old ? 3 : 4], span) || span[1])
        return PROCESS_TRACE_UNKNOWN;
    *trace = (struct wire_trace){.trace_high = id[1], .trace_low = id[0], .span = span[0]};
    /* A span of a tracer that does nothing has ids of 0. */
    return (id[0] || id[1]) && span[0] ? PROCESS_TRACE_FOUND : PROCESS_TRACE_NONE;
}

/* True if the process has run since its struct was copied, or may have: a layout of hostile DWARF
 * can have a larger struct than any VM. */
static bool has_run(const struct vm *vm, uint64_t address, const uint8_t *process)
{
    size_t size = (size_t)vm->layout.sizeof_process;
    uint8_t again[WIRE_PROCESS_BYTES];

    return size > sizeof(again) || !memory_read(vm->memory, address, again, size) ||
           process_info_has_run(vm, process, again);
}

enum process_trace process_trace_read(const struct vm *vm, const struct wire_trace_atoms *atoms,
                                      uint64_t address, const uint8_t *process,
                                      struct wire_trace *trace)
{
    uint64_t dictionary = layout_word(process, vm->layout.process_dictionary), term;
    struct reader reader = {.vm = vm, .atoms = atoms};
    enum process_trace found;

    if (!dictionary)
        return PROCESS_TRACE_NONE;
    if (process_info_state(vm, process) & ERTS_PSFLG_GC) /* terms move */
        return PROCESS_TRACE_UNKNOWN;
    read_cache_init(&reader.cache, vm->memory);
    found = find_context(&reader, dictionary, &term);
    if (found == PROCESS_TRACE_FOUND)
        found = find_span_ctx(&reader, term, &term);
    if (found == PROCESS_TRACE_FOUND)
        found = read_ids(&reader, term, trace);
    return has_run(vm, address, process) ? PROCESS_TRACE_UNKNOWN : found;
}
