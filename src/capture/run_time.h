// SPDX-License-Identifier: Apache-2.0
/* The run time of BPF programs as the kernel accounts it. */
#pragma once

#include <stdint.h>

struct bpf_program;

struct run_time {
    uint64_t runs, ns;
};

/* The kernel accounts as long as the descriptor is open that this returns; -1 if it can't (before
 * Linux 5.8, or without CAP_SYS_ADMIN). */
int run_time_account(void);

/* Of one program since it was loaded; zeros if not known. */
struct run_time run_time_of(const struct bpf_program *program);
