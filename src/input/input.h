// SPDX-License-Identifier: Apache-2.0
/*
 * Reads the input of the report command: recordings, perf-script text and folded stacks, where text
 * may be compressed by gzip. The content of a file decides its format.
 */
#pragma once

#include <stddef.h>

#include "recording/recording_join.h"
#include "util/error.h"

/* Open `path` ("-": standard input) for reading, before the program gives up its rights. The result
 * is a descriptor of the file itself, or of an unnamed copy in `directory` if the file is on a file
 * server, which may not answer later (os/patient_file.h). -1 with error. */
int input_file_open(const char *path, const char *directory, struct error *error);

/* The same for several files. The result has their descriptors, and is to be freed; NULL with
 * error. */
int *input_files_open(const char *const *paths, size_t count, const char *directory,
                      struct error *error);

/* Read an opened input as a recording. Takes over `fd`; -1 stays -1. The result is `fd` if the file
 * is a recording, else a descriptor of a recording that is made from it. That recording is an
 * unnamed file in `directory`. An input that can be read only once is copied to another one. `path`
 * is for messages. -1 with error; for text the error names the line. */
int input_open(int fd, const char *path, const char *directory, struct error *error);

/* The same for several files, joined according to `options` (recording/recording_join.h). */
int input_join(const int *fds, const char *const *paths, size_t count,
               const struct join_options *options, const char *directory, struct error *error);
