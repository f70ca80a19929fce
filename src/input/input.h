// SPDX-License-Identifier: Apache-2.0
/*
 * Reads the input of the report command: recordings, perf-script text and folded stacks, where text
 * may be compressed by gzip. The content of a file decides its format.
 */
#pragma once

#include <stddef.h>

#include "recording/recording_join.h"
#include "util/error.h"

/* Open `path` ("-": standard input) as a recording. The result is a descriptor of the file itself
 * if the file is a recording, else of a recording that is made from it. That recording is an
 * unnamed file in `directory`, and so is the copy of an input that can be read only once. -1 with
 * error; for text the error names the line. */
int input_open(const char *path, const char *directory, struct error *error);

/* The same for several files, joined according to `options` (recording/recording_join.h). */
int input_join(const char *const *paths, size_t count, const struct join_options *options,
               const char *directory, struct error *error);

/* Open `path` ("-": standard input) to read it as it is, by this process or by the one that opens
 * files for it (os/file_broker.h). -1 with error. */
int input_open_file(const char *path, struct error *error);
