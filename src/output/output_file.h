// SPDX-License-Identifier: Apache-2.0
/*
 * A file that appears complete or not at all: it is written under a temporary name in the directory
 * of its final name. If the name ends in ".gz", the file is compressed.
 */
#pragma once

#include <stdbool.h>
#include <stdio.h>

#include "output/output.h"
#include "os/placed_file.h"
#include "util/error.h"

struct output_file {
    FILE *file;
    char *path;                /* NULL: standard output, or a file that was given */
    struct placed_file placed; /* at `path` */
    char *buffer;              /* of `file`, if it was opened here */
    bool is_unwanted;          /* the reader of standard output has left */
};

/* True if `path` is not a regular file but standard output, a device or a pipe. */
bool output_file_is_in_place(const char *path);

/* Name the path in an error. Standard output needs no name. Return -1. */
int output_file_prefix(const char *path, struct error *error);

/* Check that output_file_open() is likely to work. A process that others open files for does not
 * know (os/file_broker.h). */
int output_file_check(const char *path, struct error *error);

/* Open for writing to `path` ("-" is standard output), or to `given` if that is not NULL. */
int output_file_open(struct output_file *output, const char *path, FILE *given,
                     struct error *error);
/* True if a write has failed. It has not if the reader of standard output has closed the pipe, as
 * `head` does: the reader has enough. */
bool output_file_failed(struct output_file *output);

/* Flush and close; standard output and a given file stay open. Returns -1 with error if any write
 * since the start failed. */
int output_file_close(struct output_file *output, struct error *error);
/* Rename a closed file to its final name. */
int output_file_publish(struct output_file *output, struct error *error);
/* Close the file, remove it if it still has its temporary name, and free the struct's members. */
void output_file_release(struct output_file *output);

/* Return the path for the samples of one event: "x.perf.gz" becomes "x.gc.perf.gz". Characters of
 * the event's name that a file name should not have become '-'. To be freed. */
char *output_file_split_path(const char *path, const struct output_format *format,
                             const char *event);

/* True if output_file_split_path() makes `split` of `path` for some event. */
bool output_file_fits_split_path(const char *split, const char *path,
                                 const struct output_format *format);
