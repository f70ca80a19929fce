// SPDX-License-Identifier: Apache-2.0
#include "cli/message.h"

#include <stdio.h>

int message_error(const struct error *error)
{
    fprintf(stderr, "beamflame: %s\n", error->text);
    return error->code ? (int)error->code : ERROR_FAILED;
}

void message_warning(const char *format, ...)
{
    va_list args;

    va_start(args, format);
    fputs("beamflame: ", stderr);
    vfprintf(stderr, format, args);
    fputc('\n', stderr);
    va_end(args);
}
