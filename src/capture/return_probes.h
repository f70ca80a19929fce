// SPDX-License-Identifier: Apache-2.0
/*
 * Checks if probes at return may be put into a process that filters its system calls.
 *
 * Since Linux 6.11, a function with such a probe returns through a system call of its own,
 * uretprobe. A filter that does not know this call, such as those of container runtimes, refuses
 * it, and the process dies. Later kernels do not show the call to filters (6.14, "seccomp:
 * passthrough uretprobe systemcall without filtering", and earlier stable releases). A process of
 * our own tries what this kernel does.
 */
#pragma once

#include "capture/probe_link.h"
#include "util/error.h"

/* Return 0 if these sites can be attached to `pid` without harm, else ERROR_UNSUPPORTED. */
int return_probes_check(enum probe_way way, pid_t pid, const struct probe_site *sites, int count,
                        struct error *error);
