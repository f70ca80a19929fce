// SPDX-License-Identifier: Apache-2.0
/*
 * The CPU time that each CPU sample stands for.
 *
 * A sample first gets the time since the clock's last tick on its CPU (a clock that does not count
 * time: what it counted, at the rate that was seen so far). Ticks come late, clocks
 * change their rate, and a thread that sleeps between ticks is met by chance. So samples of a VM
 * are held for a window of 0.2 s, and then their times are scaled to the CPU time that the kernel
 * accounts to the VM in that window. What would scale a window far from the others goes to the
 * next ones. So the samples add up to the kernel's account; what they had before is kept for each
 * thread, to be compared with it.
 *
 *   new ──> { base, hold, settle, threads }... ──> stop ──> settle ──> free
 */
#pragma once

#include "capture/clock.h"
#include "session/part.h"
#include "session/targets.h"
#include "symbol/snapshot.h"

struct cpu_time;

/* Accounts count from now on. `period`: of the clock, in its own unit; `frequency`: of it on a busy
 * CPU. `targets` is borrowed. */
struct cpu_time *cpu_time_new(const struct clock_event *clock, uint64_t period, uint32_t frequency,
                              const struct targets *targets);
void cpu_time_free(struct cpu_time *cpu_time);

/* ns that a new sample stands for before its window is scaled. */
uint64_t cpu_time_base(struct cpu_time *cpu_time, size_t target, const struct snapshot *snapshot);

/* Hold a CPU sample, whose value is its base. */
void cpu_time_hold(struct cpu_time *cpu_time, size_t target, const struct sample *sample);

/* Scale the windows that are long enough, or `all`, and append their samples to the part. Returns
 * what recording_append() does. */
int cpu_time_settle(struct cpu_time *cpu_time, bool all, struct part *part, struct error *error);

/* No more samples are taken from now on: nothing counts that is accounted later. */
void cpu_time_stop(struct cpu_time *cpu_time);

/* Set what the clock gave to each of these threads (thread_time.sampled_ns), and to all, since the
 * last part began. */
void cpu_time_totals(const struct cpu_time *cpu_time, struct recording_totals *totals);
void cpu_time_threads(const struct cpu_time *cpu_time, const struct profile *profile,
                      struct thread_times *times);

/* Another part, with other thread ids; all of the last one is settled. */
void cpu_time_begin(struct cpu_time *cpu_time);
