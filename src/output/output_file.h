// SPDX-License-Identifier: Apache-2.0
/*
 * A file that appears as a whole or not at all: it is written under a temporary name beside its
 * final one. Names that end in ".gz" are compressed on the way.
 */
#pragma once

#include <stdbool.h>
#include <stdio.h>

#include "util/error.h"

struct output_file {
    FILE *file;
    char *path;      /* NULL: standard output, or a file that was given */
    char *temporary; /* NULL: written in place (a device or pipe) */
    char *buffer;    /* of `file`, where it is ours */
};

/* Whether `path` is no regular file but standard output, a device or a pipe. */
bool output_file_is_in_place(const char *path);

/* Whether output_file_open() is likely to work. */
int output_file_check(const char *path, struct error *error);

/* Open for writing to `path` ("-" is standard output), or to `given` if that is not NULL. */
int output_file_open(struct output_file *output, const char *path, FILE *given,
                     struct error *error);
/* Write out and close; -1 if anything since the start could not be written. */
int output_file_close(struct output_file *output, struct error *error);
/* Give a closed file its name. */
int output_file_publish(struct output_file *output, struct error *error);
/* Remove what is there under a temporary name, closed or not, and free the names. */
void output_file_release(struct output_file *output);
