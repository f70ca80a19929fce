// SPDX-License-Identifier: Apache-2.0
/* Options of `record`, `report` and `diff`, as struct command stores them. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/types.h>

#include "output/output.h"
#include "rotation/options.h"
#include "session/options.h"
#include "view/view.h"

enum { OUTPUTS_MAX = 32 };

/* Options of all three commands. */
struct output_options {
    struct output_request requests[OUTPUTS_MAX];
    size_t count;
    struct output_settings settings;
    char *events; /* of `report -e`; settings.event points to it */
    const char *stats_path;
    bool quiet;
    bool no_summary;
    bool compares;                           /* outputs show a comparison */
    const struct output_format *next_format; /* of the next -o; NULL: that of its name */
};

struct record_options {
    struct target_options targets;
    struct session_options session;
    struct recorder_options recorder;
    size_t keep; /* newest files of segments to keep of each output; 0: all */
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
    enum comparison_sort sort;
};

/* Whether several recordings are made, each with files of its own. */
bool record_options_make_segments(const struct record_options *options);

/* The directory of unnamed temporary files. */
static inline const char *temporary_directory(void)
{
    const char *directory = getenv("TMPDIR");

    return directory && directory[0] ? directory : "/tmp";
}
