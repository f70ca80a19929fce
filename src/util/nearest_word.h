// SPDX-License-Identifier: Apache-2.0
/* Finds the word that a user meant: "did you mean 'password_file'?" */
#pragma once

#include <stddef.h>

struct nearest_word {
    const char *typed;
    const char *word; /* borrowed; NULL: none is near */
    size_t distance;  /* of `word`; a word must be nearer to replace it */
};

/* Begin a search for the word nearest to `typed`. */
struct nearest_word nearest_word_begin(const char *typed);

/* Take `word` if it is nearer than all before. */
void nearest_word_consider(struct nearest_word *nearest, const char *word);
