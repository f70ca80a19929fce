// SPDX-License-Identifier: Apache-2.0
#include "profile/time_marks.h"

#include <stdlib.h>
#include <string.h>

#include "util/alloc.h"

void time_marks_add(struct time_marks *marks, const struct time_mark *mark)
{
    size_t place = marks->count;

    if (marks->count == TIME_MARKS_MAX)
        return;
    marks->list = xgrow(marks->list, &marks->room, marks->count, sizeof(*marks->list));
    while (place && marks->list[place - 1].time > mark->time)
        place--;
    memmove(&marks->list[place + 1], &marks->list[place],
            (marks->count - place) * sizeof(*marks->list));
    marks->list[place] = *mark;
    marks->count++;
}

void time_marks_clear(struct time_marks *marks)
{
    marks->count = 0;
}

void time_marks_free(struct time_marks *marks)
{
    free(marks->list);
    *marks = (struct time_marks){0};
}

void time_marks_encode(const struct time_marks *marks, struct buffer *bytes)
{
    uint64_t last = 0;

    buffer_varint(bytes, marks->count);
    for (size_t i = 0; i < marks->count; i++) {
        buffer_varint(bytes, marks->list[i].time - last);
        buffer_varint(bytes, marks->list[i].label);
        last = marks->list[i].time;
    }
}

void time_marks_decode(struct time_marks *marks, const struct id_map *strings,
                       struct cursor *cursor)
{
    uint64_t count =
        cursor_varint(cursor, TIME_MARKS_MAX - marks->count, "more marks than a recording has");
    struct time_mark mark = {0};

    for (uint64_t i = 0; i < count && !cursor->problem; i++) {
        mark.time += cursor_varint(cursor, UINT64_MAX - mark.time, "time is too large");
        mark.label = id_map_decode(strings, cursor, "string is not defined");
        if (!cursor->problem)
            time_marks_add(marks, &mark);
    }
}
