// SPDX-License-Identifier: Apache-2.0
/* The options that say what is written, of every command that writes outputs. */
#pragma once

#include "cli/command.h"
#include "cli/options.h"

/* Their target is a struct output_options. */
extern const struct command_option output_option_list[];
extern const struct command_option compared_output_option_list[]; /* of diff */
extern const struct command_option stats_option_list[];           /* below either of these */
extern const struct command_option view_option_list[];

void output_options_free(struct output_options *options);

/* Choose the formats, when all options are stored. */
int output_options_check(struct output_options *options, struct error *error);
