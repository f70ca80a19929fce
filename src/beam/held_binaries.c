// SPDX-License-Identifier: Apache-2.0
/*
 * The binaries that a process refers to: those that process_info(binary) lists (erl_bif_info.c
 * 25.2.3:2004, 27.3.4.1:2117, 29.1.1:2135), each counted once. References to binaries are in linked
 * lists, together with objects of other kinds:
 *
 *   until 26   header | size | next | Binary * | ...   ProcBin (global.h 25.2.3:272)
 *   from 27    header | Binary * | next                BinRef (erl_bits.h 27.3.4.1:121, 29.1.1:135)
 *
 * Each heap and each heap fragment has such a list. From 25 on there is also a list of the binaries
 * that the process appends to. Some releases omit it (features.omits_writable_binaries), and so
 * does this file.
 */
#include <stdlib.h>
#include <string.h>

#include "beam/process_walk.h"
#include "beam/term.h"
#include "util/buffer.h"

enum { FRAGMENT_MAX = 64, REFERENCE_WORDS = 4, SIZES_AT_ONCE = 64 };

static bool add_references(struct process_walk *walk, uint64_t address, struct buffer *binaries)
{
    bool old = !walk->vm->features.binaries_in_bits;
    enum thing_subtag kind = old ? REFC_BINARY_SUBTAG : BIN_REF_SUBTAG;
    int32_t next = walk->vm->layout.off_heap_next;
    uint64_t words[REFERENCE_WORDS];
    size_t size = old ? sizeof(words) : sizeof(words) - sizeof(*words);

    if (next < 0 || (size_t)next + sizeof(*words) > size)
        return false;
    while (address) {
        if (!process_walk_read(walk, address, words, size) || !term_is_header(words[0]))
            return false;
        if (term_header_kind(words[0]) == kind)
            buffer_put(binaries, &words[old ? 3 : 1], sizeof(*words));
        address = words[next / 8];
    }
    return true;
}

static bool add_fragments(struct process_walk *walk, struct buffer *binaries)
{
    const struct layout *layout = &walk->vm->layout;
    size_t size = (size_t)layout->heap_fragment_mem;
    uint8_t bytes[FRAGMENT_MAX];
    uint64_t address, first;

    if (!process_walk_field(walk, layout->process_mbuf, &address) ||
        layout->heap_fragment_mem < 0 || size > sizeof(bytes))
        return false;
    while (address) {
        if (!process_walk_read(walk, address, bytes, size) ||
            !process_walk_part(bytes, size, layout->heap_fragment_off_heap, 8, &first) ||
            !process_walk_part(bytes, size, layout->heap_fragment_next, 8, &address) ||
            !add_references(walk, first, binaries))
            return false;
    }
    return true;
}

static int ascending(const void *a, const void *b)
{
    uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;

    return left < right ? -1 : left > right;
}

/* Leave each binary once. Return how many there are. */
static size_t unique(uint64_t *binaries, size_t count)
{
    size_t kept = 0;

    qsort(binaries, count, sizeof(*binaries), ascending);
    for (size_t i = 0; i < count; i++)
        if (i == 0 || binaries[i] != binaries[i - 1])
            binaries[kept++] = binaries[i];
    return kept;
}

/* Add the sizes of at most SIZES_AT_ONCE binaries. */
static bool add_sizes(struct process_walk *walk, const uint64_t *binaries, size_t count,
                      uint64_t *sum)
{
    struct memory_span spans[SIZES_AT_ONCE];
    uint64_t sizes[SIZES_AT_ONCE];

    for (size_t i = 0; i < count; i++)
        spans[i] = (struct memory_span){binaries[i] + (uint64_t)walk->vm->layout.binary_orig_size,
                                        &sizes[i], sizeof(sizes[i]), false};
    if (!process_walk_read_spans(walk, spans, count))
        return false;
    for (size_t i = 0; i < count; i++)
        *sum += sizes[i];
    return true;
}

static bool sum_sizes(struct process_walk *walk, struct buffer *binaries, uint64_t *sum)
{
    uint64_t *all = (uint64_t *)(void *)binaries->data;
    size_t count = binaries->size ? unique(all, binaries->size / sizeof(*all)) : 0;

    *sum = 0;
    for (size_t at = 0; at < count; at += SIZES_AT_ONCE) {
        size_t left = count - at;

        if (!add_sizes(walk, all + at, left < SIZES_AT_ONCE ? left : SIZES_AT_ONCE, sum))
            return false;
    }
    return true;
}

static uint64_t writable_binaries(const struct process_walk *walk)
{
    uint64_t first;

    if (walk->vm->features.omits_writable_binaries)
        return 0;
    return process_walk_field(walk, walk->vm->layout.process_wrt_bins, &first) ? first : 0;
}

bool held_binaries_walk(struct process_walk *walk, uint64_t *size)
{
    const struct layout *layout = &walk->vm->layout;
    struct buffer binaries = {0};
    uint64_t first;
    bool known = layout->binary_orig_size >= 0 &&
                 process_walk_field(walk, layout->process_off_heap_first, &first) &&
                 add_references(walk, first, &binaries) &&
                 add_references(walk, writable_binaries(walk), &binaries) &&
                 add_fragments(walk, &binaries) && sum_sizes(walk, &binaries, size);

    buffer_free(&binaries);
    return known;
}
