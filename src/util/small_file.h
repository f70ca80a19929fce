// SPDX-License-Identifier: Apache-2.0
/* Small files of secrets and certificates. */
#pragma once

#include "util/buffer.h"
#include "util/error.h"

/* Read a file into an empty buffer, with a NUL after its `size`. -1 with error. */
int small_file_read(const char *path, struct buffer *content, struct error *error);

/* The same for a secret, without line breaks at its end. A file without one, or with control
 * characters, is refused: a header of HTTP can't have them. */
int small_file_secret(const char *path, struct buffer *content, struct error *error);

/* Free a buffer, and leave nothing of its content in memory. */
void small_file_free(struct buffer *content);
