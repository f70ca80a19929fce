// SPDX-License-Identifier: Apache-2.0
/*
 * What a hit of a probe costs on this machine, measured on functions of our own.
 *
 * What decides is how the kernel gets past the instruction under the breakpoint. Pushes, branches
 * and nops it emulates; a nop of five bytes it turns into a call (x86-64, Linux 6.18); any other
 * is executed out of line with a trap after it (arch/x86/kernel/uprobes.c, branch_setup_xol_ops,
 * push_setup_xol_ops), and where a hypervisor intercepts that trap a hit costs thirty times as
 * much.
 */
#pragma once

#include <stdbool.h>
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
    enum probe_way way;
    double trap_ns[TRAPS]; /* entry, with an empty program */
    double return_ns;      /* what a return probe adds to the trap at the entry */
    double program_ns;     /* of the above, for a program that does nothing */
};

/* Some ms of CPU time and some 50 ms of waiting. ERROR_PERMISSION, or ERROR_UNSUPPORTED where the
 * kernel has no uprobes. */
int calibrate(struct calibration *calibration, struct error *error);

/* How the kernel gets past the instruction that begins with these bytes. */
enum trap trap_of_code(const uint8_t *code, size_t size);
const char *trap_name(enum trap trap);

/* The same for the code at a site; TRAP_STEPPED if its file can't be read. */
enum trap trap_of_site(const struct probe_site *site);

/* What a run of a program of this group costs, beside the run time of the program. Where sites
 * differ, of the dearest: sites of entry and return of one function are seen as one. */
double calibration_hit_ns(const struct calibration *calibration, const struct probe_site *sites,
                          int count);
