// SPDX-License-Identifier: Apache-2.0
#include "cli/message.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
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

/* The first error of standard output: later writes may succeed although text is lost. */
static int print_error;

static void note_print_error(void)
{
    if (!print_error && ferror(stdout))
        print_error = errno;
}

/* Write `start`, the safe text and `end`, at the start of a line. */
static void put(FILE *file, const char *start, const char *format, va_list args, const char *end)
{
    char *text = safe_text(format, args);

    fprintf(file, "%s%s%s%s", file == stderr ? line_start() : "", start, text, end);
    if (file == stdout)
        note_print_error();
    free(text);
}

void message_say(const char *format, ...)
{
    va_list args;

    va_start(args, format);
    put(stderr, "beamflame: ", format, args, "\n");
    va_end(args);
}

void message_warning(const char *format, ...)
{
    va_list args;

    va_start(args, format);
    put(stderr, "beamflame: warning: ", format, args, "\n");
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

    va_start(args, format);
    put(stderr, "", format, args, "");
    va_end(args);
    fflush(stderr);
}

void message_print(const char *format, ...)
{
    va_list args;

    va_start(args, format);
    put(stdout, "", format, args, "\n");
    va_end(args);
}

void message_print_own(const struct buffer *text)
{
    fwrite(text->data, 1, text->size, stdout);
    note_print_error();
}

int message_end(const char *what, struct error *error)
{
    int code = fflush(stdout) ? errno : EIO;

    if (!ferror(stdout))
        return 0;
    return error_set(error, ERROR_FAILED, "can't write %s: %s", what,
                     strerror(print_error ? print_error : code));
}

int message_finish(const char *what)
{
    struct error error;

    return message_end(what, &error) ? message_error(&error) : 0;
}
