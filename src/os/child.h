// SPDX-License-Identifier: Apache-2.0
/* Processes that this program forks to work apart from it. */
#pragma once

#include <stddef.h>

/* For a process that fork() has just made: set its name, ignore the signals of the terminal and the
 * user, which are for the program, and close all descriptors but these. Sorts `kept`. */
void child_begin(const char *name, int *kept, size_t count);
