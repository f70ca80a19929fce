// SPDX-License-Identifier: Apache-2.0
/*
 * Messages of the commands: all that they print, apart from outputs.
 *
 * Names and paths of other programs can contain what changes a terminal. Here they become safe
 * (util/utf8.h), also line ends: each call prints one line.
 */
#pragma once

#include "util/buffer.h"
#include "util/error.h"

/*
 * Messages on standard error. On a terminal they take the place of the line that shows progress.
 */

/* Print "beamflame: TEXT". Return the exit code of the error. */
int message_error(const struct error *error);

/* Print an error in the usage of a command, and how to get help. Return ERROR_USAGE. */
int message_usage(const char *command, const struct error *error);

/* Print "beamflame: " and the text, which is no error. */
void message_say(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Print "beamflame: warning: " and the text. */
void message_warning(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Replace the line that shows progress; "" removes it. */
void message_progress(const char *format, ...) __attribute__((format(printf, 1, 2)));

/*
 * Standard output.
 */

/* Print a line. */
void message_print(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Print beamflame's own text, such as its help, unchanged. */
void message_print_own(const struct buffer *text);

/* Flush standard output, and check that everything was written. `what` names it in the error: "the
 * list". Return 0, or -1 with error. */
int message_end(const char *what, struct error *error);

/* The same, and print the error. Return the exit code. */
int message_finish(const char *what);
