// SPDX-License-Identifier: Apache-2.0
#include "beam/sampled_words.h"

#include <stddef.h>
#include <stdlib.h>

#include "vm_constants.h"

static int ascending(const void *a, const void *b)
{
    return *(const uint16_t *)a - *(const uint16_t *)b;
}

/* The words of samples, and the struct that each is in. */
enum sampled_struct { PROCESS, SCHEDULER };
static const struct {
    enum sampled_struct of;
    uint16_t row;  /* its index in struct layout, which consists of int32_t members */
    uint16_t plus; /* bytes behind the start of the field */
} sampled[] = {
#define WIRE_WORD(of, member, plus) {of, offsetof(struct layout, member) / sizeof(int32_t), plus},
#define WIRE_FIELD(of, member)      WIRE_WORD(of, member, 0)
#include "wire_fields.h"
};

enum {
    PROCESS_WORDS = 0
#define WIRE_WORD(of, member, plus) +((of) == PROCESS)
#define WIRE_FIELD(of, member)      WIRE_WORD(of, member, 0)
#include "wire_fields.h"
};
_Static_assert((int)PROCESS_WORDS <= (int)WIRE_WORDS, "room for all");

/* The words of this struct, each once. A field is -1 if this release does not have it. */
static struct wire_words words_of(const struct layout *layout, enum sampled_struct of, size_t limit)
{
    struct wire_words words = {.count = 0};
    uint16_t sorted[sizeof(sampled) / sizeof(*sampled)] = {0};
    size_t known = 0;

    for (size_t i = 0; i < sizeof(sampled) / sizeof(*sampled); i++) {
        int32_t field = ((const int32_t *)layout)[sampled[i].row];

        if (sampled[i].of == of && field >= 0 && (size_t)field + sampled[i].plus + 8 <= limit)
            sorted[known++] = (uint16_t)((field + sampled[i].plus) & ~7);
    }
    qsort(sorted, known, sizeof(*sorted), ascending);
    for (size_t i = 0; i < known; i++) {
        if (!words.count || sorted[i] != words.offsets[words.count - 1])
            words.offsets[words.count++] = sorted[i];
    }
    return words;
}

struct wire_words sampled_process_words(const struct layout *layout)
{
    return words_of(layout, PROCESS, (size_t)layout->sizeof_process);
}

struct wire_words sampled_scheduler_words(const struct layout *layout)
{
    return words_of(layout, SCHEDULER, WIRE_SCHEDULER_BYTES);
}
