// SPDX-License-Identifier: Apache-2.0
/*
 * CPU sampling: the BPF program of bpf/cpu.bpf.c on a perf event a CPU, and the ring buffer
 * that its samples come through.
 *
 *   new ──> load ──> add_target... ──> start ──> poll... ──> stop ──> poll (what is left) ──> free
 *
 * All that is attached is bound to descriptors of this process: when it ends, however it ends, the
 * kernel takes the program away.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "beam/vm.h"
#include "util/error.h"

struct sampler;

struct sampler_options {
    uint32_t frequency; /* samples a second and CPU */
};

struct sampler *sampler_new(const struct sampler_options *options);
void sampler_free(struct sampler *sampler);

/* Load the program. ERROR_PERMISSION names the capability, ERROR_UNSUPPORTED the kernel needed. */
int sampler_load(struct sampler *sampler, struct error *error);

/* Samples of this VM's threads are taken from now on. `code_generation_address`: a word of the
 * target to be copied into each sample, 0 for none. */
int sampler_add_target(struct sampler *sampler, const struct vm *vm,
                       uint64_t code_generation_address, struct error *error);

/* Open the perf events: cycles where there is a PMU, else cpu-clock. */
int sampler_start(struct sampler *sampler, struct error *error);
void sampler_stop(struct sampler *sampler);

/* "cycles" or "cpu-clock", once started. */
const char *sampler_event(const struct sampler *sampler);
uint32_t sampler_cpus(const struct sampler *sampler);

/* Wait up to `timeout_ms` for a good amount of samples, then pass what is there to `each` (bytes
 * as in wire.h, aligned to 8). Returns how many, -1 with error; 0 also when a signal came. */
typedef void (*sampler_each)(void *context, const void *data, size_t size);
int sampler_poll(struct sampler *sampler, int timeout_ms, sampler_each each, void *context,
                 struct error *error);

/* Samples dropped so far because the ring buffer was full. */
uint64_t sampler_lost(const struct sampler *sampler);
