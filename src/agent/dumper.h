// SPDX-License-Identifier: Apache-2.0
/*
 * The process that takes dumps for the HTTP process, which may not read a VM. A child with limits
 * takes each dump, so neither a VM nor a request delays recording.
 *
 *   HTTP ── request: which VM ──> dumper ── fork ──> child: reads the VM
 *    ^                                                 │
 *    └───────────── reply: a file in memory ───────────┘
 */
#pragma once

#include <stdbool.h>

#include "agent/worker.h"
#include "util/error.h"

enum { DUMPS_AT_ONCE = 2 };

/* Make the two ends of the channel: the first is for requests, the second for the dumper. They
 * outlive both processes. -1 with error. */
int dumper_open_channel(int ret_ends[2], struct error *error);

struct dumper_options {
    int roster;   /* the file of the VMs that are recorded (agent/roster.h) */
    int channel;  /* the second end */
    int log_file; /* -1: none */
};

int dumper_start(struct worker *worker, const struct dumper_options *options, struct error *error);

/* Request a dump through the first end of the channel, and wait for it. `node` is a name, with or
 * without its host, or a pid; NULL: the only VM. Return a file that reads it, or -1 with error:
 * ERROR_NO_PROCESS if `node` names no VM, ERROR_USAGE if it names several. *ret_busy: too many
 * dumps are being taken. Any thread may call it. */
int dumper_request(int channel, const char *node, bool as_json, bool *ret_busy,
                   struct error *error);
