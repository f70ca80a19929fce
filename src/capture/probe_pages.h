// SPDX-License-Identifier: Apache-2.0
/*
 * Makes the kernel read the code that it is to probe.
 *
 * If the kernel has to read it while it attaches (copy_insn() in kernel/events/uprobes.c), ext4 of
 * Linux 6.18 warns in the kernel's log about a lock that is not held. If it has to wait for a
 * server of files then, no process of the host can fork meanwhile (register_for_each_vma()).
 */
#pragma once

#include "util/error.h"

struct probe_site;

/* Let a process that can be left behind (os/patience.h) read the code. Where a page can't be read,
 * attaching fails with the reason. ERROR_FAILED if the server of the file does not answer. */
int probe_pages_read(const struct probe_site *sites, int count, struct error *error);
