// SPDX-License-Identifier: Apache-2.0
/* The time of the agent's first recording. */
#pragma once

#include <stdint.h>

/* Return a time in seconds, at most `interval`, and at least 1 s if that is not longer. All times
 * are equally likely; `random` chooses one (util/random.h). So agents that a rollout starts
 * together end their recordings, and send, at different times. */
double first_interval(double interval, uint64_t random);
