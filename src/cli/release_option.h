// SPDX-License-Identifier: Apache-2.0
/* The option --assume-release. The target of its group is an int, 0 if the option is not given. */
#pragma once

#include "beam/vm.h"
#include "cli/command.h"

#define RELEASE_OPTION_TITLE "VMs of unknown releases"
extern const struct command_option release_option_list[];

/* Warn if the VM is treated as another release than its own. */
void release_option_warn(const struct vm *vm);
