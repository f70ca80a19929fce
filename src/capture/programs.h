// SPDX-License-Identifier: Apache-2.0
/*
 * The BPF programs of bpf/, their shared maps, and the ring buffer of samples. sampler.h attaches
 * programs to perf events, event_probes.h to probes in the code of the VM.
 *
 *   new ──> open ──> want... ──> load ──> { add_target, poll, remove_target }... ──> free
 *
 * Everything attached belongs to descriptors of this process: when it ends, in whatever way, the
 * kernel removes the programs.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "beam/vm.h"
#include "capture/sample_clock.h"
#include "util/error.h"
#include "wire.h"

struct bpf_program;
struct programs;

/* The most samples with stacks that an event may take of a target a second, over each 100 ms, even
 * if the budget has room for more. */
enum { STACKS_PER_SECOND = 2000 };

struct programs_options {
    const struct clock_event *clock; /* of CPU samples */
    uint32_t frequency;              /* CPU samples a second on each CPU */
    uint32_t targets;                /* that there can be at once */
    uint32_t schedulers;             /* threads of all of them */
    uint32_t slots;                  /* events of all targets: each has a slot */
    uint32_t histograms;             /* of all slots together */
    uint32_t processes;              /* processes of all targets: each needs room in a map */
};

struct programs *programs_new(const struct programs_options *options);
void programs_free(struct programs *programs);

/* Open the object, with no program wanted. */
int programs_open(struct programs *programs, struct error *error);

/* Mark a program to be loaded. NULL if there is none of that name, or if programs are loaded
 * already and this one is not. The program belongs to `programs`. */
struct bpf_program *programs_want(struct programs *programs, const char *name);

/* Load the wanted programs. ERROR_PERMISSION names the capability, ERROR_UNSUPPORTED the kernel
 * needed. */
int programs_load(struct programs *programs, struct error *error);

/* Add a target: hits in this VM's threads count from now on. `code_generation_address` is a word of
 * the target that is copied into each sample, 0 for none. Of the ticks that hit it, the share
 * `sampled` gives a CPU sample: 1 all of them, 0 none. */
int programs_add_target(struct programs *programs, const struct vm *vm,
                        uint64_t code_generation_address, double sampled, struct error *error);

/* The traces of this target's processes are read from now on, too. */
void programs_set_traces(struct programs *programs, const struct vm *vm,
                         const struct wire_trace_atoms *atoms);

/* Forget a target that has ended. */
void programs_remove_target(struct programs *programs, const struct vm *vm);
/* Let the program find_memories search for the memory map of the process, for at most 1,024
 * processes at once.
 * */
void programs_want_memory(struct programs *programs, pid_t pid);
/* Return the address of that map in the kernel, 0 if it was not found, and forget the process. */
uint64_t programs_take_memory(struct programs *programs, pid_t pid);

/* Wait up to `timeout_ms` for a batch of samples, then pass all samples to `each` (bytes as in
 * wire.h, aligned to 8) up to the first that is newer than this: new ones may come faster than
 * `each` takes them. Return the number of samples, or -1 with error. 0 also after a signal. */
typedef void (*programs_each)(void *context, const void *data, size_t size);
int programs_poll(struct programs *programs, int timeout_ms, programs_each each, void *context,
                  struct error *error);

/* Take the pid of a process that has executed a program that may be a VM (start_watch.h), or 0 if
 * there is none left. The last programs_poll() has found them. */
pid_t programs_take_start(struct programs *programs);

/* The number of samples dropped so far because the ring buffer was full. */
uint64_t programs_lost(const struct programs *programs);

/* The reason for which the guard (wire.h) has stopped the program sample_cpu, and the CPU;
 * WIRE_GUARD_QUIET if it has not. */
enum wire_guard_reason programs_guard(const struct programs *programs, uint32_t *ret_cpu);

uint32_t programs_cpus(const struct programs *programs);

/* ---- events: these may be called from any thread after loading ---- */

void programs_set_slot(struct programs *programs, uint32_t slot, const struct wire_slot *value);
struct wire_slot programs_slot(const struct programs *programs, uint32_t slot);
struct wire_slot_counts programs_slot_counts(const struct programs *programs, uint32_t slot);
/* Make the tick program of this slot's event run for that VM. */
void programs_set_ticking(struct programs *programs, pid_t pid, uint32_t slot);
void programs_histogram(const struct programs *programs, uint32_t index,
                        struct wire_histogram *histogram);

/* The descriptor of the ring buffer of alarms (struct wire_slot), which belongs to `programs`. */
int programs_alarms_fd(const struct programs *programs);

/* Counts of the BPF programs since a moment. They count from when they were loaded. */

/* Subtract what was counted before. */
void programs_counts_since(struct wire_slot_counts *counts, const struct wire_slot_counts *before);

/* Subtract what was counted before. If the maximum is from before, only the bucket of the greatest
 * number since then is known. Its highest number is then the maximum. */
void programs_histogram_since(struct wire_histogram *histogram,
                              const struct wire_histogram *before);

/* ---- start_watch.c ---- */

/*
 * Watches for programs that start and may be VMs: the kernel reports each exec() by a name that
 * begins with "beam". programs_poll() returns at once then, and programs_take_start() has the pid.
 */

struct start_watch;

/* Request the BPF program. Borrows `programs`, which are open. */
struct start_watch *start_watch_new(struct programs *programs);
void start_watch_free(struct start_watch *watch);

/* Begin, after the programs are loaded. A failure is only logged, because looks at all processes
 * find the VMs later. */
void start_watch_begin(struct start_watch *watch);

/* True if the kernel reports programs that start. */
bool start_watch_works(const struct start_watch *watch);
