// SPDX-License-Identifier: Apache-2.0
/*
 * Wakes the governors of VMs whose probes begin to cost something. While a VM does little, its
 * governor sleeps, and the BPF programs put an alarm into a ring buffer after some runs (struct
 * wire_slot).
 */
#pragma once

#include <stdint.h>

#include "capture/governor.h"
#include "capture/programs.h"
#include "util/error.h"

struct alarms;

struct alarms *alarms_new(void);
/* All governors must have left. */
void alarms_free(struct alarms *alarms);

/* Start the thread that waits for alarms. `programs` must be loaded. */
int alarms_start(struct alarms *alarms, const struct programs *programs, struct error *error);

/* From now on alarms of these slots wake the governor. */
void alarms_join(struct alarms *alarms, uint32_t first_slot, uint32_t count,
                 struct governor *governor);
/* The governor may be freed after this. */
void alarms_leave(struct alarms *alarms, const struct governor *governor);
