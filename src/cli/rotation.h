// SPDX-License-Identifier: Apache-2.0
/*
 * Writes the outputs of parts, while sampling goes on: each in a child process, one at a time.
 *
 * A child that renders does not hold up those who take samples, and what goes wrong in it does not
 * end the recording. It lives on if this process is killed, and writes what it was to write.
 *
 *   new ──> { create ──> (the part is recorded) ──> write }... ──> finish
 */
#pragma once

#include <stdbool.h>
#include <time.h>

#include "cli/options.h"
#include "util/error.h"

struct rotation;

/* `recording`: where recordings go, NULL if they are not asked for; `node`: for names. Borrowed. */
struct rotation *rotation_new(const struct record_options *options, const char *recording,
                              const char *node);

/* The file to record the next part into. `seconds`: since 1970, for its names. -1 with error. */
int rotation_create(struct rotation *rotation, time_t seconds, struct error *error);

/* Nothing is recorded into it. */
void rotation_drop(struct rotation *rotation);

/* Whether a child is still at work on an earlier part: then the one that is recorded had better go
 * on. */
bool rotation_is_busy(struct rotation *rotation);

/* The part that was created is recorded: give it its names, in the background; after an earlier
 * child, if that is still at work. Takes over `fd`, which reads the recording; -1: it can't be
 * read. `whole`: it was recorded to its end; else why not was told. */
void rotation_write(struct rotation *rotation, int fd, bool whole);

/* The same of a part that was recorded in several pieces, which the child joins into `file`, the
 * one that was created (profile/recording_join.h). Takes over all descriptors. */
void rotation_join(struct rotation *rotation, const int *pieces, size_t count, const char *occasion,
                   int file, bool whole);

/* Wait for the last child, say what went wrong on the way, and free. Returns the exit code. */
int rotation_finish(struct rotation *rotation);
