// SPDX-License-Identifier: Apache-2.0
/* What kind of frame a text is of, as far as it tells. */
#pragma once

#include "profile/profile.h"
#include "util/span.h"

/* The one frame that beamflame writes where there is no stack at all. */
#define NO_STACK "[no stack]"

/* By perf's dso and where the code is. */
enum frame_kind frame_kind_of_code(uint64_t address, struct span module);

/* By its text alone. */
enum frame_kind frame_kind_of_text(struct span text);
