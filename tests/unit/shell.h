// SPDX-License-Identifier: Apache-2.0
/* Commands of the shell that must succeed. */
#pragma once

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <setjmp.h>

#include <cmocka.h>

static inline void shell(const char *format, ...) __attribute__((format(printf, 1, 2)));
static inline void shell(const char *format, ...)
{
    char command[1024];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(command, sizeof(command), format, arguments);
    va_end(arguments);
    if (system(command) != 0)
        fail_msg("failed: %s", command);
}
