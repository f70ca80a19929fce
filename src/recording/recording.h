// SPDX-License-Identifier: Apache-2.0
/*
 * A recording (.bfr): a profile and its samples as a stream of chunks in one file.
 *
 * The tables are written as they grow: each entry once, before the first sample that uses it. So a
 * file that was cut anywhere is readable up to its last whole chunk. recording_format.h describes
 * the format. It is versioned, byte order and word size are fixed, and a reader refuses what it
 * does not know. Samples are stored in time order.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "profile/event_spans.h"
#include "profile/event_summary.h"
#include "profile/node_metrics.h"
#include "profile/profile.h"
#include "profile/target_lives.h"
#include "profile/time_marks.h"
#include "profile/threads.h"
#include "util/error.h"

/* Facts that are known when the recording starts. The writer borrows the strings for the call; in a
 * reader, the recording owns them. */
struct recording_header {
    uint64_t start_realtime;  /* ns since 1970 */
    uint64_t start_monotonic; /* ns, same moment */
    uint32_t frequency;       /* samples a second and CPU */
    uint32_t cpus;
    const char *event; /* the clock of CPU samples: "cpu-clock" or "cycles" */
    const char *hostname;
    const char *kernel;  /* uname -r */
    const char *command; /* command line */
    const char *version; /* of beamflame */
    const char *trigger; /* why it was made: the trigger that fired; "" if none */
};

/* Selected samples of event wall that graphs leave out because their processes are idle: their
 * number and time, and the time of all selected samples. */
struct recording_idle {
    uint64_t samples, idle_ns, wall_ns;
};

/* Facts that are known when the recording ends. All counts are since the start. A recording that
 * was cut has the totals of the last flush. */
struct recording_totals {
    uint64_t end_monotonic;
    uint64_t samples;
    uint64_t erlang_samples; /* of Erlang processes; complete_stacks counts some of these */
    uint64_t complete_stacks, truncated_stacks;
    uint64_t frames, erlang_frames, unknown_erlang_frames, unknown_native_frames;
    uint64_t losses[LOSS_COUNT];
    uint64_t attach_ns; /* from the start of the program until samples are possible */
    uint64_t profiler_cpu_ns;
    uint64_t peak_rss_kb;
    /* CPU samples: their number, the time that they stand for by their clock, and the CPU time that
     * the kernel accounts to the VMs. The samples are scaled to that CPU time. */
    uint64_t cpu_samples, cpu_sampled_ns, cpu_accounted_ns;
    uint64_t left_out; /* samples that were not selected (view/selection.h) */
    bool cut;          /* a reader sets it, too: the file has no end, the profiler was killed */
    /* Set by output_write(): samples without the metric of the weight, and samples of events that
     * are not selected. */
    uint64_t unknown, of_other_events;
    struct recording_idle idle; /* what graphs leave out; set by output_write() */
};

/* Add the counts of `next`. They stay at the highest number if they would exceed it. */
void recording_totals_add(struct recording_totals *totals, const struct recording_totals *next);

struct recording_writer;

/* Create a file to record into: `path` (replaced, by util/file_place.h) or, if path is NULL, an
 * unnamed temporary file in `directory`, else in /var/tmp or /tmp, else in memory. Return its
 * descriptor, or -1 with error. */
int recording_writer_file(const char *path, const char *directory, struct error *error);
/* True if that file is in memory. */
bool recording_writer_is_in_memory(int fd);

/* Create such a file and begin a recording in it. NULL with error. */
struct recording_writer *recording_create(const char *path, const char *directory,
                                          const struct recording_header *header,
                                          struct error *error);

/* Begin a recording in `fd`, a file or a pipe, at its current position. Takes ownership of `fd`,
 * also on failure. NULL with error. */
struct recording_writer *recording_create_fd(int fd, const struct recording_header *header,
                                             struct error *error);

/* Append one sample, and every table entry of `profile` that was not written yet. All events must
 * be defined before the first sample, so that a reader knows all of them from there on. Samples may
 * come up to 500 ms out of order: they are sorted before they are written. A sample that comes
 * later gets the time of the newest sample written; the totals of the next flush count it
 * (LOSS_OUT_OF_ORDER). After a write error (full disk) nothing more is written, the file stays
 * valid, and every call fails with the same error. */
int recording_append(struct recording_writer *writer, const struct profile *profile,
                     const struct sample *sample, struct error *error);

/* The caller holds samples from `time` on, and will append them: newer ones wait for them, however
 * long that takes, while there is memory for them. UINT64_MAX: it holds none. */
void recording_writer_wait_for(struct recording_writer *writer, uint64_t time);

/* The caller has looked for samples at `time`, and has appended or holds all that there were. So
 * those from 500 ms before are complete at the next flush, also if no newer ones come. */
void recording_writer_looked(struct recording_writer *writer, uint64_t time);

/* Write the summary of an event, which replaces the event's last one. Call for each event before a
 * flush and before the end. */
int recording_put_summary(struct recording_writer *writer, const struct profile *profile,
                          const struct event_summary *summary, struct error *error);

/* Set the totals of an event's values in a target. They replace the totals that were set before,
 * and are written at each flush and at the end. A reader scales the samples of this event and
 * target so that they add up to these totals (profile/value_scales.h). */
void recording_put_values(struct recording_writer *writer, event_id event, target_id target,
                          const uint64_t totals[EVENT_VALUES]);

/* The same as recording_put_summary() for the times of all threads. */
int recording_put_threads(struct recording_writer *writer, const struct profile *profile,
                          const struct thread_times *times, struct error *error);

/* The same for the lives of targets. Does nothing if there are none. */
int recording_put_lives(struct recording_writer *writer, const struct profile *profile,
                        const struct target_lives *lives, struct error *error);

/* Write when events could be seen, in addition to what was written of it before. */
int recording_put_spans(struct recording_writer *writer, const struct profile *profile,
                        const struct event_spans *spans, struct error *error);

/* The same of the times in which events were recorded. Events without a list were recorded all of
 * the time. */
int recording_put_recorded(struct recording_writer *writer, const struct profile *profile,
                           const struct event_spans *recorded, struct error *error);

/* Write metrics of VMs, in addition to what was written of them before. Does nothing if there are
 * none. */
int recording_put_node_metrics(struct recording_writer *writer, const struct profile *profile,
                               const struct node_metrics *metrics, struct error *error);

/* The same for marks. */
int recording_put_marks(struct recording_writer *writer, const struct profile *profile,
                        const struct time_marks *marks, struct error *error);

/* Name a native function that a frame without a symbol is in, also if the frame was written. The
 * function begins `before` bytes before the frame's address. All readers see the name. A recording
 * has room for some 10,000 names; others are left out. */
void recording_name_frame(struct recording_writer *writer, frame_id frame, uint64_t before,
                          const char *symbol);

/* Write all complete data and the totals. Call it about once a second. The samples of the newest
 * 500 ms are not complete: earlier ones may still come (recording_writer_looked()). */
int recording_flush(struct recording_writer *writer, const struct profile *profile,
                    struct recording_totals *totals, struct error *error);

/* Return the number of bytes in the file so far. */
uint64_t recording_writer_size(const struct recording_writer *writer);

/* Flush everything and end the recording. The writer is freed in any case. If `ret_fd` is NULL, the
 * file is closed. Else *ret_fd is a descriptor that reads the recording from its start; also on
 * failure, because what was written before is valid. It is -1 if the recording can't be read again.
 */
int recording_finish(struct recording_writer *writer, const struct profile *profile,
                     struct recording_totals *totals, int *ret_fd, struct error *error);

struct recording;

/* Open a recording for reading; only the header is checked. Takes ownership of `fd`, also on
 * failure. `name` is for messages. NULL with error. */
struct recording *recording_open(int fd, const char *name, struct error *error);
void recording_close(struct recording *recording);

const struct recording_header *recording_get_header(const struct recording *recording);

/* Pass every sample in time order to `each`, which returns 0, or -1 with error to stop. The table
 * entries that a sample needs are in `profile` by then. `profile` must be new. A recording object
 * can be read once; open the file again for another pass. Return 0 at the end of the file, or -1
 * with error. A file that was cut (also between chunks) is not an error, but sets *ret_cut.
 * Malformed bytes are an error that names the byte; the samples before them have been passed by
 * then. */
int recording_read(struct recording *recording, struct profile *profile,
                   int (*each)(void *context, const struct sample *sample, struct error *error),
                   void *context, bool *ret_cut, struct error *error);

/* Read the next sample. Return 1 with a sample, 0 at the end of the file, or -1 with error. */
int recording_next(struct recording *recording, struct profile *profile, struct sample *ret_sample,
                   bool *ret_cut, struct error *error);

/* Return the number of bytes of the file that were read. */
uint64_t recording_reader_offset(const struct recording *recording);

/* The newest totals that were read. */
const struct recording_totals *recording_get_totals(const struct recording *recording);

/* The newest summary of an event that was read, or NULL. Valid until the recording is read further
 * or closed. */
const struct event_summary *recording_get_summary(const struct recording *recording,
                                                  event_id event);

/* The newest times of threads that were read; empty if there are none. Valid until the recording is
 * read further or closed. */
const struct thread_times *recording_get_threads(const struct recording *recording);

/* When events could be seen. Complete, in order and without overlaps once the recording was read to
 * its end. Valid as above. */
const struct event_spans *recording_get_spans(const struct recording *recording);

/* The same of the times in which events were recorded; an event without a list was recorded all of
 * the time. */
const struct event_spans *recording_get_recorded(const struct recording *recording);

/* Metrics of VMs. Complete and in order of time once the recording was read to its end. Valid as
 * above. */
const struct node_metrics *recording_get_node_metrics(const struct recording *recording);

/* The marks. They are complete when the recording was read to its end. Valid as above. */
const struct time_marks *recording_get_marks(const struct recording *recording);

/* The same for the lives of targets. */
const struct target_lives *recording_get_lives(const struct recording *recording);
