// SPDX-License-Identifier: Apache-2.0
/*
 * When the recorder ran. Where it did not for seconds, and no sample is of that time either, the
 * machine stood still, or this process was stopped: nothing is known of that time. Samples that the
 * kernel took while this process only waited for a CPU show that the machine ran.
 */
#pragma once

#include <stdbool.h>

#include "profile/event_spans.h"

struct presence {
    uint64_t since; /* ns, CLOCK_MONOTONIC: end of the last step */
    bool sampled;   /* a sample is of the time since then */
};

/* The recorder runs since `now`. */
void presence_begin(struct presence *presence, uint64_t now);

/* Take note of a sample that is read at `now`. */
void presence_sample(struct presence *presence, uint64_t time, uint64_t now);

/* End a step, and add its time to the spans of event 0, unless nothing is known of it. */
void presence_step(struct presence *presence, uint64_t now, struct event_spans *spans);
