// SPDX-License-Identifier: Apache-2.0
/* Starts the command that is to be profiled, without the rights and the state of beamflame. */
#pragma once

#include <sys/types.h>

#include "util/error.h"

/*
 * Start a command and return its pid, or -1 with error.
 *
 * The command runs as `user`; NULL: as the user who became root by sudo to start beamflame, else as
 * the user of beamflame. A command of another user than root has no capabilities. Its signals have
 * their default actions, but SIGHUP stays ignored if it is (nohup). Of the descriptors it gets 0, 1
 * and 2.
 */
pid_t command_start(char **command, const char *user, struct error *error);
