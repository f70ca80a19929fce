// SPDX-License-Identifier: Apache-2.0
/*
 * Sampling in time: a BPF program on a perf event a CPU.
 *
 *   new ──> (programs_load) ──> start ──> stop ──> free
 */
#pragma once

#include <stdint.h>

#include "capture/programs.h"
#include "util/error.h"

struct sampler;

/* `frequency`: runs of `program` a second and CPU. The programs are borrowed, and not loaded yet.
 */
struct sampler *sampler_new(struct programs *programs, const char *program, uint32_t frequency);
void sampler_free(struct sampler *sampler);

/* Open the perf events: cycles where there is a PMU, else cpu-clock. */
int sampler_start(struct sampler *sampler, struct error *error);
void sampler_stop(struct sampler *sampler);

/* "cycles" or "cpu-clock", once started. */
const char *sampler_event(const struct sampler *sampler);
