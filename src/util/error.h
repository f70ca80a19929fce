// SPDX-License-Identifier: Apache-2.0
/*
 * How a function reports an error to its caller.
 *
 * Every function that can fail takes a `struct error *` as its last argument and returns 0 or -1
 * (or NULL). On failure it fills the error, leaves its outputs unchanged and prints nothing: only
 * cli/ prints. The code is the exit code of the command. The text is one sentence without a full
 * stop: what failed, why, what to do.
 */
#pragma once

#include <stdarg.h>

enum error_code {
    ERROR_NONE = 0,
    ERROR_FAILED = 1,        /* any other failure */
    ERROR_USAGE = 2,         /* bad option or argument */
    ERROR_NO_PROCESS = 3,    /* no such OS process, or it is not a BEAM */
    ERROR_PERMISSION = 4,    /* a capability is missing */
    ERROR_UNSUPPORTED = 5,   /* this VM or this kernel is not supported */
    ERROR_NO_SAMPLES = 6,    /* nothing was recorded */
    ERROR_INTERRUPTED = 130, /* a signal came before there was anything to keep */
};

struct error {
    enum error_code code;
    char text[512];
};

/* Fill `error` and return -1, so that callers can write `return error_set(...)`. */
int error_set(struct error *error, enum error_code code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Put `format`... and ": " before the error's text. The code stays. Return -1. */
int error_prefix(struct error *error, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
