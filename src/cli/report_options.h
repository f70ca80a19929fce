// SPDX-License-Identifier: Apache-2.0
/* The options of `beamflame report` and `beamflame diff`, for their struct command. */
#pragma once

#include "cli/command_line.h"
#include "cli/options.h"

/* Of report: targets are in a struct report_options. */
extern const struct option_group report_option_groups[];
/* Of diff: targets are in a struct diff_options. */
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
