// SPDX-License-Identifier: Apache-2.0
/*
 * All that is needed to turn the samples of one VM into samples of a profile: who ran, what it
 * did, and its stack by name. Reads the live target for what the sample only points to.
 */
#pragma once

#include "beam/code.h"
#include "beam/process_sweep.h"
#include "beam/vm.h"
#include "os/kernel_symbols.h"
#include "profile/profile.h"
#include "profile/recording.h"
#include "profile/thread_time.h"
#include "symbol/snapshot.h"
#include "util/error.h"

struct symbolizer;

/* `vm` and `profile` are borrowed. NULL with error. */
struct symbolizer *symbolizer_new(struct vm *vm, struct profile *profile, struct error *error);
/* Samples and threads become entries of this profile from now on: a new one, in which no more is
 * than events and the targets that were moved before this one. The old one is needed until then. */
void symbolizer_move(struct symbolizer *symbolizer, struct profile *profile);
/* Until kernel symbols are given, kernel functions are named by their address. Borrowed. */
void symbolizer_set_kernel(struct symbolizer *symbolizer, const struct kernel_symbols *kernel);
void symbolizer_free(struct symbolizer *symbolizer);

/* Address of the word that changes when code is loaded: the kernel copies it into each sample. */
uint64_t symbolizer_code_generation_address(const struct symbolizer *symbolizer);

/* What is known of the target's code; it belongs to the symbolizer. */
struct code *symbolizer_code(struct symbolizer *symbolizer);

/* Take notice of code that was loaded since. Call at least every 100 ms. */
void symbolizer_refresh(struct symbolizer *symbolizer);

/* The process that a pid term names; 0 if it is none of this node. */
process_id symbolizer_process(struct symbolizer *symbolizer, uint64_t pid, uint64_t time);

/* Find out what takes long, and is not needed before the first sample: samples can wait. */
void symbolizer_prepare(struct symbolizer *symbolizer);

/* Take notice of what changes seldom, and append how long each thread ran since the first call.
 * Call when sampling begins and ends, and about once a second between. */
void symbolizer_look(struct symbolizer *symbolizer, struct thread_times *times);

/* Expand the snapshot, fill *sample (all but event, values and peer) and count what was found and
 * lost in *totals. */
void symbolizer_sample(struct symbolizer *symbolizer, struct snapshot *snapshot,
                       struct sample *sample, struct recording_totals *totals);

/* The same of a process that does not run, as a sweep read it at `time`. */
void symbolizer_swept(struct symbolizer *symbolizer, const struct swept_process *swept,
                      uint64_t time, struct sample *sample, struct recording_totals *totals);

/* The same of a process that runs, and has no CPU sample, for its thread waits in the kernel. `id`:
 * pid term of the process at `address`. False if it is not so, or no longer. */
bool symbolizer_waiting(struct symbolizer *symbolizer, struct process_sweep *sweep,
                        uint64_t address, uint64_t id, struct sample *sample,
                        struct recording_totals *totals);

/* The same of a process that ran when the core that the VM is of was written, by the registers of
 * its thread. False if none ran it, or its stack is not there. */
bool symbolizer_of_core(struct symbolizer *symbolizer, struct process_sweep *sweep,
                        uint64_t address, uint64_t id, struct sample *sample,
                        struct recording_totals *totals);
