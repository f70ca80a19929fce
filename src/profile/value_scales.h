// SPDX-License-Identifier: Apache-2.0
/*
 * Totals of the values of events, by target, and the sums of their samples. Only some hits are
 * sampled, and each sample gets its scale before the recording ends. The total is estimated from
 * all hits and all of the time. So a reader multiplies the values of samples, so that they add up
 * to the total in every output. It multiplies samples that stand for others, and not those that are
 * SAMPLE_EXACT. If all samples are exact, or if the exact ones are more than the total, it
 * multiplies all of them.
 */
#pragma once

#include <stdint.h>

#include "profile/profile.h"
#include "util/buffer.h"
#include "util/cursor.h"

struct value_scale {
    event_id event;
    target_id target;
    uint64_t totals[EVENT_VALUES];
    uint64_t exact[EVENT_VALUES];   /* sums of the values of exact samples */
    uint64_t sampled[EVENT_VALUES]; /* and of the others */
    double rest[EVENT_VALUES];      /* what rounding left of the samples that were scaled */
};

/* In order of targets and events. All zero is empty. */
struct value_scales {
    struct value_scale *list;
    size_t count, room;
};

/* The scale of an event and target, added if it is absent. Valid until another one is added. */
struct value_scale *value_scales_place(struct value_scales *scales, event_id event,
                                       target_id target);
void value_scales_free(struct value_scales *scales);

/* Count the values of a sample. */
void value_scale_count(struct value_scale *scale, const struct sample *sample);

/* Multiply the values of a sample of this target. A value that no sample has, or without a total,
 * stays as it is. The sums of all samples differ by less than 1 from the totals. */
void value_scales_apply(struct value_scales *scales, target_id target, struct sample *sample);

/* Encode to bytes (recording_format.h), and decode. Decoding replaces the content. On error, it
 * sets cursor->problem. The ids are not checked. */
void value_scales_encode(const struct value_scales *scales, struct buffer *bytes);
void value_scales_decode(struct value_scales *scales, struct cursor *cursor);

/* The target of a sample; 0 if it has neither a thread nor a process. */
target_id value_scales_target(const struct profile *profile, const struct sample *sample);
