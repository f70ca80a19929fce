// SPDX-License-Identifier: Apache-2.0
/*
 * Whether a probe on a nop of five bytes harms who runs it.
 *
 * The kernel turns such a nop into a call when a probe there is first hit (Linux 6.18: commit
 * ba2bfc97b462, arch_uprobe_optimize in arch/x86/kernel/uprobes.c). The call and what it leads to
 * push onto the target's stack, where a function that calls no other may keep values: in the 128
 * bytes below the stack pointer, the red zone (System V ABI 3.2.2). Later kernels skip it. Which
 * kernel this is, is tried on a function of our own.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "capture/probe_link.h"
#include "util/error.h"

/* What was seen of a probe on such a nop. */
struct nop5_trial {
    uint64_t runs, hits;
    uint64_t changed; /* words of red zones */
};

/* Takes some 60 ms. Fails where the probe can't be attached. */
int nop5_try(enum probe_way way, struct nop5_trial *trial, struct error *error);

/* False also if the trial does not tell. */
bool nop5_is_harmless(const struct nop5_trial *trial);

/* 0 if a probe can go there. ERROR_UNSUPPORTED if the code there is such a nop, and harm would be
 * done or can't be ruled out; this kernel is tried when that is first asked. */
int nop5_check(enum probe_way way, const struct probe_point *point, struct error *error);
