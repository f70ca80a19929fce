// SPDX-License-Identifier: Apache-2.0
/*
 * A file that an argument names. It can be in a folder of another user, and its server may not
 * answer, now or later (FUSE, NFS).
 *
 * This program reads a file of a local disk as any other. It does not open other files: a process
 * without rights, which can be left behind, reads them (os/patient_open.h).
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

#include "util/error.h"

struct patient_file;

/* Open `path` for reading. It changes nothing: a device is refused before it is opened, and so is a
 * pipe unless `pipes`. A pipe does not wait when it is read, either (O_NONBLOCK). NULL with error,
 * also if the server of the file does not answer. */
struct patient_file *patient_file_open(const char *path, bool pipes, struct error *error);

/* Let a process read the file that is open as `fd`, from its start. The caller's descriptor stays
 * open. It has no status. NULL with errno. */
struct patient_file *patient_file_of(int fd);

/* Return a new descriptor of a file that is read by a process; -1 if the process does not answer.
 */
int patient_file_descriptor(struct patient_file *file);

void patient_file_close(struct patient_file *file);

/* Return the status that the file had when it was opened. */
const struct stat *patient_file_status(const struct patient_file *file);

/* Return the descriptor of a local file or pipe, which the caller then owns; -1 for a file that is
 * read by a process. */
int patient_file_take(struct patient_file *file);

/* Read `size` bytes at `offset`. Return the number of bytes read: fewer at the end of the file, or
 * on an error, which sets errno; EBUSY if the server does not answer. At the end of the file errno
 * is 0. */
size_t patient_file_read(struct patient_file *file, uint64_t offset, void *buffer, size_t size);

/* True once the server of the file has not answered. Nothing more is read then. */
bool patient_file_is_silent(const struct patient_file *file);

/* Return the text of the errno of a failed read. */
const char *patient_file_problem(int code);
