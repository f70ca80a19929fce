// SPDX-License-Identifier: Apache-2.0
/* Checks that load BPF programs, sample, and attach probes to functions of our own. */
#pragma once

#include <stdbool.h>

#include "capture/probe_link.h"
#include "session/findings.h"

/* What the checks of VMs need to know. */
struct probing {
    bool works;         /* probes can be attached */
    enum probe_way way; /* the best one that works */
};

/* Takes half a second. */
void probing_checks(struct findings *findings, struct probing *probing);
