// SPDX-License-Identifier: Apache-2.0
/*
 * What a hit of a probe costs on this machine, measured on functions of our own.
 *
 * What decides is how the kernel gets past the instruction under the breakpoint. Pushes, branches
 * and nops it emulates; a nop of five bytes it replaces by a call (Linux 6.18); any other is
 * executed elsewhere, with a trap after it (arch/x86/kernel/uprobes.c: branch_setup_xol_ops,
 * push_setup_xol_ops, arch_uprobe_optimize). In a virtual machine that second trap can cost thirty
 * times as much as the rest.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "capture/probe_link.h"
#include "util/error.h"

enum trap {
    TRAP_EMULATED, /* push, call, jump, nop */
    TRAP_NOP5,
    TRAP_ENDBR,   /* endbr64, with which functions begin where -fcf-protection is the default */
    TRAP_STEPPED, /* all others */
    TRAPS,
};

struct calibration {
    enum probe_way way; /* the better one that works here */
    double trap_ns[TRAPS];
    double return_ns; /* what a return probe costs beside the trap at the entry */
};

/* Takes some ms of CPU time, and some 50 ms. ERROR_PERMISSION or ERROR_UNSUPPORTED where probes
 * can't be used. */
int calibrate(struct calibration *calibration, struct error *error);

/* How the kernel gets past the instruction that these bytes begin with. */
enum trap trap_of_code(const uint8_t *code, size_t size);

/* The same of the code at a site; TRAP_STEPPED where its file can't be read. */
enum trap trap_of_site(const struct probe_site *site);

/* What a hit of this group costs on a node, beside the run time of its program; of the dearest
 * place where they differ. Where a function has a probe at its entry and one at its return, both
 * are hits and share the trap. */
double calibration_hit_ns(const struct calibration *calibration, const struct probe_site *sites,
                          int count);
