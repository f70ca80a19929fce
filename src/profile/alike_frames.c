// SPDX-License-Identifier: Apache-2.0
#include "profile/alike_frames.h"

#include <stdlib.h>
#include <string.h>

#include "util/alloc.h"
#include "util/inferred_name.h"

/* A frame of the first profile. */
struct alike_frame {
    uint64_t likeness;
    const char *symbol, *build_id;
    char *name; /* the common one, in the first of equal elements; NULL: none */
};

struct alike_frames {
    struct alike_frame *list; /* by likeness and file; equal elements are of several builds */
    size_t count, room;
};

/* The bytes of a symbol like "beam.smp+0x1234" that are the name of the file. */
static size_t file_length(const char *symbol)
{
    const char *offset = strrchr(symbol, '+');

    return offset ? (size_t)(offset - symbol) : strlen(symbol);
}

static int compare_files(const char *one, const char *other)
{
    size_t length = file_length(one), other_length = file_length(other);

    return length == other_length ? strncmp(one, other, length)
                                  : (length > other_length) - (length < other_length);
}

static int compare_frames(const void *a, const void *b)
{
    const struct alike_frame *left = a, *right = b;

    return left->likeness == right->likeness
               ? compare_files(left->symbol, right->symbol)
               : (left->likeness > right->likeness) - (left->likeness < right->likeness);
}

static struct alike_frame describe(const struct profile *profile, const struct frame *frame)
{
    string_id build_id = frame->module ? profile_get_module(profile, frame->module)->build_id : 0;

    return (struct alike_frame){
        .likeness = frame->likeness,
        .symbol = profile_text(profile, frame->symbol),
        .build_id = profile_text(profile, build_id),
    };
}

/* The first element that is not before `frame`. */
static size_t place_of(const struct alike_frames *alike, const struct alike_frame *frame)
{
    size_t low = 0, high = alike->count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (compare_frames(&alike->list[middle], frame) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Name the elements that equal a frame of the second profile. Within one build, its offset names
 * it. */
static void name_equals(struct alike_frames *alike, const struct alike_frame *frame)
{
    size_t first = place_of(alike, frame);
    bool is_other_build = false;

    for (size_t i = first; i < alike->count && !compare_frames(&alike->list[i], frame); i++)
        is_other_build |= strcmp(alike->list[i].build_id, frame->build_id) != 0;
    if (is_other_build && !alike->list[first].name)
        alike->list[first].name = xasprintf("%c%s", INFERRED_NAME, frame->symbol);
}

struct alike_frames *alike_frames_find(const struct profile *first, const struct profile *second)
{
    struct alike_frames *alike = xcalloc(1, sizeof(*alike));

    for (frame_id id = 1; id <= profile_counts(first).frames; id++) {
        const struct frame *frame = profile_get_frame(first, id);

        if (!frame->likeness)
            continue;
        alike->list = xgrow(alike->list, &alike->room, alike->count, sizeof(*alike->list));
        alike->list[alike->count++] = describe(first, frame);
    }
    if (alike->count)
        qsort(alike->list, alike->count, sizeof(*alike->list), compare_frames);
    for (frame_id id = 1; id <= profile_counts(second).frames; id++) {
        const struct alike_frame frame = describe(second, profile_get_frame(second, id));

        if (frame.likeness)
            name_equals(alike, &frame);
    }
    return alike;
}

void alike_frames_free(struct alike_frames *alike)
{
    if (!alike)
        return;
    for (size_t i = 0; i < alike->count; i++)
        free(alike->list[i].name);
    free(alike->list);
    free(alike);
}

const char *alike_frames_name(const struct alike_frames *alike, const struct profile *profile,
                              const struct frame *frame)
{
    const struct alike_frame wanted = describe(profile, frame);
    size_t at = place_of(alike, &wanted);

    return wanted.likeness && at < alike->count && !compare_frames(&alike->list[at], &wanted)
               ? alike->list[at].name
               : NULL;
}
