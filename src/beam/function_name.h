// SPDX-License-Identifier: Apache-2.0
/* Names of functions as users write them. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "util/error.h"

enum {
    FUNCTION_NAME_ATOM_BYTES = 255 * 4 + 1, /* an atom has at most 255 characters */
    FUNCTION_NAME_ANY_ARITY = 256,
};

struct function_name {
    char module[FUNCTION_NAME_ATOM_BYTES],
        function[FUNCTION_NAME_ATOM_BYTES];      /* as in the atom table */
    bool module_is_pattern, function_is_pattern; /* of function_name_fits() */
    uint32_t arity;                              /* FUNCTION_NAME_ANY_ARITY: not given */
};

/* Parse MOD:FUN, MOD:FUN/ARITY, or the same with a dot as Elixir writes it: lists:map/2,
 * 'my mod':'f g'/1, Enum.map/2, 'Elixir.Enum':map. Without quotes, `_` stands for any name or
 * arity, and `*` for any characters: lists:_/_, shop_*:handle_*. Return 0, or -1 with
 * ERROR_USAGE. */
int function_name_parse(const char *text, struct function_name *name, struct error *error);

/* True if the text fits the pattern, in which `*` stands for any characters, and nothing else is
 * special: names of Elixir have `?`. */
bool function_name_fits(const char *pattern, const char *text);

/* True if a function, written as frames show it ("lists:map/2", "Enum.map/2"), has this name or
 * fits this pattern. A pattern of modules also fits what Elixir writes without "Elixir.". */
bool function_name_matches(const struct function_name *name, const char *symbol);
