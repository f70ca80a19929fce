// SPDX-License-Identifier: Apache-2.0
/* Arguments of options as numbers. All return -1 with ERROR_USAGE, which names `what`, if `text`
 * is no such number. */
#pragma once

#include <stdint.h>
#include <sys/types.h>

#include "util/error.h"

int value_number(const char *what, const char *text, long low, long high, long *ret_value,
                 struct error *error);
int value_pid(const char *text, pid_t *ret_pid, struct error *error);

/* More than 0; a fraction is allowed. */
int value_seconds(const char *what, const char *text, double *ret_value, struct error *error);
/* The same, or 0. */
int value_seconds_or_0(const char *what, const char *text, double *ret_value, struct error *error);

/* More than 0, at most 100. */
int value_percent(const char *what, const char *text, double *ret_value, struct error *error);

/* "20000", "100k", "20M", "1G". */
int value_bytes(const char *what, const char *text, uint64_t *ret_value, struct error *error);
