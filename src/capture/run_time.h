// SPDX-License-Identifier: Apache-2.0
/* The run time of BPF programs as the kernel accounts it. */
#pragma once

#include <stdint.h>

#include "capture/probe_link.h"

struct run_time {
    uint64_t runs, ns;
};

/* The kernel accounts as long as the descriptor is open that this returns; -1 if it can't (before
 * Linux 5.8, or without CAP_SYS_ADMIN). */
int run_time_account(void);

/* Of the programs of these sites, each once, since they were loaded; zeros if not known. */
struct run_time run_time_of(const struct probe_site *sites, int count);
