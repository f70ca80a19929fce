// SPDX-License-Identifier: Apache-2.0
#include "util/nearest_word.h"

#include <string.h>

enum { WORD_BYTES_MAX = 255 };

static size_t least(size_t a, size_t b, size_t c)
{
    size_t smaller = a < b ? a : b;

    return smaller < c ? smaller : c;
}

/* The number of bytes to insert, remove or replace to make one text of the other (Levenshtein).
 * Texts are cut at WORD_BYTES_MAX bytes. */
static size_t distance(const char *a, const char *b)
{
    size_t row[WORD_BYTES_MAX + 1];
    size_t a_size = strnlen(a, WORD_BYTES_MAX), b_size = strnlen(b, WORD_BYTES_MAX);

    for (size_t j = 0; j <= b_size; j++)
        row[j] = j;
    for (size_t i = 1; i <= a_size; i++) {
        size_t diagonal = row[0];

        row[0] = i;
        for (size_t j = 1; j <= b_size; j++) {
            size_t above = row[j];

            row[j] = least(above + 1, row[j - 1] + 1, diagonal + (a[i - 1] != b[j - 1]));
            diagonal = above;
        }
    }
    return row[b_size];
}

struct nearest_word nearest_word_begin(const char *typed)
{
    return (struct nearest_word){.typed = typed,
                                 .distance = 2 + strnlen(typed, WORD_BYTES_MAX) / 4};
}

/* A word that contains the typed text is as near as a word with two mistakes. */
void nearest_word_consider(struct nearest_word *nearest, const char *word)
{
    size_t size = strlen(nearest->typed), own = strlen(word), far;
    size_t longer = own > size ? own - size : size - own;

    if (!own)
        return;
    far = longer < nearest->distance ? distance(word, nearest->typed) : longer;
    if (far > 2 && strcasestr(word, nearest->typed))
        far = 2;
    if (far < nearest->distance) {
        nearest->word = word;
        nearest->distance = far;
    }
}
