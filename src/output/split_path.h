// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "output/output.h"

/* Where the samples of one event go that were to go to `path`: "x.perf.gz" becomes "x.gc.perf.gz".
 * What a file's name should not have in it becomes '-'. To be freed. */
char *split_path(const char *path, const struct output_format *format, const char *event);
