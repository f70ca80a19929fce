// SPDX-License-Identifier: Apache-2.0
/* Reads a text file by lines, unpacking it on the way where gzip made it smaller. */
#pragma once

#include <stdint.h>

#include "util/error.h"
#include "util/span.h"

/* Longest line, or run of lines that are kept together. */
#define TEXT_MAX ((size_t)16 << 20)

struct text;

/* Takes `fd` over, also on failure, and reads it from its start. `name` is for messages. */
struct text *text_open(int fd, const char *name, struct error *error);
void text_close(struct text *text);
/* Back to the first line. */
int text_rewind(struct text *text, struct error *error);

/* The next line, without its end, in *line: 1; 0 at the end of the file; -1 with error, also where
 * the file ends within a line. The line is valid until the next call. */
int text_line(struct text *text, struct span *line, struct error *error);
/* The first byte of the next line in *ret_byte, -1 at the end of the file. Where it can't be read,
 * text_line() says why. */
int text_peek(struct text *text);

/* From here on lines stay in memory, one behind the other with their ends... */
void text_keep(struct text *text);
/* ...until this is called, which has all of them; valid until the next call. */
struct span text_kept(struct text *text);

const char *text_name(const struct text *text);
/* Number of the line that was read last, from 1 on. */
uint64_t text_line_number(const struct text *text);

/* "NAME: line 12: ..."; returns -1. `back`: so many lines before the one that was read last. */
int text_fail(const struct text *text, uint64_t back, struct error *error, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
