// SPDX-License-Identifier: Apache-2.0
#include "cli/message.h"

#include <stdio.h>
#include <unistd.h>

static void say(const char *severity, const char *format, va_list args)
{
    fprintf(stderr, "%sbeamflame: %s", isatty(STDERR_FILENO) ? "\r\033[K" : "", severity);
    vfprintf(stderr, format, args);
    fputc('\n', stderr);
}

void message_say(const char *format, ...)
{
    va_list args;

    va_start(args, format);
    say("", format, args);
    va_end(args);
}

void message_warning(const char *format, ...)
{
    va_list args;

    va_start(args, format);
    say("warning: ", format, args);
    va_end(args);
}

int message_usage(const char *command, const struct error *error)
{
    message_say("%s", error->text);
    fprintf(stderr, "See 'beamflame help %s'.\n", command);
    return ERROR_USAGE;
}

int message_error(const struct error *error)
{
    message_say("%s", error->text);
    return error->code ? (int)error->code : ERROR_FAILED;
}
