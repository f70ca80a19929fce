// SPDX-License-Identifier: Apache-2.0
/*
 * What the report command reads: recordings, perf-script text and folded stacks, of which the
 * texts may be made smaller by gzip. What a file is, its content tells.
 */
#pragma once

#include <stddef.h>

#include "profile/recording_join.h"
#include "util/error.h"

/* A descriptor that reads `path` ("-": standard input) as a recording: the file itself if it is
 * one, else a recording that is made of it, in an unnamed file in `directory`; so is a copy of what
 * can be read once only. -1 with error, which for text names the line. */
int input_open(const char *path, const char *directory, struct error *error);

/* The same of several, put together as `options` ask (profile/recording_join.h). */
int input_join(const char *const *paths, size_t count, const struct join_options *options,
               const char *directory, struct error *error);
