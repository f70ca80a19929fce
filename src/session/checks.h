// SPDX-License-Identifier: Apache-2.0
/* Checks for `doctor`. */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

#include "capture/probe_link.h"
#include "session/findings.h"

/* ---- probing_checks.c ---- */

/* Checks that load BPF programs, sample, and attach probes to functions of our own. */

/* The results of machine checks that the checks of VMs need. */
struct probing {
    bool works;         /* probes can be attached */
    enum probe_way way; /* the best one that works */
};

/* Takes half a second. */
void probing_checks(struct findings *findings, struct probing *probing);

/* ---- machine_checks.c, vm_checks.c ---- */

/* Check the kernel and its settings, and what this process may do. */
void machine_checks(struct findings *findings);

/* ---- what can be profiled of a VM ---- */

/* Both treat a VM that is newer than all known releases as `assumed_release`; 0: as not supported.
 */

/* Check the VM with this pid. */
void vm_checks(struct findings *findings, pid_t pid, int assumed_release,
               const struct probing *probing);

/* Check every VM of the host. */
void vm_checks_all(struct findings *findings, int assumed_release, const struct probing *probing);
