// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "output/json/json.h"
#include "output/output.h"
#include "profile/microstates.h"

/* Write the key "microstates" of --stats: the time of each thread by state. */
void stats_put_microstates(struct json *json, const struct profile *profile,
                           const struct microstate_row *rows, size_t count);
