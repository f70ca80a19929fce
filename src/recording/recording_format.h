// SPDX-License-Identifier: Apache-2.0
/*
 * The format of a recording (.bfr), version 16. All numbers of fixed size are little-endian.
 *
 *      magic     8 bytes   89 'B' 'F' 'R' 0d 0a 1a 0a   (shows damage by text-mode transfers)
 *      version   u32       16
 *      chunk...            the first is CHUNK_HEADER, the last CHUNK_END
 *
 * A file without CHUNK_END was cut; it is valid up to its last whole chunk.
 *
 *      chunk     type      u8    enum chunk_type
 *                encoding  u8    enum chunk_encoding
 *                zero      u16
 *                stored    u32   bytes that follow this header
 *                size      u32   bytes once unpacked, at most CHUNK_MAX
 *                crc       u32   CRC-32 (as in zlib) of the 12 bytes before and the stored bytes
 *                bytes     stored
 *
 * Inside of chunks: `varint` is an unsigned LEB128, `zigzag` a signed number as varint (0, -1, 1,
 * -2... are 0, 1, 2, 3...), `string` a varint count and that many bytes of UTF-8.
 *
 * CHUNK_HEADER: varints start_realtime, start_monotonic, frequency, cpus; strings event, hostname,
 * kernel, command, version, trigger.
 *
 * CHUNK_TOTALS: varints end_monotonic, samples, erlang_samples, complete_stacks, truncated_stacks,
 * frames, erlang_frames, unknown_erlang_frames, unknown_native_frames, attach_ns, profiler_cpu_ns,
 * peak_rss_kb, cpu_samples, cpu_sampled_ns, cpu_accounted_ns, left_out, cut (0 or 1); varint count
 * of losses, that many varints in the order of enum loss (the list only grows at its end).
 *
 * CHUNK_SUMMARY: varints event, hits, lost, span_ns, covered_ns, windows, cost_ns, target_cpu_ns;
 * for each value of the event the varints sum, standard error (2^64 - 1: not known); varint count
 * of histograms (64 at most), each: varints name, unit, seen, greatest number, count of buckets
 * (256 at most), the buckets from the first on; varint count of tallies (64 at most), each: varints
 * name, count, seen. The newest summary of an event is valid.
 *
 * CHUNK_THREADS: varint count of threads, each the varints thread, from, to - from, cpu_ns,
 * wait_ns, sampled_ns (profile/threads.h). The newest chunk is valid; it has all threads.
 *
 * CHUNK_LIVES: varint count of targets that ended or were stopped, each the varints target
 * (ascending), ended, stopped_ns (profile/target_lives.h). The newest chunk is valid. There is none
 * if all targets ran to the end.
 *
 * CHUNK_SCALES: varint count of scales (65,536 at most), in order of targets and events, each the
 * varints event, target, and for each of EVENT_VALUES the total, the sum of exact samples and that
 * of the others (profile/value_scales.h). The newest chunk is valid, for all samples, also for
 * those before it.
 *
 * CHUNK_SPANS: varints event (0: the recorder itself), count of spans, each: zigzag of its start
 * minus the end of the span before (0 for the first), varint end - start (profile/event_spans.h). A
 * chunk adds to those before it. There is none of an event that could be seen all the time.
 *
 * CHUNK_RECORDED: the same, of an event that was recorded for a part of the time only: the times in
 * which it was. Outside of them it could not be seen. There is none unless events were added or
 * removed while it was recorded, or recordings with other events were joined.
 *
 * CHUNK_NODE: series until its end, each: varints target, metric, of, id, owner, count of readings,
 * each: zigzags of its time and of its value, minus those of the reading before, 0 for the first
 * (profile/node_metrics.h). A chunk adds readings to those before it. There is none unless metrics
 * of VMs were recorded.
 *
 * CHUNK_MARKS: varint count of marks (4,096 at most in all chunks), in order of time, each: varint
 * time minus that of the mark before, 0 for the first; varint label (profile/time_marks.h). A chunk
 * adds to those before it. There is none without marks.
 *
 * CHUNK_NAMES: varint count of late names (profile/late_names.h), in order of frames, each: varint
 * number of the frame minus that of the frame before, 0 for the first; varint bytes from the start
 * of the function to the frame's address; string symbol. They take LATE_NAMES_BYTES_MAX at most.
 * The newest chunk is valid, for all frames, also for those before it: the frame has this symbol,
 * the start of the function as address, is resolved, and has no likeness. There is none without
 * late names.
 *
 * CHUNK_END: empty.
 *
 * CHUNK_RECORDS: records, each a byte (enum record_type) and its fields. A table record defines
 * the next id of its kind (1, 2, 3...); ids in fields must have been defined before, 0 is none.
 *
 *      RECORD_STRING   string (not empty)
 *      RECORD_MODULE   varints path, build_id
 *      RECORD_FRAME    zigzag address - address of the frame record before in this chunk; varints
 *                      symbol, module, file, line, kind, unresolved
 *      RECORD_FRAME_OF_LIKENESS   the same, and u64 likeness, not 0 (elf/likenesses.h). The frame
 *                      is native and unresolved.
 *      RECORD_STACK    varint own id - parent's id; varint frame. A parent of 0 is own id - 0.
 *      RECORD_EVENT    varints name, count of values (1 to 6), for each value name, unit. All
 *                      events come before the first sample.
 *      RECORD_ANCESTOR varint own id - that of the next one up, as in RECORD_STACK; varint name
 *      RECORD_PROCESS  varints identity, target, pid, name, label, initial_call, application,
 *                      parent, ancestors
 *      RECORD_PROCESS_OF_DETAIL   the same; its label is a detail (struct process_entry)
 *      RECORD_THREAD   varints target, tid, name, scheduler_kind, scheduler_number
 *      RECORD_TARGET   varints pid, schedulers, dirty_cpu_schedulers, dirty_io_schedulers,
 *                      processes, node, otp_release, erts, flavor, executable, container, layout,
 *                      attributes
 *      RECORD_TARGET_OF_HOST   the same, and host: of a recording that several hosts made
 *      RECORD_SAMPLE   varints time - time of the sample before, event; as many zigzags of values
 *                      as the event has, minus those of the sample before if it is of the same
 *                      event; zigzags of stack, process, thread minus those of the sample before;
 *                      varints peer, detail, cpu, status, activity, microstate, flags; and if it
 *                      has a process, varints known ^ known of the process' sample before, changed
 *                      (bits by enum metric); for each of those a zigzag of the value minus that of
 *                      the process' newest sample at which it was known
 *      RECORD_TRACE_SPAN  three u64: the high and the low half of the trace's id, the span's id
 *      RECORD_SAMPLE_OF_TRACE  as RECORD_SAMPLE, and before the metrics: zigzag of the span minus
 *                      that of the sample before
 *      RECORD_SAMPLE_OF_SLICE  as RECORD_SAMPLE_OF_TRACE, but the span may be 0, and before the
 *                      metrics: varint slice
 *
 * "The sample before" is in the same chunk, all zero for the first: a chunk can be read without
 * the records of other chunks, apart from the tables. Times never go back, also across chunks.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#define RECORDING_MAGIC                                                                            \
    "\x89"                                                                                         \
    "BFR\r\n\x1a\n"
#define RECORDING_MAGIC_SIZE 8
#define RECORDING_VERSION    16
/* Before this version, the value SCHED_LONG is the slice. */
#define RECORDING_OF_SLICES 13
/* Version 15 has no likenesses and no times in which events were recorded, version 14 no late
 * names, version 13 no marks. Version 11 has no traces, and is a recording of version 12 otherwise.
 */
#define RECORDING_OLDEST     11
#define RECORDING_START_SIZE (RECORDING_MAGIC_SIZE + 4)

#define CHUNK_HEADER_SIZE 16
#define CHUNK_CRC_OFFSET  12
#define CHUNK_MAX         (1u << 20)

/* Records are packed once they have this many bytes, so that no chunk comes near CHUNK_MAX. */
#define CHUNK_FULL (1u << 18)

enum chunk_type {
    CHUNK_HEADER = 1,
    CHUNK_RECORDS = 2,
    CHUNK_TOTALS = 3,
    CHUNK_SUMMARY = 4,
    CHUNK_END = 5,
    CHUNK_THREADS = 6,
    CHUNK_LIVES = 7,
    CHUNK_SCALES = 8,
    CHUNK_SPANS = 9,
    CHUNK_NODE = 10,
    CHUNK_MARKS = 11,
    CHUNK_NAMES = 12,
    CHUNK_RECORDED = 13,
};

enum chunk_encoding {
    ENCODING_PLAIN = 0,
    ENCODING_ZSTD = 1,
};

enum record_type {
    RECORD_STRING = 1,
    RECORD_FRAME = 2,
    RECORD_STACK = 3,
    RECORD_PROCESS = 4,
    RECORD_THREAD = 5,
    RECORD_TARGET = 6,
    RECORD_SAMPLE = 7,
    RECORD_EVENT = 8,
    RECORD_ANCESTOR = 9,
    RECORD_MODULE = 10,
    RECORD_TARGET_OF_HOST = 11,
    RECORD_PROCESS_OF_DETAIL = 12,
    RECORD_TRACE_SPAN = 13,
    RECORD_SAMPLE_OF_TRACE = 14,
    RECORD_SAMPLE_OF_SLICE = 15,
    RECORD_FRAME_OF_LIKENESS = 16,
};
