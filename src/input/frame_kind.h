// SPDX-License-Identifier: Apache-2.0
/* Guesses the kind of a frame from its text. */
#pragma once

#include "profile/profile.h"
#include "util/span.h"

/* The only frame that beamflame writes if there is no stack. */
#define NO_STACK "[no stack]"

/* The kind by the code's address and perf's dso (`module`). */
enum frame_kind frame_kind_of_code(uint64_t address, struct span module);

/* The kind by the text alone. */
enum frame_kind frame_kind_of_text(struct span text);
