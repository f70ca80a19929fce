// SPDX-License-Identifier: Apache-2.0
#include "profile/target_lives.h"

#include <stdlib.h>
#include <string.h>

#include "util/alloc.h"
#include "util/sorted.h"

/* The place of a target in the list, where it is or would be. */
static size_t place_of(const struct target_lives *lives, target_id target)
{
    return sorted_place(lives->list, lives->count, sizeof(*lives->list), target);
}

const struct target_life *target_lives_find(const struct target_lives *lives, target_id target)
{
    size_t place = place_of(lives, target);

    return place < lives->count && lives->list[place].target == target ? &lives->list[place] : NULL;
}

struct target_life *target_life_of(struct target_lives *lives, target_id target)
{
    size_t place = place_of(lives, target);

    if (place < lives->count && lives->list[place].target == target)
        return &lives->list[place];
    lives->list = xgrow(lives->list, &lives->room, lives->count, sizeof(*lives->list));
    memmove(&lives->list[place + 1], &lives->list[place],
            (lives->count - place) * sizeof(*lives->list));
    lives->count++;
    lives->list[place] = (struct target_life){.target = target};
    return &lives->list[place];
}

void target_lives_free(struct target_lives *lives)
{
    free(lives->list);
    *lives = (struct target_lives){0};
}

void target_lives_encode(const struct target_lives *lives, struct buffer *bytes)
{
    buffer_varint(bytes, lives->count);
    for (size_t i = 0; i < lives->count; i++) {
        buffer_varint(bytes, lives->list[i].target);
        buffer_varint(bytes, lives->list[i].ended);
        buffer_varint(bytes, lives->list[i].stopped_ns);
    }
}

static void decode_life(struct cursor *cursor, target_id before, uint32_t targets,
                        struct target_life *life)
{
    life->target = (target_id)cursor_varint(cursor, targets, "target is not defined");
    if (life->target <= before)
        cursor_fail(cursor, "lives of targets are not in their order");
    life->ended = cursor_varint(cursor, UINT64_MAX, "");
    life->stopped_ns = cursor_varint(cursor, UINT64_MAX, "");
}

void target_lives_decode(struct target_lives *lives, const struct profile *profile,
                         struct cursor *cursor)
{
    uint32_t targets = profile_counts(profile).targets;
    uint64_t count = cursor_varint(cursor, targets, "more lives than targets");
    struct target_life life = {0};

    lives->count = 0;
    for (uint64_t i = 0; i < count && !cursor->problem; i++) {
        decode_life(cursor, life.target, targets, &life);
        if (!cursor->problem)
            *target_life_of(lives, life.target) = life;
    }
}
