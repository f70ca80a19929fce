// SPDX-License-Identifier: Apache-2.0
#include "util/attribute_list.h"

#include <ctype.h>
#include <string.h>

#include "util/alloc.h"
#include "util/encode.h"
#include "util/utf8.h"

static bool must_escape(const char *text, size_t at)
{
    unsigned char byte = (unsigned char)text[at];

    return byte >= 0x80 || !(isalnum(byte) || strchr("-._~/:@", byte));
}

void attribute_list_put(struct buffer *list, const char *key, const char *value)
{
    if (list->size)
        buffer_byte(list, ',');
    encode_escapes(list, key, strlen(key), must_escape);
    buffer_byte(list, '=');
    encode_escapes(list, value, strlen(value), must_escape);
}

/* Replace the text by `size` bytes without blanks around them. A variable of the environment can
 * have any bytes, and escapes stand for any. */
static void set(struct buffer *text, const char *from, size_t size)
{
    struct buffer raw = {0};

    while (size && isspace((unsigned char)*from)) {
        from++;
        size--;
    }
    while (size && isspace((unsigned char)from[size - 1]))
        size--;
    encode_undo_escapes(&raw, from, size);
    text->size = 0;
    text->size = utf8_clean(buffer_reserve(text, 3 * raw.size), raw.data, raw.size);
    buffer_byte(text, '\0');
    buffer_free(&raw);
}

bool attribute_list_next(const char **at, struct buffer *key, struct buffer *value)
{
    while (**at) {
        const char *start = *at;
        size_t size = strcspn(start, ",");
        const char *equals = memchr(start, '=', size);

        *at = start + size + (start[size] == ',');
        if (!equals)
            continue;
        set(key, start, (size_t)(equals - start));
        set(value, equals + 1, size - (size_t)(equals + 1 - start));
        return true;
    }
    return false;
}

char *attribute_list_find(const char *list, const char *key)
{
    struct buffer name = {0}, value = {0};
    char *found = NULL;

    while (!found && attribute_list_next(&list, &name, &value))
        if (!strcmp(name.data, key))
            found = xstrdup(value.data);
    buffer_free(&name);
    buffer_free(&value);
    return found;
}
