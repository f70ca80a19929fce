// SPDX-License-Identifier: Apache-2.0
/* A recording that is made of another file: in an unnamed one, as samples are read from that. */
#pragma once

#include "profile/profile.h"
#include "profile/recording.h"
#include "util/error.h"
#include "util/span.h"

struct import {
    struct profile *profile;
    struct recording_header header;  /* its texts are the profile's */
    bool has_start;                  /* the header's; else it is that of the samples */
    struct recording_totals totals;  /* but for `samples` and the end */
    struct recording_writer *writer; /* NULL: there was no sample */
    const char *directory;
};

/* `directory`: for the unnamed file; borrowed. */
struct import import_new(const char *directory);
void import_free(struct import *import);

/* Text for the header. */
const char *import_text(struct import *import, struct span text);

int import_sample(struct import *import, const struct sample *sample, struct error *error);

/* The descriptor that reads the recording, -1 with error. */
int import_finish(struct import *import, struct error *error);
