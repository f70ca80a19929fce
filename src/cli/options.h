// SPDX-License-Identifier: Apache-2.0
/* Options of `record`, `report` and `diff`, as struct command stores them. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "output/output.h"
#include "view/view.h"
#include "session/options.h"

enum { OUTPUTS_MAX = 32 };

/* Options of all three commands. */
struct output_options {
    struct output_request requests[OUTPUTS_MAX];
    size_t count;
    struct output_settings settings;
    const char *stats_path;
    bool quiet;
    bool no_summary;
    bool compares;                           /* outputs show a comparison */
    const struct output_format *next_format; /* of the next -o; NULL: that of its name */
};

struct record_options {
    struct target_options targets;
    struct session_options session;
    double duration;      /* seconds; 0: until stopped */
    double loop;          /* seconds of a segment; 0: no segments */
    size_t keep;          /* newest files to keep of each output; 0: all */
    double before, after; /* seconds to record around the firing of a trigger */
    double holdoff;       /* minimum seconds from one firing to the next */
    uint64_t max_size;    /* of a recording, bytes; 0: unlimited */
    struct output_options output;
};

struct report_options {
    const char **paths;
    size_t path_count;
    struct output_options output;
};

struct diff_options {
    struct report_options report; /* two paths: the base, and what is compared with it */
    enum comparison_per per;
};

/* Whether several recordings are made, each with files of its own. */
bool record_makes_segments(const struct record_options *options);
