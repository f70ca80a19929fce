// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "push/push_service.h"
#include "util/error.h"

/* Return the URL of a service with `path` added, malloc'ed, and its host in *ret_host, malloc'ed.
 * NULL with ERROR_USAGE, whose text has no part of the URL: it may contain a password. */
char *push_url_of(const struct push_service *service, const char *path, char **ret_host,
                  struct error *error);
