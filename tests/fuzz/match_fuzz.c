// SPDX-License-Identifier: Apache-2.0
/*
 * Read bytes as a pattern of arguments, and as the memory that the kernel matches by it
 * (libFuzzer). The first byte selects the form of maps and binaries. The pattern ends with the
 * first zero; words follow, of which most that look like pointers are moved into the memory.
 */
#include <stdlib.h>
#include <string.h>

#include "../unit/fake_names.h"
#include "../unit/kernel_match.h"
#include "calls/call_match.h"
#include "util/alloc.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { WORDS_MAX = 256, CHOICE_BYTES = 1 };

static void check(bool holds)
{
    if (!holds)
        abort();
}

/* Lists and boxed terms point into the memory. */
static uint64_t word_of(uint64_t word, uint64_t base, size_t count)
{
    bool is_pointer = (word & 3) == 1 || (word & 3) == 2;

    return is_pointer ? base + (word >> 3) % count * 8 + (word & 3) : word;
}

static uint64_t put_words(struct fake_target *target, const uint8_t *words, size_t count)
{
    uint64_t base = fake_room(target, count * sizeof(uint64_t)), word;

    for (size_t i = 0; i < count; i++) {
        memcpy(&word, words + i * sizeof(word), sizeof(word));
        fake_put_u64(target, base + i * sizeof(word), word_of(word, base, count));
    }
    return base;
}

/* All that steps name is in the kernel's maps. */
static void check_steps(const struct wire_match *match)
{
    check(match->count <= WIRE_MATCH_STEPS);
    for (size_t i = 0; i < match->count; i++) {
        const struct wire_match_step *step = &match->steps[i];

        check(step->slot < WIRE_MATCH_SLOTS && step->to < WIRE_MATCH_SLOTS);
        check(step->kind == WIRE_MATCH_EQUAL || step->value < WIRE_MATCH_BYTE_ROWS);
        check(step->kind != WIRE_MATCH_PAIR || i + step->size < match->count);
    }
}

static void match_words(const struct match_pattern *pattern, const uint8_t *words, size_t count,
                        bool in_bits)
{
    static const char *const atom_names[] = {"ok", "a", "true"};
    struct fake_names fake;
    struct error error = {0};

    fake_names_start(&fake, in_bits ? 27 : 25, atom_names, 3);
    if (call_match_make(pattern, &fake.names, &kernel_pattern, &error)) {
        check(error.code == ERROR_USAGE && error.text[0]);
    } else {
        check_steps(&kernel_pattern);
        if (count)
            kernel_match(fake.target, in_bits, put_words(fake.target, words, count),
                         pattern->name.arity);
    }
    fake_names_stop(&fake);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct match_pattern pattern;
    struct error error = {0};
    size_t used, count;
    char *text;

    if (!size)
        return 0;
    text = xstrndup((const char *)data + CHOICE_BYTES, size - CHOICE_BYTES);
    used = CHOICE_BYTES + strlen(text) + 1;
    count = used < size ? (size - used) / sizeof(uint64_t) : 0;
    if (match_pattern_parse(text, &pattern, &error))
        check(error.code == ERROR_USAGE && error.text[0]);
    else
        match_words(&pattern, data + used, count < WORDS_MAX ? count : WORDS_MAX, data[0] & 1);
    free(text);
    return 0;
}
