// SPDX-License-Identifier: Apache-2.0
#include "profile/late_names.h"

#include <stdlib.h>
#include <string.h>

#include "profile/string_table.h"
#include "util/alloc.h"
#include "util/sorted.h"

void late_names_free(struct late_names *names)
{
    for (size_t i = 0; i < names->count; i++)
        free(names->list[i].symbol);
    free(names->list);
    *names = (struct late_names){0};
}

/* The number of names of frames before `frame`. */
static size_t count_before(const struct late_names *names, frame_id frame)
{
    return sorted_place(names->list, names->count, sizeof(*names->list), frame);
}

static bool is_at(const struct late_names *names, size_t at, frame_id frame)
{
    return at < names->count && names->list[at].frame == frame;
}

bool late_names_add(struct late_names *names, frame_id frame, uint64_t before, const char *symbol)
{
    size_t at = count_before(names, frame), size = strlen(symbol);
    size_t bytes = size + sizeof(*names->list);

    if (is_at(names, at, frame))
        return true;
    if (size > STRING_MAX || bytes > LATE_NAMES_BYTES_MAX - names->bytes)
        return false;
    names->list = xgrow(names->list, &names->room, names->count, sizeof(*names->list));
    memmove(&names->list[at + 1], &names->list[at], (names->count - at) * sizeof(*names->list));
    names->list[at] = (struct late_name){frame, before, xstrdup(symbol)};
    names->count++;
    names->bytes += bytes;
    return true;
}

const struct late_name *late_names_find(const struct late_names *names, frame_id frame)
{
    size_t at = count_before(names, frame);

    return is_at(names, at, frame) ? &names->list[at] : NULL;
}

void late_names_encode(const struct late_names *names, struct buffer *bytes)
{
    frame_id last = 0;

    buffer_varint(bytes, names->count);
    for (size_t i = 0; i < names->count; i++) {
        buffer_varint(bytes, names->list[i].frame - last);
        buffer_varint(bytes, names->list[i].before);
        buffer_counted(bytes, names->list[i].symbol);
        last = names->list[i].frame;
    }
}

static void decode_name(struct late_names *names, frame_id *last, struct cursor *cursor)
{
    uint32_t step = (uint32_t)cursor_varint(cursor, UINT32_MAX - *last, "frame is not defined");
    uint64_t before = cursor_varint(cursor, UINT64_MAX, "");
    size_t size = 0;
    const char *text = cursor_counted(cursor, STRING_MAX, &size);
    char *symbol;

    if (!step)
        cursor_fail(cursor, "names of frames are not in order");
    if (!size)
        cursor_fail(cursor, "name of a frame is empty");
    if (cursor->problem)
        return;
    *last += step;
    symbol = xstrndup(text, size);
    if (!late_names_add(names, *last, before, symbol))
        cursor_fail(cursor, "names of frames are too long");
    free(symbol);
}

void late_names_decode(struct late_names *names, struct cursor *cursor)
{
    uint64_t count = cursor_varint(cursor, UINT64_MAX, "");
    frame_id last = 0;

    for (uint64_t i = 0; i < count && !cursor->problem; i++)
        decode_name(names, &last, cursor);
}
