// SPDX-License-Identifier: Apache-2.0
/*
 * The profiles of a segment, as a service takes them. A child process without rights makes them:
 * the texts of a recording are those of the VMs.
 *
 *   make ──> next... ──> free
 */
#pragma once

#include <stdbool.h>

#include "agent/profile_writer.h"
#include "push/push_client.h"
#include "util/error.h"

struct segment_profiles;

/* Make the profiles of a recording that `fd` reads; its offset changes. A segment without samples
 * has none. NULL with error, also if the child has crashed. */
struct segment_profiles *segment_profiles_make(int fd, enum push_protocol protocol,
                                               struct error *error);
void segment_profiles_free(struct segment_profiles *profiles);

/* Take the next profile: of one event, and of one VM where the service has labels. It is valid
 * until `profiles` is freed. False at the end. */
bool segment_profiles_next(struct segment_profiles *profiles, struct push_profile *ret_profile);
