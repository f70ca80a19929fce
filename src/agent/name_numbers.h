// SPDX-License-Identifier: Apache-2.0
/*
 * A number for each recording of a spool, in a file that outlives the agent: how many of its
 * profiles a service has, or its place in the order of time.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "agent/spool.h"
#include "util/error.h"

struct name_numbers;

/* Read the file "NAME SUFFIX" of the directory, such as pyroscope.sent. A file that can't be read
 * has no numbers. */
struct name_numbers *name_numbers_open(const char *directory, const char *name, const char *suffix);
void name_numbers_free(struct name_numbers *numbers);

/* Return the number of a recording; SIZE_MAX: "all"; 0: it has none. */
size_t name_numbers_get(struct name_numbers *numbers, const char *recording);

/* Set that number, and add it to the file. Now and then the file is written anew, without the
 * recordings that `spool` does not have. So each call takes the same time on average, however long
 * the file is. */
int name_numbers_set(struct name_numbers *numbers, const char *recording, size_t number,
                     const struct spool_list *spool, struct error *error);
