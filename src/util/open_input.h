// SPDX-License-Identifier: Apache-2.0
/* Opens files that an argument names, and whose folder may be another user's. */
#pragma once

#include <stdbool.h>

#include "util/error.h"

/* Open `path` for reading. It neither waits nor changes anything: a device is refused before it is
 * opened, and so is a pipe unless `pipes`. A pipe does not wait when it is read, either
 * (O_NONBLOCK). -1 with error. */
int open_input(const char *path, bool pipes, struct error *error);
