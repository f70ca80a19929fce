// SPDX-License-Identifier: Apache-2.0
/*
 * The CPU time that each CPU sample stands for.
 *
 * A sample first gets its base: the time since the clock's last tick on its CPU. If the clock does
 * not count time, the base is what it counted, at the rate seen so far. Bases are inexact: ticks
 * come late, clocks change their rate, and a thread that sleeps between ticks is hit by chance. So
 * samples of a VM are held for a window of 0.2 s. Then their times are scaled to the CPU time that
 * the kernel accounts to the VM in that window. If a window's scale would be far above the
 * others, the excess goes to the next windows. So the samples add up to the kernel's account. The
 * bases are summed for each thread, to be compared with the account.
 *
 *   new ──> vm new ──> { base, hold, settle, threads }... ──> stop ──> settle ──> free
 */
#pragma once

#include "capture/sample_clock.h"
#include "session/segment.h"
#include "symbol/snapshot.h"

struct cpu_time;
struct vm_cpu_time;

/* `period` is the clock's, in its own unit. `frequency` is the clock's on a busy CPU. */
struct cpu_time *cpu_time_new(const struct clock_event *clock, uint64_t period, uint32_t frequency);
void cpu_time_free(struct cpu_time *cpu_time);

/* The account of one VM, which begins now. Of the ticks that hit it, the share `sampled` gives a
 * sample. Borrows `cpu_time`. */
struct vm_cpu_time *vm_cpu_time_new(struct cpu_time *cpu_time, pid_t pid, double sampled);
void vm_cpu_time_free(struct vm_cpu_time *own);

/* Return the base of a new sample: the ns that it stands for before its window is scaled. */
uint64_t vm_cpu_time_base(struct vm_cpu_time *own, const struct snapshot *snapshot);

/* Hold a CPU sample until its window is scaled. Its value must be its base. */
void vm_cpu_time_hold(struct vm_cpu_time *own, const struct sample *sample);

/* Scale the window if it is long enough, or `all`, and append its samples. Return 0, or -1 with the
 * error of segment_append(). */
int vm_cpu_time_settle(struct vm_cpu_time *own, bool all, struct segment *segment,
                       struct error *error);

/* Return the time of the oldest sample that is held; UINT64_MAX if none is. */
uint64_t vm_cpu_time_oldest(const struct vm_cpu_time *own);

/* Sampling has stopped: CPU time that is accounted later does not count. */
void vm_cpu_time_stop(struct vm_cpu_time *own);
/* Sampling continues: CPU time that is accounted from now on counts again. */
void vm_cpu_time_resume(struct vm_cpu_time *own);

/* Sampling has stopped at an unknown time before. Samples that are not scaled yet keep their bases,
 * because the kernel's account contains CPU time after that. */
void vm_cpu_time_interrupt(struct vm_cpu_time *own);

/* Set the CPU totals, and add the bases of each thread to its thread_time.sampled_ns. Both are
 * counted since the segment began. */
void cpu_time_totals(const struct cpu_time *cpu_time, struct recording_totals *totals);
void cpu_time_threads(const struct cpu_time *cpu_time, const struct profile *profile,
                      struct thread_times *times);

/* Begin another segment, with new thread ids. All samples of the last one must be settled. */
void cpu_time_begin(struct cpu_time *cpu_time);
