// SPDX-License-Identifier: Apache-2.0
/* A pattern as the steps that the kernel takes (wire_match.h). */
#pragma once

#include "calls/argument_text.h"
#include "calls/call_functions.h"
#include "calls/match_pattern.h"
#include "capture/call_counter.h"
#include "util/error.h"
#include "wire_match.h"

/* Return 0, or -1 with error: ERROR_USAGE if the pattern is too large, or has an atom that the VM
 * does not have, so that no call can match. */
int call_match_make(const struct match_pattern *pattern, const struct argument_names *names,
                    struct wire_match *match, struct error *error);

/* Count only the calls of functions that match their pattern, if they have one. Each pattern is of
 * one of the functions; these are marked in `has_pattern`, which is all false before. Fails as
 * make() does, and if a function has two patterns. */
int call_match_set(struct call_counter *counter, const struct call_functions *functions,
                   const struct argument_names *names, const struct match_pattern *const *patterns,
                   size_t count, bool has_pattern[WIRE_CALL_FUNCTIONS], struct error *error);
