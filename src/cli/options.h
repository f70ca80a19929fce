// SPDX-License-Identifier: Apache-2.0
/* Options of `record`, `report`, `prof` and `diff`, as struct command stores them. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/types.h>

#include "beam/name_keys.h"
#include "beam/vm.h"
#include "cli/command_line.h"
#include "cli/terminal.h"
#include "output/output.h"
#include "rotation/options.h"
#include "session/options.h"
#include "view/selection.h"
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
    bool full_summary;
    bool no_pager;
    struct terminal terminal;                /* on which the summary is printed */
    bool compares;                           /* outputs show a comparison */
    const struct output_format *next_format; /* of the next -o; NULL: by its name */
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
    struct report_options report; /* two paths: the base, and the recording to compare with it */
    enum comparison_per per;
    enum comparison_sort sort;
};

/* True if several recordings are made, each with files of its own. */
bool record_options_make_segments(const struct record_options *options);

/* The files of each segment or snapshot; `path`: of the recording, NULL: none is requested. Borrows
 * both. */
struct segment_files record_options_files(const struct record_options *options, const char *path);

/* The first output that is no regular file; NULL if there is none. */
const char *record_options_output_in_place(const struct record_options *options);

/* The directory of unnamed temporary files. */
static inline const char *temporary_directory(void)
{
    const char *directory = getenv("TMPDIR");

    return directory && directory[0] ? directory : "/tmp";
}

/* ---- record_options.c ---- */

/* The options of `beamflame record`, for its struct command. */

extern const struct option_group record_option_groups[];

/* The defaults. */
void record_options_init(struct record_options *options);
void record_options_free(struct record_options *options);

int record_options_take_arguments(void *options, char **arguments, bool after_dashes,
                                  struct error *error);
int record_options_check(void *options, struct error *error);
/* Check events that are recorded from now on, in place of others. */
int record_options_check_change(const struct record_options *options, struct error *error);

/* ---- report_options.c ---- */

/* The options of `beamflame report` and `beamflame diff`, for their struct command. */

/* Options of report. Their targets are in a struct report_options. */
extern const struct option_group report_option_groups[];
/* Options of diff. Their targets are in a struct diff_options. */
extern const struct option_group diff_option_groups[];

int report_options_take_arguments(void *options, char **arguments, bool after_dashes,
                                  struct error *error);
int report_options_check(void *options, struct error *error);
int report_options_take_diff(void *options, char **arguments, bool after_dashes,
                             struct error *error);
int report_options_check_diff(void *options, struct error *error);

/* Append the events with their values. */
void report_options_notes(struct buffer *text);

void report_options_free(struct report_options *options);

/* ---- shared_options.c ---- */

/* The options that select samples or processes. */

/* Their target is a struct selection_options. */
extern const struct command_option selection_option_list[];
extern const struct command_option trace_option_list[]; /* of recordings */
extern const struct command_option time_option_list[];  /* of recordings */

/* Check --from and --to, when all options are stored. */
int shared_options_check_selection(const struct selection_options *options, struct error *error);

/* Options of every command that writes outputs: what to write. */

/* Their target is a struct output_options. */
extern const struct command_option output_option_list[];
extern const struct command_option compared_output_option_list[]; /* of diff */
extern const struct command_option stats_option_list[];           /* below either of these */
extern const struct command_option memory_option_list[];  /* of the whole program: no target */
extern const struct command_option symbols_option_list[]; /* of record: no target */
/* of commands that need debug files at their start: no target */
extern const struct command_option local_symbols_option_list[];
extern const struct command_option inline_option_list[]; /* no target */
extern const struct command_option view_option_list[];
extern const struct command_option summary_option_list[]; /* of record and report */
extern const struct command_option label_option_list[];

void shared_options_free_output(struct output_options *options);

/* True if an output goes to standard output, and the summary to standard error. */
bool shared_options_use_standard_output(const struct output_options *options);

/* Choose the formats, and look at the terminal, when all options are stored. */
int shared_options_check_output(struct output_options *options, struct error *error);

/* The option --name-by. The target of its group is a struct name_keys. */
extern const struct command_option name_option_list[];

/* The option --assume-release. The target of its group is an int, 0 if the option is not given. */

#define RELEASE_OPTION_TITLE "VMs of unknown releases"
extern const struct command_option release_option_list[];

/* Warn if the VM is treated as another release than its own. */
void shared_options_warn_release(const struct vm *vm);
