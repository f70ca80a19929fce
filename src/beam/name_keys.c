// SPDX-License-Identifier: Apache-2.0
#include "beam/name_keys.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "util/utf8.h"

static const char ELIXIR[] = "Elixir.";

/* The atom or text under construction. */
struct atom_text {
    char *bytes;
    size_t size;
    bool is_full;
    enum name_key_kind kind;
};

static void put(struct atom_text *atom, const char *bytes, size_t size)
{
    if (atom->size + size >= NAME_KEY_BYTES) {
        atom->is_full = true;
        return;
    }
    memcpy(atom->bytes + atom->size, bytes, size);
    atom->size += size;
    atom->bytes[atom->size] = '\0';
}

/* Take an atom in quotes. Return the text behind the closing quote; NULL if there is none, or if it
 * has an escape other than that of a quote or a backslash. */
static const char *take_quoted(const char *text, char quote, struct atom_text *atom)
{
    for (; *text && *text != quote; text++) {
        if (*text == '\\' && !strchr("'\"\\", *++text))
            return NULL;
        if (!*text)
            return NULL;
        put(atom, text, 1);
    }
    return *text ? text + 1 : NULL;
}

static bool is_bare(char character)
{
    return character == '\0' ? false
                             : (unsigned char)character > ' ' && !strchr("/'\"\\:,{}", character);
}

/* Take an atom without quotes. A capital letter begins an alias of Elixir. */
static const char *take_bare(const char *text, bool can_be_alias, struct atom_text *atom)
{
    size_t size = 0;

    while (is_bare(text[size]))
        size++;
    if (can_be_alias && isupper((unsigned char)*text) && strncmp(text, ELIXIR, strlen(ELIXIR)) != 0)
        put(atom, ELIXIR, strlen(ELIXIR));
    put(atom, text, size);
    return text + size;
}

static const char *take_atom(const char *text, struct atom_text *atom)
{
    bool colon = *text == ':';

    text += colon;
    return *text == (colon ? '"' : '\'') ? take_quoted(text + 1, *text, atom)
                                         : take_bare(text, !colon, atom);
}

/* Take the end of a binary, behind its text. */
static const char *take_end(const char *text)
{
    static const char *const ends[] = {">>", "/utf8>>"};

    for (size_t i = 0; text && i < sizeof(ends) / sizeof(*ends); i++)
        if (!strncmp(text, ends[i], strlen(ends[i])))
            return text + strlen(ends[i]);
    return NULL;
}

/* Take the key that `text` begins with. Return what follows it; NULL if it is none. */
static const char *take_key(const char *text, struct atom_text *atom)
{
    if (*text == '"') {
        atom->kind = NAME_KEY_STRING;
        return take_quoted(text + 1, '"', atom);
    }
    if (!strncmp(text, "<<", 2)) {
        atom->kind = NAME_KEY_BINARY;
        return text[2] == '"' ? take_end(take_quoted(text + 3, '"', atom)) : NULL;
    }
    return take_atom(text, atom);
}

/* At most 255 characters, in UTF-8. */
static bool is_atom(const struct atom_text *atom)
{
    size_t characters = 0, length;
    uint32_t point;

    for (size_t at = 0; at < atom->size; at += length, characters++) {
        length = utf8_decode(atom->bytes + at, atom->size - at, &point);
        if (!length)
            return false;
    }
    return !atom->is_full && characters > 0 && characters <= 255;
}

static int take_number(const char *text, uint32_t *element)
{
    char *end;
    unsigned long value = strtoul(text, &end, 10);

    *element = value <= NAME_ELEMENT_MAX ? (uint32_t)value : 0;
    return *end || !*element ? -1 : 0;
}

static int take_map_key(const char *text, struct name_key *key)
{
    struct atom_text atom = {.bytes = key->map_key};
    const char *end = *text == '-' ? NULL : take_key(text, &atom); /* a number is none */

    key->map_key_kind = atom.kind;
    return end && !*end && is_atom(&atom) ? 0 : -1;
}

static int take_element(const char *text, struct name_key *key)
{
    key->element = 0;
    key->map_key[0] = '\0';
    if (!*text)
        return 0;
    if (*text != '/')
        return -1;
    return isdigit((unsigned char)text[1]) ? take_number(text + 1, &key->element)
                                           : take_map_key(text + 1, key);
}

int name_keys_add(struct name_keys *keys, const char *text, struct error *error)
{
    struct name_key *key = &keys->keys[keys->count];
    struct atom_text atom;
    const char *rest;

    if (keys->count == NAME_KEYS_MAX)
        return error_set(error, ERROR_USAGE, "at most %d keys can be given by --name-by",
                         NAME_KEYS_MAX);
    atom = (struct atom_text){.bytes = key->atom};
    rest = take_key(text, &atom);
    key->kind = atom.kind;
    if (!rest || !is_atom(&atom) || take_element(rest, key))
        return error_set(
            error, ERROR_USAGE,
            "--name-by takes an atom or a text in double quotes, and perhaps / and the "
            "number of an element of a tuple (1 to %d) or a key of a map, such as "
            "shop_id, shop_id/2, shop/id or \"shop id\", not '%s'",
            NAME_ELEMENT_MAX, text);
    keys->count++;
    return 0;
}
