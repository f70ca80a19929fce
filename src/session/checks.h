// SPDX-License-Identifier: Apache-2.0
/* Checks for `doctor`. */
#pragma once

#include <sys/types.h>

#include "session/findings.h"
#include "session/probing_checks.h"

/* Check the kernel and its settings, and what this process may do. */
void machine_checks(struct findings *findings);

/* ---- what can be profiled of a VM ---- */

/* Check the VM with this pid. */
void vm_checks(struct findings *findings, pid_t pid, const struct probing *probing);

/* Check every VM of the host. */
void vm_checks_all(struct findings *findings, const struct probing *probing);
