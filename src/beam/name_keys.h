// SPDX-License-Identifier: Apache-2.0
/* Keys of process dictionaries that a user has named: their values name processes. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "util/error.h"

enum {
    NAME_KEYS_MAX = 8,
    NAME_KEY_BYTES = 255 * 4 + 1, /* an atom has at most 255 characters */
    NAME_ELEMENT_MAX = 255,
};

enum name_key_kind {
    NAME_KEY_ATOM,
    NAME_KEY_BINARY,
    NAME_KEY_STRING, /* a binary as Elixir writes it, or a list of characters as Erlang does */
};

struct name_key {
    char atom[NAME_KEY_BYTES];    /* as in the atom table; or the text of the key in UTF-8 */
    uint32_t element;             /* of the value, a tuple: 1 is its first; 0: not selected */
    char map_key[NAME_KEY_BYTES]; /* of the value, a map: as `atom`; "": not selected */
    enum name_key_kind kind, map_key_kind;
};

struct name_keys {
    struct name_key keys[NAME_KEYS_MAX]; /* the first that a process has counts */
    size_t count;
};

/* Add KEY[/ELEMENT]. ELEMENT is a number, or as KEY is. KEY is an atom as Erlang or Elixir writes
 * it: shop_id, 'shop id', :shop_id, :"shop id", Shop.Id; other characters but quotes, spaces and /
 * need no quotes, because a shell removes them. Or KEY is a text: "shop id", <<"shop id">>. Return
 * 0, or -1 with ERROR_USAGE. */
int name_keys_add(struct name_keys *keys, const char *text, struct error *error);
