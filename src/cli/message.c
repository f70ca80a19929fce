// SPDX-License-Identifier: Apache-2.0
#include "cli/message.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "util/alloc.h"
#include "util/utf8.h"

/* Format, and make the result safe. To be freed. */
static char *safe_text(const char *format, va_list args)
{
    char *text = NULL, *safe;

    if (vasprintf(&text, format, args) < 0)
        abort();
    safe = utf8_clean_string(text);
    free(text);
    return safe;
}

static const char *line_start(void)
{
    return isatty(STDERR_FILENO) ? "\r\033[K" : "";
}

static void say(const char *severity, const char *format, va_list args)
{
    char *text = safe_text(format, args);

    fprintf(stderr, "%sbeamflame: %s%s\n", line_start(), severity, text);
    free(text);
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

void message_progress(const char *format, ...)
{
    va_list args;
    char *text;

    va_start(args, format);
    text = safe_text(format, args);
    va_end(args);
    fprintf(stderr, "%s%s", line_start(), text);
    fflush(stderr);
    free(text);
}

void print_line(const char *format, ...)
{
    va_list args;
    char *text;

    va_start(args, format);
    text = safe_text(format, args);
    va_end(args);
    puts(text);
    free(text);
}

void print_own(const struct buffer *text)
{
    fwrite(text->data, 1, text->size, stdout);
}
