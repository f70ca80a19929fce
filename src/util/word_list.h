// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* Append a word to the list "a, b, c", which is "" at first. A list that would be longer than
 * `size` bytes is cut. */
void word_list_add(char *list, size_t size, const char *word);

/* True if the list "a, b" or "a,b" has the word. */
bool word_list_has(const char *list, const char *word);
