// SPDX-License-Identifier: Apache-2.0
#include "recording/recording.h"

#include <stdlib.h>

#include "profile/events.h"
#include "profile/limits.h"
#include "profile/row_interval.h"
#include "profile/string_table.h"
#include "profile/value_scales.h"
#include "recording/recording_internal.h"
#include "util/alloc.h"
#include "util/log.h"
#include "util/memory_limit.h"
#include "util/utf8.h"

struct recording {
    struct chunk_reader *chunks;
    struct recording_header header;
    struct recording_totals totals;
    struct record_decoder decoder;
    struct event_summaries summaries;
    struct thread_times threads;
    struct target_lives lives;
    struct time_marks marks;
    struct event_spans spans, recorded;
    struct node_metrics node_metrics;
    struct value_scales scales;
    struct chunk chunk; /* the current one; the cursor is in it */
    struct cursor cursor;
    uint64_t samples;         /* number of samples read; a hit counts once */
    uint64_t late_frames;     /* of these samples: those with late names */
    struct sample last_sched; /* the last one of event sched */
    bool was_read, ended;
};

/* A clean copy (util/utf8.h), because these strings are displayed. */
static char *read_text(struct cursor *cursor)
{
    size_t size = 0;
    const char *text = cursor_counted(cursor, STRING_MAX, &size);
    char *clean = xmalloc(size * 3 + 1);

    clean[text ? utf8_clean(clean, text, size) : 0] = '\0';
    return clean;
}

static void read_header(struct cursor *cursor, struct recording_header *header)
{
    header->start_realtime = cursor_varint(cursor, UINT64_MAX, "");
    header->start_monotonic = cursor_varint(cursor, UINT64_MAX, "");
    header->frequency = (uint32_t)cursor_varint(cursor, UINT32_MAX, "frequency is too large");
    header->cpus = (uint32_t)cursor_varint(cursor, UINT32_MAX, "number of CPUs is too large");
    header->event = read_text(cursor);
    header->hostname = read_text(cursor);
    header->kernel = read_text(cursor);
    header->command = read_text(cursor);
    header->version = read_text(cursor);
    header->trigger = read_text(cursor);
}

static void read_totals(struct cursor *cursor, struct recording_totals *ret_totals)
{
    struct recording_totals totals = {0};
    uint64_t *const fields[] = {
        &totals.end_monotonic,         &totals.samples,
        &totals.erlang_samples,        &totals.complete_stacks,
        &totals.truncated_stacks,      &totals.frames,
        &totals.erlang_frames,         &totals.unknown_erlang_frames,
        &totals.unknown_native_frames, &totals.attach_ns,
        &totals.profiler_cpu_ns,       &totals.peak_rss_kb,
        &totals.cpu_samples,           &totals.cpu_sampled_ns,
        &totals.cpu_accounted_ns,      &totals.left_out,
    };
    uint64_t losses;

    for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++)
        *fields[i] = cursor_varint(cursor, UINT64_MAX, "");
    totals.cut = cursor_varint(cursor, 1, "does not say if it was cut") != 0;
    losses = cursor_varint(cursor, LOSS_COUNT, "unknown kinds of losses");
    for (uint64_t i = 0; i < losses; i++)
        totals.losses[i] = cursor_varint(cursor, UINT64_MAX, "");
    if (!cursor->problem)
        *ret_totals = totals;
}

/* Check that all bytes of the chunk were decoded. Return 0, or -1 with error. */
static int check_chunk(const struct recording *recording, const struct chunk *chunk,
                       struct cursor *cursor, struct error *error)
{
    if (cursor->at != cursor->end)
        cursor_fail(cursor, "bytes left over at the end");
    if (!cursor->problem)
        return 0;
    return chunk_malformed(recording->chunks, chunk, (size_t)(cursor->at - cursor->start),
                           cursor->problem, error);
}

static int open_header(struct recording *recording, struct error *error)
{
    struct chunk chunk = {.offset = RECORDING_START_SIZE};
    struct cursor cursor;
    bool cut;
    int got = chunk_read(recording->chunks, &chunk, &cut, error);

    if (got < 0)
        return -1;
    if (!got || chunk.type != CHUNK_HEADER)
        return chunk_malformed(recording->chunks, &chunk, 0, "recording without a header", error);
    cursor = cursor_over(chunk.data, chunk.size);
    read_header(&cursor, &recording->header);
    return check_chunk(recording, &chunk, &cursor, error);
}

/* Read the newest chunk of a type, which lies behind the records that need it, and go back. */
static int read_ahead(struct recording *recording, enum chunk_type type, struct error *error)
{
    uint64_t back = chunk_reader_offset(recording->chunks);
    uint64_t at = chunk_find_last(recording->chunks, type);
    struct chunk chunk;
    struct cursor cursor;
    bool cut;

    if (!at)
        return 0;
    if (chunk_seek(recording->chunks, at, error) ||
        chunk_read(recording->chunks, &chunk, &cut, error) < 0)
        return -1;
    cursor = cursor_over(chunk.data, chunk.size);
    if (type == CHUNK_SCALES)
        value_scales_decode(&recording->scales, &cursor);
    else
        late_names_decode(&recording->decoder.names, &cursor);
    if (check_chunk(recording, &chunk, &cursor, error))
        return -1;
    return chunk_seek(recording->chunks, back, error);
}

struct recording *recording_open(int fd, const char *name, struct error *error)
{
    struct chunk_reader *chunks = chunk_reader_new(fd, name, error);
    struct recording *recording;

    if (!chunks)
        return NULL;
    recording = xcalloc(1, sizeof(*recording));
    recording->chunks = chunks;
    if (open_header(recording, error) || read_ahead(recording, CHUNK_SCALES, error) ||
        read_ahead(recording, CHUNK_NAMES, error)) {
        recording_close(recording);
        return NULL;
    }
    log_decision(
        "recording", "%s is by beamflame %s on %s, Linux %s, %u CPUs; clock %s at %u Hz: %s", name,
        recording->header.version, recording->header.hostname, recording->header.kernel,
        recording->header.cpus, recording->header.event[0] ? recording->header.event : "none",
        recording->header.frequency, recording->header.command);
    return recording;
}

void recording_close(struct recording *recording)
{
    if (!recording)
        return;
    chunk_reader_free(recording->chunks);
    record_decoder_free(&recording->decoder);
    event_summaries_free(&recording->summaries);
    thread_times_free(&recording->threads);
    target_lives_free(&recording->lives);
    time_marks_free(&recording->marks);
    event_spans_free(&recording->spans);
    event_spans_free(&recording->recorded);
    node_metrics_free(&recording->node_metrics);
    value_scales_free(&recording->scales);
    free((char *)recording->header.event);
    free((char *)recording->header.hostname);
    free((char *)recording->header.kernel);
    free((char *)recording->header.command);
    free((char *)recording->header.version);
    free((char *)recording->header.trigger);
    free(recording);
}

const struct recording_header *recording_get_header(const struct recording *recording)
{
    return &recording->header;
}

uint64_t recording_reader_offset(const struct recording *recording)
{
    return chunk_reader_offset(recording->chunks);
}

const struct recording_totals *recording_get_totals(const struct recording *recording)
{
    return &recording->totals;
}

const struct event_summary *recording_get_summary(const struct recording *recording, event_id event)
{
    return event_summaries_get(&recording->summaries, event);
}

const struct thread_times *recording_get_threads(const struct recording *recording)
{
    return &recording->threads;
}

const struct target_lives *recording_get_lives(const struct recording *recording)
{
    return &recording->lives;
}

const struct time_marks *recording_get_marks(const struct recording *recording)
{
    return &recording->marks;
}

const struct event_spans *recording_get_spans(const struct recording *recording)
{
    return &recording->spans;
}

const struct event_spans *recording_get_recorded(const struct recording *recording)
{
    return &recording->recorded;
}

const struct node_metrics *recording_get_node_metrics(const struct recording *recording)
{
    return &recording->node_metrics;
}

/* ---- samples ---- */

static void read_node_metrics(struct recording *recording, const struct profile *profile)
{
    struct cursor *cursor = &recording->cursor;

    while (cursor->at < cursor->end && !cursor->problem)
        node_metrics_decode_series(&recording->node_metrics, profile,
                                   &recording->decoder.ids.strings, cursor);
}

/* Read a chunk of another type than CHUNK_RECORDS. */
static int read_counts(struct recording *recording, struct profile *profile, struct error *error)
{
    const struct chunk *chunk = &recording->chunk;
    const struct id_map *strings = &recording->decoder.ids.strings;
    struct cursor *cursor = &recording->cursor;

    if (chunk->type == CHUNK_TOTALS)
        read_totals(cursor, &recording->totals);
    else if (chunk->type == CHUNK_SUMMARY)
        event_summary_decode(&recording->summaries, profile, strings, cursor);
    else if (chunk->type == CHUNK_THREADS)
        thread_times_decode(&recording->threads, profile, cursor);
    else if (chunk->type == CHUNK_LIVES)
        target_lives_decode(&recording->lives, profile, cursor);
    else if (chunk->type == CHUNK_MARKS)
        time_marks_decode(&recording->marks, strings, cursor);
    else if (chunk->type == CHUNK_SPANS)
        event_spans_decode(&recording->spans, profile, cursor);
    else if (chunk->type == CHUNK_RECORDED)
        event_spans_decode(&recording->recorded, profile, cursor);
    else if (chunk->type == CHUNK_NODE)
        read_node_metrics(recording, profile);
    else if (chunk->type == CHUNK_SCALES || chunk->type == CHUNK_NAMES)
        cursor->at = cursor->end; /* recording_open() has read the newest one */
    else if (chunk->type == CHUNK_HEADER)
        cursor_fail(cursor, "second header");
    return check_chunk(recording, chunk, cursor, error);
}

static uint64_t entries(const struct recorded_ids *ids)
{
    return (uint64_t)ids->strings.count + ids->frames.count + ids->stacks.count;
}

/* Check that the file does not take too much memory, and that a small file does not unpack to a
 * huge profile, or to endless samples. `has_grown`: there are new entries in the tables. */
static int check_limits(const struct recording *recording, const struct profile *profile,
                        bool has_grown, struct error *error)
{
    uint64_t bytes = recording_reader_offset(recording);
    const char *problem = NULL;

    if (has_grown && profile_exceeds(profile, memory_limit()))
        return error_set(
            error, ERROR_FAILED,
            "%s has more stacks and names than fit into %llu MB: give more by --max-memory",
            chunk_reader_name(recording->chunks), (unsigned long long)memory_limit() >> 20);
    if (has_grown && (limits_tables_exceeded(profile, bytes) ||
                      limits_entries_exceeded(entries(&recording->decoder.ids), bytes)))
        problem = "names and stacks take more memory than a file of this size may use";
    else if (recording->decoder.frames > limits_frames(bytes))
        problem = "the stacks of the samples have more frames than a file of this size may have";
    if (!problem)
        return 0;
    return chunk_malformed(recording->chunks, &recording->chunk,
                           (size_t)(recording->cursor.at - recording->cursor.start), problem,
                           error);
}

/* Recordings of older versions have slices only as values, which are not scaled. */
static void take_slice(const struct recording *recording, const struct profile *profile,
                       struct sample *sample)
{
    if (chunk_reader_version(recording->chunks) < RECORDING_OF_SLICES &&
        event_is_sched(profile, sample->event))
        sample->slice = sample->values[SCHED_LONG];
}

static void count_sample(struct recording *recording, const struct profile *profile,
                         const struct sample *sample)
{
    if (row_interval_continues_hit(&recording->last_sched, profile, sample))
        return;
    recording->samples++;
    recording->late_frames += record_decoder_late_frames(&recording->decoder);
}

/* Decode the records of the chunk up to a sample. Return 1 with the sample, 0 if the chunk has no
 * more, or -1 with error. */
static int next_in_chunk(struct recording *recording, struct profile *profile,
                         struct sample *ret_sample, struct error *error)
{
    struct cursor *cursor = &recording->cursor;
    bool has_grown = false;

    while (cursor->at < cursor->end) {
        const uint8_t *record = cursor->at;

        if (record_decode(&recording->decoder, cursor, profile, ret_sample)) {
            count_sample(recording, profile, ret_sample);
            take_slice(recording, profile, ret_sample);
            value_scales_apply(&recording->scales, value_scales_target(profile, ret_sample),
                               ret_sample);
            return check_limits(recording, profile, has_grown, error) ? -1 : 1;
        }
        has_grown = true;
        if (cursor->problem) {
            cursor->at = record; /* the error names the start of the record */
            return check_chunk(recording, &recording->chunk, cursor, error);
        }
    }
    return check_limits(recording, profile, has_grown, error);
}

static void take_off(uint64_t *count, uint64_t part)
{
    *count -= *count < part ? *count : part;
}

/* The recorder counted frames with late names as unknown ones. */
static void count_late_names(struct recording *recording)
{
    take_off(&recording->totals.unknown_native_frames, recording->late_frames);
    take_off(&recording->totals.losses[LOSS_UNKNOWN_NATIVE], recording->late_frames);
    recording->late_frames = 0;
}

/* The totals may be older than the last samples. */
static void mark_cut(struct recording *recording)
{
    struct recording_totals *totals = &recording->totals;

    totals->cut = true;
    if (totals->samples < recording->samples)
        totals->samples = recording->samples;
    if (totals->end_monotonic < recording->decoder.last)
        totals->end_monotonic = recording->decoder.last;
}

/* Read up to the next chunk of records. Return 1 with that chunk, 0 at the end of the file, or -1
 * with error. */
static int next_chunk(struct recording *recording, struct profile *profile, bool *ret_cut,
                      struct error *error)
{
    struct chunk *chunk = &recording->chunk;
    bool cut = false;
    int got;

    while ((got = chunk_read(recording->chunks, chunk, &cut, error)) > 0) {
        recording->cursor = cursor_over(chunk->data, chunk->size);
        if (recording->ended)
            return chunk_malformed(recording->chunks, chunk, 0, "more after the end", error);
        recording->ended = chunk->type == CHUNK_END;
        if (chunk->type == CHUNK_RECORDS) {
            record_base_reset(&recording->decoder.base);
            return 1;
        }
        if (read_counts(recording, profile, error))
            return -1;
    }
    if (got < 0)
        return -1;
    event_spans_settle(&recording->spans);
    event_spans_settle(&recording->recorded);
    node_metrics_settle(&recording->node_metrics);
    count_late_names(recording);
    *ret_cut = cut || !recording->ended;
    if (*ret_cut)
        mark_cut(recording);
    return 0;
}

int recording_next(struct recording *recording, struct profile *profile, struct sample *ret_sample,
                   bool *ret_cut, struct error *error)
{
    int got;

    if (!recording->was_read && profile_counts(profile).strings)
        return error_set(error, ERROR_FAILED, "a recording can only be read into a new profile");
    recording->was_read = true;
    do {
        got = next_in_chunk(recording, profile, ret_sample, error);
        if (got)
            return got;
        got = next_chunk(recording, profile, ret_cut, error);
    } while (got > 0);
    return got;
}

int recording_read(struct recording *recording, struct profile *profile,
                   int (*each)(void *context, const struct sample *sample, struct error *error),
                   void *context, bool *ret_cut, struct error *error)
{
    struct sample sample;
    int got;

    if (recording->was_read)
        return error_set(error, ERROR_FAILED, "a recording is read once");
    while ((got = recording_next(recording, profile, &sample, ret_cut, error)) > 0)
        if (each(context, &sample, error))
            return -1;
    return got;
}
