// SPDX-License-Identifier: Apache-2.0
/* Makes a recording from another file, in an unnamed file, one sample at a time. */
#pragma once

#include "input/input_text.h"
#include "profile/profile.h"
#include "recording/recording.h"
#include "util/error.h"
#include "util/span.h"

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
