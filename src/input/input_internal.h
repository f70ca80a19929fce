// SPDX-License-Identifier: Apache-2.0
/* Readers of text formats, and their common parts. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "profile/profile.h"
#include "recording/recording.h"
#include "util/error.h"
#include "util/span.h"

/* ---- input_text.c ---- */

/* Reads a text file by lines. Decompresses gzip on the way. */

/* The longest line, or run of lines that are kept together, bytes. */
#define TEXT_MAX ((size_t)16 << 20)

struct input_text;

/* Takes over `fd`, even on failure, and reads the file from its start. `name` is for messages. */
struct input_text *input_text_open(int fd, const char *name, struct error *error);
void input_text_close(struct input_text *text);
/* Go back to the first line. */
int input_text_rewind(struct input_text *text, struct error *error);

/* Read the next line, without its end, into *line. Returns 1, 0 at the end of the file, or -1 with
 * error, also if the file ends within a line. The line is valid until the next call. */
int input_text_line(struct input_text *text, struct span *line, struct error *error);
/* The first byte of the next line, or -1 at the end of the file. -1 also if the file can't be read;
 * then input_text_line() returns the error. */
int input_text_peek(struct input_text *text);

/* Keep all lines that are read from here on in memory, adjacent and with their ends... */
void input_text_keep(struct input_text *text);
/* ...until this call, which returns all of them. Valid until the next call. */
struct span input_text_kept(struct input_text *text);

/* Return the bytes of the file that were read, before decompressing. */
uint64_t input_text_bytes(const struct input_text *text);

const char *input_text_name(const struct input_text *text);
/* The number of the line that was read last, from 1 on. */
uint64_t input_text_line_number(const struct input_text *text);

/* Set the error "NAME: line 12: ...", and return -1. `back`: how many lines before the one that was
 * read last. */
int input_text_fail(const struct input_text *text, uint64_t back, struct error *error,
                    const char *format, ...) __attribute__((format(printf, 4, 5)));

/*
 * Remembers the number of a text for its next occurrence. A full cache forgets everything.
 */

struct text_cache;

/* `limit`: the bytes of text that fit. */
struct text_cache *input_text_cache_new(size_t limit);
void input_text_cache_free(struct text_cache *cache);

/* The number of an equal text of the same kind, or 0. The caller chooses the kinds. */
uint32_t input_text_cache_get(const struct text_cache *cache, uint32_t kind, struct span text);
/* Add the number of a text that has none yet. */
void input_text_cache_put(struct text_cache *cache, uint32_t kind, struct span text,
                          uint32_t value);

/* ---- import.c ---- */

/* Makes a recording from another file, in an unnamed file, one sample at a time. */

struct import {
    struct profile *profile;
    struct recording_header header;  /* its texts belong to the profile */
    bool has_start;                  /* in the header; else the first sample sets it */
    struct recording_totals totals;  /* import_sample() counts `samples` and sets the end */
    struct recording_writer *writer; /* NULL: no sample yet */
    const char *directory;
    const char *name; /* for messages */
};

/* The unnamed file is made in `directory`. Messages contain `name`. Both are borrowed. */
struct import import_new(const char *directory, const char *name);
void import_free(struct import *import);

/* A text for the header. It belongs to the profile. */
const char *import_text(struct import *import, struct span text);

/* Count the frames of a sample's stack, which is at this line of the text. Return -1 with error if
 * a stack may not have so many. */
int import_frames(struct import *import, const struct input_text *text, uint64_t frames,
                  struct error *error);

/* Add a sample. `bytes`: of the file, that were read so far; a small file must not unpack to a huge
 * profile. */
int import_sample(struct import *import, const struct sample *sample, uint64_t bytes,
                  struct error *error);

/* Returns a descriptor that reads the recording, or -1 with error. */
int import_finish(struct import *import, struct error *error);

/*
 * The readers of text formats. Each reads a text from its first line on into a recording in an
 * unnamed file in `directory`. Each returns the descriptor of that file, or -1 with error. Bad text
 * is an error that names the line.
 */

/* The largest count of a line. A sum over as many lines as there can be does not overflow. */
#define WEIGHT_MOST ((uint64_t)1 << 53)

/* perf-script text: of perf, of beamflame (output/perf.c) and of flame_prof
 * (output/perf.c). */
int perf_text_import(struct input_text *text, const char *directory, struct error *error);

/* Folded stacks. */
int folded_text_import(struct input_text *text, const char *directory, struct error *error);

/* True if the line could be a folded stack. */
bool folded_text_line(struct span line);
