// SPDX-License-Identifier: Apache-2.0
/* What must hold of requests for outputs before they are written. Errors name the path. */
#pragma once

#include "output/output.h"

/* The format of a request: the one that it names, or that of its path. NULL: neither. */
const struct output_format *output_check_format(const struct output_request *request);

/* Check that a request can write a file for each event: standard output, devices, pipes and open
 * files hold only one. */
int output_check_split(const struct output_request *request, struct error *error);

/* Set the error of a format of peers for a recording that has none. Returns -1. */
int output_check_peers(const char *path, enum error_code code, struct error *error);

/* True if `path` is one of the files that the requests write, of one event or of all. */
bool output_check_path(const struct output_request *requests, size_t count, const char *path);
