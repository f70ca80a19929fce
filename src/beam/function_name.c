// SPDX-License-Identifier: Apache-2.0
#include "beam/function_name.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char ELIXIR[] = "Elixir.";

/* Copy the atom or pattern at the start of the `size` bytes, quoted or not. It must take all of
 * them. */
static bool take_atom(const char *at, size_t size, char *atom, bool *is_pattern)
{
    bool quoted = size >= 2 && *at == '\'' && at[size - 1] == '\'';
    size_t used = 0;

    *is_pattern = !quoted && (memchr(at, '*', size) || (size == 1 && *at == '_'));
    if (quoted) {
        at++;
        size -= 2;
    }
    for (size_t i = 0; i < size; i++) {
        if (quoted && at[i] == '\\' && i + 1 < size)
            i++;
        if (used + 1 == FUNCTION_NAME_ATOM_BYTES)
            return false;
        atom[used++] = at[i];
    }
    if (*is_pattern && used == 1)
        *atom = '*'; /* for `_` */
    atom[used] = '\0';
    return used > 0;
}

/* Return the length of the text without its arity, the digits or `_` behind the last slash. Names
 * of funs have slashes too: '-run/1-fun-0-'. */
static size_t cut_arity(const char *text, uint32_t *arity)
{
    const char *slash = strrchr(text, '/');
    char *end;
    unsigned long value;

    *arity = FUNCTION_NAME_ANY_ARITY;
    if (slash && !strcmp(slash, "/_"))
        return (size_t)(slash - text);
    if (!slash || !isdigit((unsigned char)slash[1]))
        return strlen(text);
    value = strtoul(slash + 1, &end, 10);
    if (*end || value >= FUNCTION_NAME_ANY_ARITY)
        return strlen(text);
    *arity = (uint32_t)value;
    return (size_t)(slash - text);
}

/* The end of the module: the colon behind it, and for Elixir the last dot before the function. */
static const char *find_separator(const char *text, size_t size, bool *is_elixir)
{
    const char *colon = NULL, *dot = NULL;
    bool quoted = false;

    for (const char *at = text; at < text + size; at++) {
        if (*at == '\\')
            at++;
        else if (*at == '\'')
            quoted = !quoted;
        else if (*at == ':' && !quoted && !colon)
            colon = at;
        else if (*at == '.' && !quoted && (!dot || isupper((unsigned char)dot[1])))
            dot = at;
    }
    *is_elixir = !colon && isupper((unsigned char)*text);
    return *is_elixir ? dot : colon;
}

static bool parse(const char *text, struct function_name *name)
{
    size_t size = cut_arity(text, &name->arity), prefix = 0;
    bool is_elixir;
    const char *separator = find_separator(text, size, &is_elixir);

    if (!separator)
        return false;
    if (is_elixir && strncmp(text, ELIXIR, sizeof(ELIXIR) - 1) != 0)
        prefix = (size_t)snprintf(name->module, sizeof(name->module), "%s", ELIXIR);
    return (size_t)(separator - text) + prefix < FUNCTION_NAME_ATOM_BYTES &&
           take_atom(text, (size_t)(separator - text), name->module + prefix,
                     &name->module_is_pattern) &&
           take_atom(separator + 1, size - (size_t)(separator - text) - 1, name->function,
                     &name->function_is_pattern);
}

int function_name_parse(const char *text, struct function_name *name, struct error *error)
{
    struct function_name parsed = {0};

    if (!parse(text, &parsed))
        return error_set(error, ERROR_USAGE,
                         "'%s' is no function: write MODULE:FUNCTION/ARITY, such as lists:map/2 or "
                         "Enum.map/2",
                         text);
    *name = parsed;
    return 0;
}

bool function_name_fits(const char *pattern, const char *text)
{
    const char *star = NULL, *rest = NULL; /* the last star, and what it has not taken yet */

    while (*text) {
        if (*pattern == '*') {
            star = pattern++;
            rest = text;
        } else if (*pattern == *text) {
            pattern++;
            text++;
        } else if (star) {
            pattern = star + 1;
            text = ++rest;
        } else {
            return false;
        }
    }
    while (*pattern == '*')
        pattern++;
    return !*pattern;
}

static bool fits(const char *wanted, bool is_pattern, const char *text)
{
    return is_pattern ? function_name_fits(wanted, text) : !strcmp(wanted, text);
}

static bool fits_module(const struct function_name *name, const char *module)
{
    static const size_t prefix = sizeof(ELIXIR) - 1;

    return fits(name->module, name->module_is_pattern, module) ||
           (!strncmp(module, ELIXIR, prefix) &&
            fits(name->module, name->module_is_pattern, module + prefix));
}

bool function_name_matches(const struct function_name *name, const char *symbol)
{
    struct function_name function = {0};

    return parse(symbol, &function) &&
           (name->arity == FUNCTION_NAME_ANY_ARITY || name->arity == function.arity) &&
           fits(name->function, name->function_is_pattern, function.function) &&
           fits_module(name, function.module);
}
