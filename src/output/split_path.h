// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "output/output.h"

/* Return the path for the samples of one event: "x.perf.gz" becomes "x.gc.perf.gz". Characters of
 * the event's name that a file name should not have become '-'. To be freed. */
char *split_path(const char *path, const struct output_format *format, const char *event);
