// SPDX-License-Identifier: Apache-2.0
/* The options of this folder, and its reports to the caller. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "output/output.h"
#include "session/options.h"
#include "session/session.h"
#include "util/error.h"

enum recorder_state {
    RECORDER_RECORDS,
    RECORDER_WAITS, /* for a trigger */
    RECORDER_FIRED, /* records what a trigger began */
    RECORDER_PAUSED,
    RECORDER_ENDS, /* no progress follows */
};

/* Reports to the user. Processes that write a segment call the functions too. */
struct rotation_reports {
    void *context; /* for the functions but `warn` */
    warn_function warn;
    /* An error of one segment. The next ones are not affected. */
    void (*failed)(void *context, const struct error *error);
    /* A file of a segment is complete. Not called for statistics. */
    void (*wrote)(void *context, const char *path);
    /* An output was not written, because no sample counts for it. */
    void (*empty)(void *context, const struct output_empty *empty);
    /* Called after each step. */
    void (*progress)(void *context, struct session *session, enum recorder_state state);
    /* A segment can't be written, because of `problem`. Called again each second until it returns
     * true: then the next segment is begun. Nothing is recorded meanwhile. NULL: recording ends. */
    bool (*make_room)(void *context, const struct error *problem);
    /* The recording ends at max_size. */
    void (*full)(void *context, uint64_t max_size);
    /* A trigger fired. Its recording has `before` seconds already, and gets `after` more. */
    void (*fired)(void *context, const char *trigger, double before, double after);
    int log_file; /* descriptor of the file that gets the log; -1: none */
};

struct steering; /* rotation/steering.h */

/* When recordings begin and end. */
struct recorder_options {
    double duration;           /* seconds; 0: until stopped */
    uint64_t max_size;         /* of a recording, bytes; 0: unlimited */
    double loop;               /* seconds of a segment; 0: no segments */
    double first_loop;         /* the same of the first segment; 0: as of all others */
    double before, after;      /* seconds to record around the firing of a trigger */
    double holdoff;            /* minimum seconds from one firing to the next */
    bool fires_at_exit;        /* the end of a target is a trigger */
    int step_ms;               /* time from one step to the next, at most */
    struct steering *steering; /* NULL: nobody steers */
    const struct rotation_reports *reports;
};

/* The files of each segment. */
struct segment_files {
    const char *recording; /* NULL: none requested */
    const struct output_request *requests;
    size_t request_count;
    const struct output_settings *settings; /* of the outputs */
    const char *stats_path;                 /* NULL: none requested */
    size_t keep;                            /* newest files to keep of each; 0: all */
    const char *temporary;                  /* directory for recordings that lost theirs */
};
