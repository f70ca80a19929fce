// SPDX-License-Identifier: Apache-2.0
/*
 * The cost of a hit of a probe on this machine, measured on functions of our own.
 *
 * The cost depends on how the kernel gets past the instruction under the breakpoint
 * (arch/uprobe.h). In a virtual machine the second trap of an instruction that is executed
 * elsewhere can cost thirty times as much as the rest.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "arch/uprobe.h"
#include "capture/probe_link.h"
#include "util/error.h"

struct calibration {
    enum probe_way way; /* the best way that works here */
    double trap_ns[TRAPS];
    double return_ns; /* cost of a return probe without the trap at the entry */
};

/* Measure the costs. Takes some 50 ms, of which some ms are CPU time. ERROR_PERMISSION or
 * ERROR_UNSUPPORTED where probes can't be used. */
int calibrate(struct calibration *calibration, struct error *error);

/* The cost in ns of a hit of these sites on a node, without the run time of its program. If sites
 * differ, it is the cost at the most expensive one. A probe at the entry and one at the return of a
 * function share the trap, and both have hits. */
double calibration_hit_ns(const struct calibration *calibration, const struct probe_site *sites,
                          int count);
