// SPDX-License-Identifier: Apache-2.0
/* The options of `beamflame record`, for its struct command. */
#pragma once

#include "cli/command_line.h"
#include "cli/options.h"

extern const struct option_group record_option_groups[];

/* The defaults. */
void record_options_init(struct record_options *options);
void record_options_free(struct record_options *options);

int record_options_take_arguments(void *options, char **arguments, bool after_dashes,
                                  struct error *error);
int record_options_check(void *options, struct error *error);
