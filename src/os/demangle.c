// SPDX-License-Identifier: Apache-2.0
#include "os/demangle.h"

#include <ctype.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "os/demangle_rust.h"

/* libstdc++; <cxxabi.h> is for C++ only. */
/* NOLINTNEXTLINE(bugprone-reserved-identifier): it is what C++ reserves such names for */
char *__cxa_demangle(const char *name, char *buffer, size_t *size, int *status);

/* A back reference to an earlier part of the name can double the length of the result, so a hostile
 * file could ask for gigabytes. Names beyond these bounds stay mangled. */
enum { LONGEST_NAME = 1024, MOST_REFERENCES = 20 };

/* Count "S_", "S1A_", "T_", "T0_": back references of the Itanium C++ ABI, 5.1.10. */
static int count_references(const char *name)
{
    int count = 0;

    for (; *name; name++) {
        const char *end = name + 1;

        if (*name != 'S' && *name != 'T')
            continue;
        while (isdigit((unsigned char)*end) || isupper((unsigned char)*end))
            end++;
        count += *end == '_';
    }
    return count;
}

/* True if `text` may follow the parameter list. */
static bool is_qualifier(const char *text)
{
    return text[0] == '\0' || strncmp(text, " const", 6) == 0 ||
           strncmp(text, " volatile", 9) == 0 || strncmp(text, " &", 2) == 0 ||
           strncmp(text, " [", 2) == 0;
}

/* Cut off the parameter list and what follows it (" const", " [clone .cold]"). */
static void drop_parameters(char *name)
{
    char *close = strrchr(name, ')');
    int depth = 0;

    if (!close || !is_qualifier(close + 1))
        return;
    for (char *at = close; at > name; at--) {
        depth += *at == ')';
        depth -= *at == '(';
        if (depth == 0) {
            *at = '\0';
            return;
        }
    }
}

static char *demangle_cpp(const char *name)
{
    char *text;
    int status;

    if (strncmp(name, "_Z", 2) != 0 || strlen(name) > LONGEST_NAME ||
        count_references(name) > MOST_REFERENCES)
        return NULL;
    text = __cxa_demangle(name, NULL, NULL, &status);
    if (text)
        drop_parameters(text);
    return text;
}

char *demangle(const char *name)
{
    char *text = demangle_rust(name); /* first: to C++, older names of Rust are names of C++ */

    return text ? text : demangle_cpp(name);
}
