// SPDX-License-Identifier: Apache-2.0
#include "util/log.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/utf8.h"

atomic_int log_limit;
static _Atomic(log_sink) listener;

void log_listen(enum log_level level, log_sink sink)
{
    atomic_store(&listener, sink);
    atomic_store(&log_limit, (int)level);
}

/* A name can come from another program, and may contain what changes a terminal. */
static void pass_line(log_sink sink, const char *area, char *line)
{
    char *clean;

    for (char *tab = line; (tab = strchr(tab, '\t'));)
        *tab = ' ';
    clean = utf8_clean_string(line);
    sink(area, clean);
    free(clean);
}

static void pass_lines(log_sink sink, const char *area, char *text)
{
    char *rest = NULL;

    for (char *line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest))
        pass_line(sink, area, line);
}

void log_write_list(const char *area, const char *format, va_list args)
{
    log_sink sink = atomic_load(&listener);
    int before = errno;
    char *text = NULL;

    if (sink && vasprintf(&text, format, args) >= 0) {
        pass_lines(sink, area, text);
        free(text);
    }
    errno = before;
}

void log_write(const char *area, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    log_write_list(area, format, args);
    va_end(args);
}
