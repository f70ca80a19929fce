// SPDX-License-Identifier: Apache-2.0
/*
 * The BPF programs of bpf/, the maps that they share, and the ring buffer that samples come
 * through. What they are attached to is the business of sampler.h (perf events) and
 * event_probes.h (probes in the code of the VM).
 *
 *   new ──> open ──> want... ──> load ──> add_target... ──> poll... ──> free
 *
 * All that is attached is bound to descriptors of this process: when it ends, however it ends, the
 * kernel takes the programs away.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "beam/vm.h"
#include "capture/clock.h"
#include "util/error.h"
#include "wire.h"

struct bpf_program;
struct programs;

struct programs_options {
    const struct clock_event *clock; /* of CPU samples */
    uint32_t frequency;  /* of CPU samples a second and CPU: decides the size of the ring buffer */
    uint32_t slots;      /* events, of each target one */
    uint32_t histograms; /* of all slots together */
    uint32_t processes;  /* of all targets: what is kept of each needs room */
};

struct programs *programs_new(const struct programs_options *options);
void programs_free(struct programs *programs);

/* Open the object, with no program wanted. */
int programs_open(struct programs *programs, struct error *error);

/* This program is to be loaded; NULL if there is none of that name. It belongs to `programs`. */
struct bpf_program *programs_want(struct programs *programs, const char *name);

/* Load what is wanted. ERROR_PERMISSION names the capability, ERROR_UNSUPPORTED the kernel needed.
 */
int programs_load(struct programs *programs, struct error *error);

/* Hits in this VM's threads count from now on. `code_generation_address`: a word of the target to
 * be copied into each sample, 0 for none. */
int programs_add_target(struct programs *programs, const struct vm *vm,
                        uint64_t code_generation_address, struct error *error);

/* Wait up to `timeout_ms` for a good amount of samples, then pass what is there to `each` (bytes
 * as in wire.h, aligned to 8). Returns how many, -1 with error; 0 also when a signal came. */
typedef void (*programs_each)(void *context, const void *data, size_t size);
int programs_poll(struct programs *programs, int timeout_ms, programs_each each, void *context,
                  struct error *error);

/* Samples dropped so far because the ring buffer was full. */
uint64_t programs_lost(const struct programs *programs);

/* Whether, on which CPU and why the guard against a clock that interrupts too often (wire.h) has
 * stopped the program sample_cpu. */
enum wire_guard_reason programs_guard(const struct programs *programs, uint32_t *ret_cpu);

uint32_t programs_cpus(const struct programs *programs);

/* ---- events: these may be called from any thread once loaded ---- */

void programs_set_slot(struct programs *programs, uint32_t slot, const struct wire_slot *value);
struct wire_slot_counts programs_slot_counts(const struct programs *programs, uint32_t slot);
/* The program that runs now and then for this slot's event is to run for that VM. */
void programs_set_ticking(struct programs *programs, pid_t pid, uint32_t slot);
void programs_histogram(const struct programs *programs, uint32_t index,
                        struct wire_histogram *histogram);
