// SPDX-License-Identifier: Apache-2.0
/* The options that select samples or processes. */
#pragma once

#include "beam/name_keys.h"
#include "beam/vm.h"
#include "cli/command_line.h"
#include "cli/options.h"
#include "view/selection.h"

/* Their target is a struct selection_options. */
extern const struct command_option selection_option_list[];
extern const struct command_option trace_option_list[]; /* of recordings */
extern const struct command_option time_option_list[];  /* of recordings */

/* Check --from and --to, when all options are stored. */
int shared_options_check_selection(const struct selection_options *options, struct error *error);

/* The options that say what is written, of every command that writes outputs. */

/* Their target is a struct output_options. */
extern const struct command_option output_option_list[];
extern const struct command_option compared_output_option_list[]; /* of diff */
extern const struct command_option stats_option_list[];           /* below either of these */
extern const struct command_option memory_option_list[]; /* of the whole program: no target */
extern const struct command_option view_option_list[];
extern const struct command_option label_option_list[];

void shared_options_free_output(struct output_options *options);

/* Choose the formats, when all options are stored. */
int shared_options_check_output(struct output_options *options, struct error *error);

/* The option --name-by. The target of its group is a struct name_keys. */
extern const struct command_option name_option_list[];

/* The option --assume-release. The target of its group is an int, 0 if the option is not given. */

#define RELEASE_OPTION_TITLE "VMs of unknown releases"
extern const struct command_option release_option_list[];

/* Warn if the VM is treated as another release than its own. */
void shared_options_warn_release(const struct vm *vm);
