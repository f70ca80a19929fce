// SPDX-License-Identifier: Apache-2.0
/*
 * A recording (.bfr): a profile and its samples as a stream of chunks in one file.
 *
 * The tables are written as they grow, each entry once, before the first sample that uses it; so
 * a file that was cut anywhere is readable up to its last whole chunk. The format is described in
 * recording_format.h; it is versioned, byte order and word size are fixed, and a reader refuses
 * what it does not know. Samples are stored in time order.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "profile/event_summary.h"
#include "profile/profile.h"
#include "profile/thread_time.h"
#include "util/error.h"

/* What is known when recording starts. Strings are borrowed for the call by the writer, owned by
 * the recording in a reader. */
struct recording_header {
    uint64_t start_realtime;  /* ns since 1970 */
    uint64_t start_monotonic; /* ns, same moment */
    uint32_t frequency;       /* samples a second and CPU */
    uint32_t cpus;
    const char *event; /* what CPU samples are taken by: "cpu-clock" or "cycles" */
    const char *hostname;
    const char *kernel;   /* uname -r */
    const char *command;  /* command line */
    const char *version;  /* of beamflame */
    const char *occasion; /* what it was made for: the trigger that fired; "" if for none */
};

/* What is known when it ends (all counts are since the start). A recording that was cut has the
 * newest one that was flushed. */
struct recording_totals {
    uint64_t end_monotonic;
    uint64_t samples;
    uint64_t erlang_samples; /* of Erlang processes, whose stacks can be known */
    uint64_t complete_stacks, truncated_stacks;
    uint64_t frames, erlang_frames, unknown_erlang_frames, unknown_native_frames;
    uint64_t losses[LOSS_COUNT];
    uint64_t attach_ns; /* from start of the program to the first sample possible */
    uint64_t profiler_cpu_ns;
    uint64_t peak_rss_kb;
    /* CPU samples: how many, the time that they stand for by their clock, and the CPU time that the
     * kernel accounts to the VMs, which they were scaled to. */
    uint64_t cpu_samples, cpu_sampled_ns, cpu_accounted_ns;
    uint64_t left_out; /* samples that were not asked for (profile/selection.h) */
    bool cut;          /* set by a reader, too: the file has no end, the profiler was killed */
    uint64_t
        unknown; /* set by output_write(): of processes whose metric that counts was not known */
};

struct recording_writer;

/* A file to record into: `path` (truncated) or, with path NULL, an unnamed temporary file in
 * `directory`. The descriptor, -1 with error. */
int recording_file(const char *path, const char *directory, struct error *error);

/* Write to such a file. */
struct recording_writer *recording_create(const char *path, const char *directory,
                                          const struct recording_header *header,
                                          struct error *error);

/* Write to `fd`, which may be a pipe, from where it is. It is taken over, also on failure. */
struct recording_writer *recording_create_fd(int fd, const struct recording_header *header,
                                             struct error *error);

/* Append one sample and every table entry of `profile` that was not written yet. All events must be
 * defined before the first sample: so whoever reads knows from there on what there is. Samples may
 * come up to 500 ms out of order: they are sorted before they are written; one that comes later
 * than that gets the time of the newest one written and is counted (LOSS_OUT_OF_ORDER) in *totals.
 * After a write error (full disk) nothing more is written, the file stays valid, and every call
 * fails with the same error. */
int recording_append(struct recording_writer *writer, const struct profile *profile,
                     const struct sample *sample, struct error *error);

/* Write what was counted of one event so far; it replaces what was written of that event before.
 * Call for each event before a flush and before the end. */
int recording_put_summary(struct recording_writer *writer, const struct profile *profile,
                          const struct event_summary *summary, struct error *error);

/* The same for the times of all threads. */
int recording_put_threads(struct recording_writer *writer, const struct profile *profile,
                          const struct thread_times *times, struct error *error);

/* Write out all that is complete, and the totals. Call about once a second. The samples of the
 * newest 500 ms are not complete: others may still come before them. */
int recording_flush(struct recording_writer *writer, const struct profile *profile,
                    struct recording_totals *totals, struct error *error);

/* Bytes in the file so far. */
uint64_t recording_size(const struct recording_writer *writer);

/* Flush everything and close. The writer is freed in any case. If `ret_fd` is not NULL, a
 * descriptor that reads the recording from its start is handed out instead of closed: on failure
 * too, for what was written before is valid (-1 if it can't be read). */
int recording_finish(struct recording_writer *writer, const struct profile *profile,
                     struct recording_totals *totals, int *ret_fd, struct error *error);

struct recording;

/* Open for reading. Checks the header only. `name` is for messages. The descriptor is taken over.
 */
struct recording *recording_open(int fd, const char *name, struct error *error);
void recording_close(struct recording *recording);

const struct recording_header *recording_get_header(const struct recording *recording);

/* Pass every sample in time order to `each` (which returns 0, or -1 with error to stop); the
 * tables that a sample needs are in `profile` by then, under the ids they were recorded with: so
 * `profile` must be new. A recording object can be read once; open the file again for another
 * pass. Returns 0 at the end of the file; a file that was cut (also between chunks) is not an error
 * but sets *ret_cut. Malformed bytes are an error that names the byte; samples before them have
 * been passed by then. */
int recording_read(struct recording *recording, struct profile *profile,
                   int (*each)(void *context, const struct sample *sample, struct error *error),
                   void *context, bool *ret_cut, struct error *error);

/* The same, one by one: 1 and a sample; 0 at the end of the file; -1 with error. */
int recording_next(struct recording *recording, struct profile *profile, struct sample *ret_sample,
                   bool *ret_cut, struct error *error);

/* The newest totals seen by recording_read(). */
const struct recording_totals *recording_get_totals(const struct recording *recording);

/* The newest summary of an event that recording_read() saw, NULL if there is none. Valid until the
 * recording is closed, or read on. */
const struct event_summary *recording_get_summary(const struct recording *recording,
                                                  event_id event);

/* The newest times of threads that it saw, empty if there are none; as long valid. */
const struct thread_times *recording_get_threads(const struct recording *recording);
