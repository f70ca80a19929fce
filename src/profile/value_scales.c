// SPDX-License-Identifier: Apache-2.0
#include "profile/value_scales.h"

#include <stdlib.h>
#include <string.h>

#include "util/alloc.h"
#include "util/number.h"

enum { SCALES_MAX = 1 << 16 };

static int order(const struct value_scale *scale, event_id event, target_id target)
{
    if (scale->target != target)
        return scale->target < target ? -1 : 1;
    return (scale->event > event) - (scale->event < event);
}

/* The place in the list, where the scale is or would be. */
static size_t place_of(const struct value_scales *scales, event_id event, target_id target)
{
    size_t low = 0, high = scales->count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (order(&scales->list[middle], event, target) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static struct value_scale *find(const struct value_scales *scales, event_id event, target_id target)
{
    size_t place = place_of(scales, event, target);

    return place < scales->count && order(&scales->list[place], event, target) == 0
               ? &scales->list[place]
               : NULL;
}

struct value_scale *value_scales_place(struct value_scales *scales, event_id event,
                                       target_id target)
{
    struct value_scale *found = find(scales, event, target);
    size_t place;

    if (found)
        return found;
    place = place_of(scales, event, target);
    scales->list = xgrow(scales->list, &scales->room, scales->count, sizeof(*scales->list));
    memmove(&scales->list[place + 1], &scales->list[place],
            (scales->count - place) * sizeof(*scales->list));
    scales->count++;
    scales->list[place] = (struct value_scale){.event = event, .target = target};
    return &scales->list[place];
}

void value_scales_free(struct value_scales *scales)
{
    free(scales->list);
    *scales = (struct value_scales){0};
}

void value_scale_count(struct value_scale *scale, const struct sample *sample)
{
    uint64_t *sums = sample->flags & SAMPLE_EXACT ? scale->exact : scale->sampled;

    for (int v = 0; v < EVENT_VALUES; v++)
        sums[v] = saturating_sum(sums[v], sample->values[v]);
}

static double factor_of(const struct value_scale *scale, int v, bool is_exact)
{
    double total = (double)scale->totals[v], exact = (double)scale->exact[v];
    double sampled = (double)scale->sampled[v];

    if (total <= 0 || exact + sampled <= 0)
        return 1;
    if (sampled <= 0 || exact > total)
        return total / (exact + sampled);
    return is_exact ? 1 : (total - exact) / sampled;
}

void value_scales_apply(struct value_scales *scales, target_id target, struct sample *sample)
{
    struct value_scale *scale = find(scales, sample->event, target);
    bool is_exact = sample->flags & SAMPLE_EXACT;

    for (int v = 0; scale && v < EVENT_VALUES; v++) {
        double factor = factor_of(scale, v, is_exact), exact;

        if (factor == 1)
            continue;
        exact = (double)sample->values[v] * factor + scale->rest[v];
        sample->values[v] = whole_part(exact);
        scale->rest[v] = exact < 0x1p64 ? exact - (double)sample->values[v] : 0;
    }
}

void value_scales_encode(const struct value_scales *scales, struct buffer *bytes)
{
    buffer_varint(bytes, scales->count);
    for (size_t i = 0; i < scales->count; i++) {
        const struct value_scale *scale = &scales->list[i];

        buffer_varint(bytes, scale->event);
        buffer_varint(bytes, scale->target);
        for (int v = 0; v < EVENT_VALUES; v++) {
            buffer_varint(bytes, scale->totals[v]);
            buffer_varint(bytes, scale->exact[v]);
            buffer_varint(bytes, scale->sampled[v]);
        }
    }
}

static void decode_scale(struct cursor *cursor, struct value_scale *scale)
{
    scale->event = (event_id)cursor_varint(cursor, UINT32_MAX, "event is not defined");
    scale->target = (target_id)cursor_varint(cursor, UINT32_MAX, "target is not defined");
    for (int v = 0; v < EVENT_VALUES; v++) {
        scale->totals[v] = cursor_varint(cursor, UINT64_MAX, "");
        scale->exact[v] = cursor_varint(cursor, UINT64_MAX, "");
        scale->sampled[v] = cursor_varint(cursor, UINT64_MAX, "");
    }
}

void value_scales_decode(struct value_scales *scales, struct cursor *cursor)
{
    uint64_t count = cursor_varint(cursor, SCALES_MAX, "too many scales");

    scales->count = 0;
    for (uint64_t i = 0; i < count && !cursor->problem; i++) {
        struct value_scale scale = {0};

        decode_scale(cursor, &scale);
        if (i && order(&scales->list[i - 1], scale.event, scale.target) >= 0)
            cursor_fail(cursor, "scales out of order");
        if (!cursor->problem)
            *value_scales_place(scales, scale.event, scale.target) = scale;
    }
}

target_id value_scales_target(const struct profile *profile, const struct sample *sample)
{
    if (sample->thread)
        return profile_get_thread(profile, sample->thread)->target;
    return sample->process ? profile_get_process(profile, sample->process)->target : 0;
}
