// SPDX-License-Identifier: Apache-2.0
/*
 * Native functions without a name that two profiles of different builds have in common. They are
 * recognized by their likeness (elf/likenesses.h), in files of the same name. Their common name is
 * that of the second profile behind INFERRED_NAME: "~beam.smp+0x1234".
 */
#pragma once

#include "profile/profile.h"

struct alike_frames;

/* Find them. Borrows `first`. */
struct alike_frames *alike_frames_find(const struct profile *first, const struct profile *second);
void alike_frames_free(struct alike_frames *alike);

/* The common name of a frame of either profile; NULL: it has none. Valid until
 * alike_frames_free(). */
const char *alike_frames_name(const struct alike_frames *alike, const struct profile *profile,
                              const struct frame *frame);
