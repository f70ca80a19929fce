// SPDX-License-Identifier: Apache-2.0
/* Which recordings of a spool a service has, in a file that outlives the agent. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "agent/spool.h"
#include "util/error.h"

struct sent_list;

/* Read the list of a service. A file that can't be read is an empty list: the service then gets
 * recordings again, with the same ids. */
struct sent_list *sent_list_open(const char *directory, const char *service);
void sent_list_free(struct sent_list *sent);

/* Return how many profiles of a recording the service has; SIZE_MAX: all. */
size_t sent_list_count(const struct sent_list *sent, const char *recording);

/* Set that count, and write the list. Recordings that `spool` does not have are left out. */
int sent_list_set(struct sent_list *sent, const char *recording, size_t count,
                  const struct spool_list *spool, struct error *error);
