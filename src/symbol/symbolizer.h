// SPDX-License-Identifier: Apache-2.0
/*
 * Turns the samples of one VM into samples of a profile: thread, process, activity, and stack with
 * names. Reads from the live target what a sample only points to.
 */
#pragma once

#include "beam/code.h"
#include "hooks/hooks.h"
#include "beam/name_keys.h"
#include "beam/process_sweep.h"
#include "beam/vm.h"
#include "os/kernel_symbols.h"
#include "profile/profile.h"
#include "profile/threads.h"
#include "recording/recording.h"
#include "symbol/snapshot.h"
#include "util/error.h"

struct symbolizer;

/* Borrows all. `keys` are the user's keys for labels of processes, or NULL; `service` is the user's
 * name for the VM's service, or NULL. NULL with error. */
struct symbolizer *symbolizer_new(struct vm *vm, const struct name_keys *keys, const char *service,
                                  struct profile *profile, struct error *error);
/* Put samples and threads into this new profile from now on. It contains only events, and the
 * targets of symbolizers that were moved to it earlier. The old profile must exist until this
 * returns. */
void symbolizer_move(struct symbolizer *symbolizer, struct profile *profile);
/* As frame_names_set_kernel(). */
void symbolizer_set_kernel(struct symbolizer *symbolizer, const struct kernel_symbols *kernel,
                           bool addresses);
void symbolizer_free(struct symbolizer *symbolizer);

/* From now on, names of a process that runs are read again after `ns` in place of a second, and so
 * are the metrics that need a walk through it. At least 0.1 s. */
void symbolizer_set_pace(struct symbolizer *symbolizer, uint64_t ns);

/* The VM's entry in the profile. */
target_id symbolizer_target(const struct symbolizer *symbolizer);

/* The address of the word that changes when code is loaded. The kernel copies it into each
 * sample. */
uint64_t symbolizer_code_generation_address(const struct symbolizer *symbolizer);

/* The target's code. It belongs to the symbolizer. */
struct code *symbolizer_code(struct symbolizer *symbolizer);

/* Notice code that was loaded since the last call. Call about once a second; symbolizer_sample()
 * does it too if the sample shows that there is such code. */
void symbolizer_refresh(struct symbolizer *symbolizer);

/* The time at which code was noticed last, CLOCK_MONOTONIC; 0: never. */
uint64_t symbolizer_code_noticed(const struct symbolizer *symbolizer);

/* The process with this pid term. 0 if it is no pid of this node. */
process_id symbolizer_process(struct symbolizer *symbolizer, uint64_t pid, uint64_t time);

/* The VM keeps traces by these atoms: processes that sweeps read have theirs from now on. Samples
 * of the kernel have them without this. */
void symbolizer_set_traces(struct symbolizer *symbolizer, const struct wire_trace_atoms *atoms);

/* The hooks of the VM. They belong to the symbolizer, and are valid until its next call. NULL with
 * error. */
struct hooks *symbolizer_hooks(struct symbolizer *symbolizer, struct error *error);

/* Find the functions that show what a thread does. That takes long. Samples can wait meanwhile. */
void symbolizer_find_states(struct symbolizer *symbolizer);

/* Notice what changes seldom. Call about once a second. `has_rested`: the VM has not run since the
 * last call. */
void symbolizer_look(struct symbolizer *symbolizer, bool has_rested);

/* Let the process that reads the VM's files end if it is not in use (parser_rest()), and free the
 * hooks. Call about once a second. */
void symbolizer_rest(struct symbolizer *symbolizer, bool is_idle);

/* Read how long each thread has run. Call when sampling begins and ends, and some times between: a
 * thread counts from the first look that finds it to the last one. `has_rested` as above. */
void symbolizer_look_at_threads(struct symbolizer *symbolizer, bool has_rested);

/* Name the frames of native functions in the recording whose debug file has arrived since. Call
 * before each flush and before the end. `writer` writes the symbolizer's profile. */
void symbolizer_name_late(struct symbolizer *symbolizer, struct recording_writer *writer);

/* Append how long each thread ran from the first look to the last one. */
void symbolizer_threads(const struct symbolizer *symbolizer, struct thread_times *times);

/* Expand the snapshot, fill *sample (except event, values and peer), and count the results and the
 * losses in *totals, but not the sample itself: segment_append() does. */
void symbolizer_sample(struct symbolizer *symbolizer, struct snapshot *snapshot,
                       struct sample *sample, struct recording_totals *totals);

/* The same for a process that does not run, as a sweep read it at `time`. */
void symbolizer_swept(struct symbolizer *symbolizer, const struct swept_process *swept,
                      uint64_t time, struct sample *sample, struct recording_totals *totals);

/* The same for a process that runs but gets no CPU samples because its thread waits in the kernel.
 * `id`: pid term of the process at `address`. False if the thread does not wait, or no longer. */
bool symbolizer_waiting(struct symbolizer *symbolizer, struct process_sweep *sweep,
                        uint64_t address, uint64_t id, struct sample *sample,
                        struct recording_totals *totals);

/* The same for a process that ran when the core of the VM was written, with the registers of its
 * thread. False if no thread ran the process, or if the core does not contain its stack. */
bool symbolizer_of_core(struct symbolizer *symbolizer, struct process_sweep *sweep,
                        uint64_t address, uint64_t id, struct sample *sample,
                        struct recording_totals *totals);

/* Return the status of a process that waits with the stack of the last sample and an empty queue:
 * STATUS_IDLE, STATUS_BLOCKED, or STATUS_WAITING if the stack does not show which. */
enum process_status symbolizer_wait(const struct symbolizer *symbolizer);
