// SPDX-License-Identifier: Apache-2.0
/* Checks that the code of a VM equals its files, but for probes that are attached now. */
#pragma once

#include <sys/types.h>

#include "os/memory.h"
#include "session/findings.h"

void code_check(struct findings *findings, const char *check, pid_t pid, struct memory *memory);
