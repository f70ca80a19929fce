// SPDX-License-Identifier: Apache-2.0
/* Targets, processes and the counts of events as text for people. */
#pragma once

#include "output/number_text.h"
#include "output/output.h"
#include "profile/event_summary.h"
#include "profile/profile.h"
#include "profile/target_lives.h"
#include "util/buffer.h"

/* Append the known properties of a target: "shop@web-1, pid 4711, OTP 27, erts 15.2, jit". */
void summary_text_of_target(const struct profile *profile, target_id target, struct buffer *text);
/* ", stopped for 2.0 s, ended after 3.1 s": what kept it from running. `start`: of the recording.
 */
void summary_text_of_life(const struct target_life *life, uint64_t start, struct buffer *text);

/* Append the pid of a process and its registered name, else its label, else its initial call:
 * "<0.85.0> cart". */
void summary_text_of_process(const struct profile *profile, process_id id, struct buffer *text);

/* Append "12,345 hits, 4.1 % of the time covered in 31 windows, at 0.93 % of the VM's CPU time, 3
 * samples lost"; of event wall "80 sweeps, each read 100 of 1,000 processes on average (10.0 %)".
 */
void summary_text_of_hits(const struct profile *profile, const struct event_summary *summary,
                          struct buffer *text);

/* Append a sum with its 95 % confidence interval: "1.214 s +- 0.031 s", or "+- ?" if it is unknown.
 * A sum that is not scaled is exact and has no interval. A sum of 0 has the number of hits that
 * windows may have missed: "0 words, at most 94 hits". A sum that says nothing is followed by "(too
 * few windows: record longer or raise --budget)". */
void summary_text_of_sum(const struct event_summary *summary, uint32_t value, enum unit unit,
                         struct buffer *text);

/* Append a count, and the number of hits that it was scaled up from: "1,200 times (41 seen)". A
 * count that was not scaled stands alone. */
void summary_text_of_count(uint64_t count, uint64_t seen, struct buffer *text);

/* Append "1,200 times (41 seen), p50 12.3 us, p99 1.2 ms, max 5.0 ms". */
void summary_text_of_histogram(const struct event_histogram *histogram, struct buffer *text);

/* ---- cpu_account.c ---- */

/* The CPU time of samples, by the sampling clock, against the CPU time that the kernel accounts to
 * the VMs. */

/* Return sampled ÷ accounted time, before samples were scaled; 0 if no time was accounted. */
double cpu_account_ratio(const struct recording_totals *totals);

/* If the ratio is outside of 0.98 to 1.02, append a sentence (without a full stop) that gives the
 * likely reason, and return true. Else append nothing and return false. */
bool cpu_account_text(const struct recording_header *header, const struct recording_totals *totals,
                      struct buffer *text);
