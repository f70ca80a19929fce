// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "profile/profile.h"
#include "util/buffer.h"

/* Append the known properties of a target: "shop@web-1, pid 4711, OTP 27, erts 15.2, jit". */
void target_text(const struct profile *profile, target_id target, struct buffer *text);
