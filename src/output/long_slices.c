// SPDX-License-Identifier: Apache-2.0
#include "output/long_slices.h"

#include <stdlib.h>
#include <string.h>

#include "profile/events.h"
#include "util/alloc.h"

/* Between parts of one slice, as the clock is read anew for each: ns. */
static const uint64_t GAP_MAX = 1000000;

void long_slices_free(struct long_slices *slices)
{
    free(slices->open);
}

/* The Erlang function, BIF or NIF next to the leaf; the leaf if there is none. */
static string_id place_of(const struct profile *profile, stack_id stack)
{
    const struct frame *leaf = NULL;

    for (; stack; stack = profile_get_stack(profile, stack)->parent) {
        const struct frame *frame =
            profile_get_frame(profile, profile_get_stack(profile, stack)->frame);

        if (frame->kind == FRAME_ERLANG || frame->kind == FRAME_BIF)
            return frame->symbol;
        if (!leaf)
            leaf = frame;
    }
    return leaf ? leaf->symbol : 0;
}

static void keep(struct long_slices *slices, struct long_slice *slice)
{
    uint32_t at = slices->count;

    slices->slices++;
    while (at && slices->longest[at - 1].ns < slice->ns)
        at--;
    if (at < LONG_SLICES_MAX) {
        if (slices->count < LONG_SLICES_MAX)
            slices->count++;
        memmove(&slices->longest[at + 1], &slices->longest[at],
                (slices->count - at - 1) * sizeof(*slice));
        slices->longest[at] = *slice;
    }
    *slice = (struct long_slice){0};
}

static struct long_slice *open_on(struct long_slices *slices, thread_id thread)
{
    if (thread >= slices->open_count) {
        slices->open = xreallocarray(slices->open, thread + 1, sizeof(*slices->open));
        memset(&slices->open[slices->open_count], 0,
               (thread + 1 - slices->open_count) * sizeof(*slices->open));
        slices->open_count = thread + 1;
    }
    return &slices->open[thread];
}

void long_slices_add(struct long_slices *slices, const struct profile *profile,
                     const struct sample *sample)
{
    struct long_slice *slice = open_on(slices, sample->thread);
    uint64_t ns = sample->values[SCHED_LONG], start = sample->time - ns;

    if (!sample->process)
        return;
    if (slice->ns && (slice->process != sample->process || start > slice->end + GAP_MAX))
        keep(slices, slice);
    slice->process = sample->process;
    slice->end = sample->time;
    slice->ns += ns;
    if (ns > slice->place_ns) {
        slice->place_ns = ns;
        slice->place = place_of(profile, sample->stack);
    }
    if (sample->status != STATUS_RUNNING)
        keep(slices, slice);
}

void long_slices_finish(struct long_slices *slices)
{
    for (uint32_t i = 0; i < slices->open_count; i++)
        if (slices->open[i].ns)
            keep(slices, &slices->open[i]);
}
