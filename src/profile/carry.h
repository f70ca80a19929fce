// SPDX-License-Identifier: Apache-2.0
/*
 * From one profile into another that begins where it ends: what is equal in both gets an id in the
 * new one. 0 stays 0.
 */
#pragma once

#include "profile/profile.h"

string_id carry_string(const struct profile *from, string_id id, struct profile *to);
target_id carry_target(const struct profile *from, target_id id, struct profile *to);
thread_id carry_thread(const struct profile *from, thread_id id, struct profile *to);

/* All that a sample refers to, but for its event: events are defined in the new profile, in the
 * order of the old one, before any sample is carried. */
void carry_sample(const struct profile *from, struct sample *sample, struct profile *to);
