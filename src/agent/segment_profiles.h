// SPDX-License-Identifier: Apache-2.0
/*
 * The profiles of a segment, as a service takes them. A child process without rights makes them:
 * VMs control the texts in a recording.
 *
 *   make ──> next... ──> free
 */
#pragma once

#include <stdbool.h>

#include "push/push_client.h"
#include "push/push_service.h"
#include "util/error.h"

struct segment_profiles;

/* Make the profiles of a recording that `fd` reads, as the service takes them; the offset of `fd`
 * changes. A segment without samples has none. NULL with error, also if the child has crashed. */
struct segment_profiles *segment_profiles_make(int fd, const struct push_service *service,
                                               struct error *error);
void segment_profiles_free(struct segment_profiles *profiles);

/* Take the next profile: of one event, and of one VM where the service has labels. It is valid
 * until `profiles` is freed. False at the end. */
bool segment_profiles_next(struct segment_profiles *profiles, struct push_profile *ret_profile);

/* ---- profile_writer.c: what the child does ---- */

enum { PROFILE_LABELS_MAX = 16 };

/*
 * Read the recording `fd`, and write its profiles for the service to `out`, always in the same
 * order. A profile that would have more than 768 KB or 16,000 samples is divided: its samples are
 * in several profiles of the same kind. -1 with error. Each is, in this machine's byte order:
 *
 *   16 bytes   the id: the same for the same profile of the same recording
 *   u32        number of labels; then for each a name and a value: u32 bytes with NUL, the bytes
 *   u64        bytes of the profile; then the profile
 */
int profile_writer_write(int fd, int out, const struct push_service *service, struct error *error);
