// SPDX-License-Identifier: Apache-2.0
#include "util/error.h"

#include <stdio.h>
#include <string.h>

int error_set(struct error *error, enum error_code code, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    error->code = code;
    vsnprintf(error->text, sizeof(error->text), format, args);
    va_end(args);
    return -1;
}

int error_prefix(struct error *error, const char *format, ...)
{
    char rest[sizeof(error->text)];
    va_list args;
    int used;

    memcpy(rest, error->text, sizeof(rest));
    va_start(args, format);
    used = vsnprintf(error->text, sizeof(error->text), format, args);
    va_end(args);
    if (used >= 0 && (size_t)used < sizeof(error->text))
        snprintf(error->text + used, sizeof(error->text) - (size_t)used, ": %s", rest);
    return -1;
}
