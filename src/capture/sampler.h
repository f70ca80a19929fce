// SPDX-License-Identifier: Apache-2.0
/*
 * Sampling in time: a BPF program runs at each tick of a clock, on each CPU.
 *
 *   new ──> (programs_load) ──> start ──> { want, unwant }... ──> stop ──> free
 *
 * A tick interrupts a CPU even if it idles. So a user that needs ticks only at times wants them
 * only then.
 */
#pragma once

#include <stdint.h>

#include "capture/sample_clock.h"
#include "capture/programs.h"
#include "util/error.h"

struct sampler;

/* `frequency` is the runs of `program` a second on each CPU. `programs` is borrowed, and not loaded
 * yet. */
struct sampler *sampler_new(struct programs *programs, const char *program,
                            const struct clock_event *clock, uint32_t frequency);
void sampler_free(struct sampler *sampler);

/* Find the period, and open the clock on each CPU. Errors are as of sample_clock_period(). */
int sampler_start(struct sampler *sampler, struct error *error);
void sampler_stop(struct sampler *sampler);

/* Follow the CPUs that went offline or came online since the last call: their clocks end or begin.
 * If a CPU goes offline, the kernel ends its clock for good. */
void sampler_follow_cpus(struct sampler *sampler);

/* Add a user; remove one. sampler_start() adds the first. The clock ticks while there is a user.
 * May be called from any thread between start and stop. */
void sampler_want(struct sampler *sampler);
void sampler_unwant(struct sampler *sampler);

/* What the clock counts from tick to tick. Valid after sampler_start(). */
uint64_t sampler_period(const struct sampler *sampler);
