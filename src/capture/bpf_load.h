// SPDX-License-Identifier: Apache-2.0
/*
 * Loads BPF objects. libbpf's messages go to util/log.h. If the kernel refuses a program, the error
 * contains the last line of the verifier, and the log all of its output.
 */
#pragma once

#include <stdint.h>

#include "capture/probe_link.h"
#include "util/error.h"

struct bpf_object_skeleton;

/* Pass libbpf's messages to util/log.h: warnings and information as decisions, the rest as details.
 * Call this before any other function of libbpf. */
void bpf_load_log_messages(void);

/* Load an object that is open. Return 0, or -1 with ERROR_PERMISSION or ERROR_UNSUPPORTED. */
int bpf_load(struct bpf_object_skeleton *skeleton, struct error *error);

/* Set the error for an object that can't be loaded or opened. `code` is a negative errno. Return
 * -1. */
int bpf_load_error(int code, struct error *error);

/* The run time of BPF programs as the kernel accounts it. */

struct run_time {
    uint64_t runs, ns;
};

/* Make the kernel account run time while the returned descriptor is open. -1 if it can't (before
 * Linux 5.8, or without CAP_SYS_ADMIN). */
int bpf_load_account(void);

/* The run time since loading of these sites' programs, each counted once; zeros if unknown. */
struct run_time bpf_load_run_time(const struct probe_site *sites, int count);
