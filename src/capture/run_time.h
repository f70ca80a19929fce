// SPDX-License-Identifier: Apache-2.0
/* The run time of BPF programs as the kernel accounts it. */
#pragma once

#include <stdint.h>

#include "capture/probe_link.h"

struct run_time {
    uint64_t runs, ns;
};

/* Make the kernel account run time while the returned descriptor is open. -1 if it can't (before
 * Linux 5.8, or without CAP_SYS_ADMIN). */
int run_time_account(void);

/* The run time since loading of these sites' programs, each counted once; zeros if unknown. */
struct run_time run_time_of(const struct probe_site *sites, int count);
