// SPDX-License-Identifier: Apache-2.0
/*
 * Whether probes at return may be put into a process that filters its system calls.
 *
 * Since Linux 6.11 a function with such a probe returns through a system call of its own,
 * uretprobe. A filter that does not know it, as container runtimes set them up, refuses it, and the
 * process dies. Later kernels keep filters from seeing it (6.14, "seccomp: passthrough uretprobe
 * systemcall without filtering", and stable releases of before). What this kernel does is tried on
 * a process of our own.
 */
#pragma once

#include "capture/probe_link.h"
#include "util/error.h"

/* 0 if these sites can be attached to `pid` without harm; ERROR_UNSUPPORTED if not. */
int return_probes_check(enum probe_way way, pid_t pid, const struct probe_site *sites, int count,
                        struct error *error);
