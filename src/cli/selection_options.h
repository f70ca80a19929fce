// SPDX-License-Identifier: Apache-2.0
/* The options that select samples or processes. */
#pragma once

#include "cli/command.h"
#include "view/selection.h"

/* Their target is a struct selection_options. */
extern const struct command_option selection_option_list[];
extern const struct command_option time_option_list[]; /* of recordings */

/* Check --from and --to, when all options are stored. */
int selection_options_check(const struct selection_options *options, struct error *error);
