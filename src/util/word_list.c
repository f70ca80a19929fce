// SPDX-License-Identifier: Apache-2.0
#include "util/word_list.h"

#include <stdio.h>
#include <string.h>

void word_list_add(char *list, size_t size, const char *word)
{
    size_t used = strlen(list);

    snprintf(list + used, size - used, "%s%s", used ? ", " : "", word);
}

bool word_list_has(const char *list, const char *word)
{
    size_t size = strlen(word);

    for (const char *at = list; *at; at += strcspn(at, ",")) {
        at += *at == ',';
        at += *at == ' ';
        if (strcspn(at, ",") == size && !strncmp(at, word, size))
            return true;
    }
    return false;
}
