// SPDX-License-Identifier: Apache-2.0
/* The files of segments: what the files of a rotation share. */
#pragma once

#include <stddef.h>
#include <stdnoreturn.h>
#include <time.h>

#include "rotation/options.h"
#include "util/error.h"

/* ---- segment_names.c ---- */

/*
 * Names the files of a recording that is made in segments. "x.svg" becomes
 *
 *      x-shop@web-1-20261121-203000.svg          NODE and TIME (UTC) when the segment began
 *      x-shop@web-1-20261121-203000.gc.svg       of one event, if there are several
 *      x-shop@web-1-20261121-203000.bfr.part     the recording, while it is made
 *
 * A NODE of more than 80 bytes is cut, and ends in a hash of all of it.
 *
 * TIME is the first second, from the segment's start on, for which no file with any of these names
 * exists. Existing files are never overwritten.
 */

struct segment_names;

/* The names of the files. A format of one event has a name for each event of `session`. Copies
 * what it needs. */
struct segment_names *segment_names_new(const struct segment_files *files,
                                        const struct session_options *session, const char *node);
void segment_names_free(struct segment_names *names);

/* The start of a segment, as in its names. */
struct segment_time {
    char text[16]; /* "20261121-203000" */
};

/* Create the file to record into. It is locked while it is open, so that no one else writes to it.
 * If a file server has its folder (os/courier.h), it is a local file without a name. `seconds`:
 * since 1970. -1 with error. */
int segment_names_create(struct segment_names *names, time_t seconds, struct segment_time *ret_time,
                         struct error *error);

/* Remove the file to record into, unless a file server has its folder. */
void segment_names_remove_temporary(const struct segment_names *names, struct segment_time time);

/* The names of a segment. The caller frees them. */
char *segment_names_temporary(const struct segment_names *names, struct segment_time time);
/* NULL if no recording is requested. */
char *segment_names_recording(const struct segment_names *names, struct segment_time time);
/* The name of the output files->requests[index]. */
char *segment_names_output(const struct segment_names *names, size_t index,
                           struct segment_time time);
/* NULL if no statistics are requested. */
char *segment_names_statistics(const struct segment_names *names, struct segment_time time);

/* The folders that the functions below work on. */
enum segment_folders {
    SEGMENT_FOLDERS_LOCAL,
    SEGMENT_FOLDERS_REMOTE, /* of file servers; for the process of os/courier.h */
};

/* For each of these names, remove all files except the newest `keep` up to the time `newest`. Only
 * regular files of this user, or of the user who ran sudo, count and are removed. Files that are
 * being written stay. */
void segment_names_remove_old(const struct segment_names *names, enum segment_folders where,
                              size_t keep, struct segment_time newest);

/* Remove unfinished outputs of this user's run that was killed. Its recordings stay. */
void segment_names_remove_leftovers(const struct segment_names *names, enum segment_folders where);

/* Return the path of an output in a folder of a file server, which tells the folders; NULL if there
 * is none. */
const char *segment_names_remote(const struct segment_names *names);

/* ---- kept_copies.c ---- */

/*
 * The recordings that are kept elsewhere because their outputs failed. --keep limits them as it
 * limits segments: a file server that is silent for a day fills no local disk. The list is in
 * memory that the processes that write segments share; one of them runs at a time.
 */

struct kept_copies;

/* `most`: not 0. NULL if no memory can be shared; then all are kept. */
struct kept_copies *kept_copies_new(size_t most);
void kept_copies_free(struct kept_copies *copies);

/* Add a file. The oldest one is removed if there are more than permitted. */
void kept_copies_add(struct kept_copies *copies, const char *path);

/* ---- segment_source.c ---- */

/* The recording of a segment, until its outputs are written. */

/* Common to all segments. */
struct segment_context {
    const struct segment_files *files;
    const struct rotation_reports *reports;
    const struct segment_names *names;
    struct kept_copies *copies; /* NULL: no limit */
};

/* Report the error. Return the exit code. */
int segment_source_report(const struct segment_context *context, const struct error *error);

struct segment_source {
    struct segment_time time; /* for its names */
    int *fds;                 /* read the segment, or its pieces */
    size_t count;
    char *trigger; /* of the recording that the pieces are joined into; NULL: none */
    int file;      /* that they are joined into; -1: there is one piece, which is the segment */
};

/* Takes over the descriptors, but copies their list and the trigger. */
struct segment_source *segment_source_new(struct segment_time time, const int *fds, size_t count,
                                          const char *trigger, int file);
/* Close the descriptors. `source` may be NULL. */
void segment_source_free(struct segment_source *source);

/* Join the segment if it is in pieces. Return a descriptor that reads it; -1 with error. */
int segment_source_open(const struct segment_context *context, const struct segment_source *source,
                        struct error *error);

/* Report where the recording of a failed segment is: under one of its intended names, or under a
 * new name elsewhere. `fd` reads it. */
void segment_source_keep_as(const struct segment_context *context,
                            const struct segment_source *source, int fd);

/* Keep the recording of a segment that no process writes. */
void segment_source_keep(const struct segment_context *context,
                         const struct segment_source *source);

/* Keep the recording of a segment whose process was killed. Pieces are joined again, unless the
 * process has given the result its name. */
void segment_source_keep_of_killed(const struct segment_context *context,
                                   const struct segment_source *source);

/* ---- segment_writer.c ---- */

/* The process that writes the outputs of one segment. */

/* Write the segment, and end this process, which fork() has just made. Its outputs are written by a
 * process of its own, with nothing (os/confined.h). If that dies, the recording is kept. */
noreturn void segment_writer_run(const struct segment_context *context,
                                 const struct segment_source *source);
