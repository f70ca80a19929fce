// SPDX-License-Identifier: Apache-2.0
/*
 * Writes the profiles of a segment, one after the other. Each is, in this machine's byte order:
 *
 *   16 bytes   the id: the same for the same profile of the same recording
 *   u32        number of labels; then for each a name and a value: u32 bytes with NUL, the bytes
 *   u64        bytes of the profile; then the profile
 */
#pragma once

#include "push/push_service.h"
#include "util/error.h"

enum { PROFILE_LABELS_MAX = 16 };

/* Read the recording `fd`, and write its profiles to `out`, always in the same order. A profile
 * that would have more than 768 KB or 16,000 samples is divided: its samples are in several
 * profiles of the same kind. -1 with error. */
int profile_writer_write(int fd, int out, enum push_protocol protocol, struct error *error);
