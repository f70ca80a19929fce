// SPDX-License-Identifier: Apache-2.0
/*
 * Checks if a probe on a nop of five bytes harms the program that runs it.
 *
 * The kernel turns such a nop into a call when a probe there is first hit (Linux 6.18: commit
 * ba2bfc97b462, arch_uprobe_optimize in arch/x86/kernel/uprobes.c). The call and the code behind it
 * push onto the target's stack. There, a function that calls no other may keep values in the 128
 * bytes below the stack pointer, the red zone (System V ABI 3.2.2). Later kernels skip the red
 * zone. A function of our own shows what this kernel does.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "capture/probe_link.h"
#include "util/error.h"

/* The result of a trial of a probe on such a nop. */
struct nop5_trial {
    uint64_t runs, hits;
    uint64_t changed; /* words of red zones that changed */
};

/* Try it. Takes some 60 ms. Fails where the probe can't be attached. */
int probe_safety_try_nop5(enum probe_way way, struct nop5_trial *trial, struct error *error);

/* True if the probe did no harm. False also if the trial is inconclusive. */
bool probe_safety_nop5_is_harmless(const struct nop5_trial *trial);

/* Return 0 if a probe at the point does no harm. ERROR_UNSUPPORTED if the point has a nop of five
 * bytes, and probe_safety_try_nop5() did harm or was inconclusive. The first call tries this
 * kernel. */
int probe_safety_check_nop5(enum probe_way way, const struct probe_point *point,
                            struct error *error);

/*
 * Checks if probes at return may be put into a process that filters its system calls.
 *
 * Since Linux 6.11, a function with such a probe returns through a system call of its own,
 * uretprobe. A filter that does not know this call, such as those of container runtimes, refuses
 * it, and the process dies. Later kernels do not show the call to filters (6.14, "seccomp:
 * passthrough uretprobe systemcall without filtering", and earlier stable releases). A process of
 * our own tries what this kernel does.
 */

/* Return 0 if these sites can be attached to `pid` without harm, else ERROR_UNSUPPORTED. */
int probe_safety_check_returns(enum probe_way way, pid_t pid, const struct probe_site *sites,
                               int count, struct error *error);
