// SPDX-License-Identifier: Apache-2.0
/* Reading, writing and removing files. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util/buffer.h"
#include "util/error.h"

/* Read `size` bytes of a file at `offset`. Return the number of bytes read: fewer at the end of the
 * file, or on an error, which sets errno. */
size_t files_read_at(int fd, uint64_t offset, void *buffer, size_t size);

/* Write all `size` bytes. Return 0, or -1 with errno. */
int files_write_all(int fd, const void *data, size_t size);

/* Open a regular file for reading. A device or a pipe is refused before it is opened; a file server
 * can delay the call (os/patient_file.h). -1 with error. */
int files_open_regular(const char *path, struct error *error);

/* ---- files that this program may remove: other users can make files with the same names ---- */

/* True for a regular file of this user, or of the user who ran sudo. */
bool files_is_own(int directory, const char *name);

/* Remove such a file. */
void files_remove_own(int directory, const char *name);

/* Remove such a file, unless the process that created it still writes it, and so has its lock. */
void files_remove_unlocked(int directory, const char *name);

/* ---- small_file.c ---- */

/* Small files of secrets and certificates. */

/* Read a file into an empty buffer, with a NUL after its `size`. -1 with error. */
int small_file_read(const char *path, struct buffer *content, struct error *error);

/* The same for an open file, which is closed. `path`: for the message. */
int small_file_take(int fd, const char *path, struct buffer *content, struct error *error);

/* The same for a secret, without line breaks at its end. A file without one, or with control
 * characters, is refused: a header of HTTP can't have them. */
int small_file_secret(const char *path, struct buffer *content, struct error *error);

/* Free a buffer, and leave nothing of its content in memory. */
void small_file_free(struct buffer *content);
