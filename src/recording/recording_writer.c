// SPDX-License-Identifier: Apache-2.0
#include "recording/recording.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "profile/late_names.h"
#include "profile/string_table.h"
#include "profile/value_scales.h"
#include "recording/recording_internal.h"
#include "util/alloc.h"

struct recording_writer {
    struct chunk_writer *chunks;
    struct reorder reorder;
    struct record_encoder encoder;
    struct buffer records; /* the next CHUNK_RECORDS */
    struct buffer counted; /* the next chunk of another type than CHUNK_RECORDS */
    struct value_scales scales;
    bool has_scales; /* some have totals */
    struct late_names names;
    size_t names_written;
};

/* Cut the text: a reader accepts no longer ones. */
static void put_text(struct buffer *bytes, const char *text)
{
    char *copy = xstrdup(text);
    size_t size = string_table_cut(copy, strlen(copy));

    buffer_varint(bytes, size);
    buffer_put(bytes, copy, size);
    free(copy);
}

static int write_header(struct recording_writer *writer, const struct recording_header *header,
                        struct error *error)
{
    struct buffer bytes = {0};
    int result;

    buffer_varint(&bytes, header->start_realtime);
    buffer_varint(&bytes, header->start_monotonic);
    buffer_varint(&bytes, header->frequency);
    buffer_varint(&bytes, header->cpus);
    put_text(&bytes, header->event);
    put_text(&bytes, header->hostname);
    put_text(&bytes, header->kernel);
    put_text(&bytes, header->command);
    put_text(&bytes, header->version);
    put_text(&bytes, header->trigger);
    result = chunk_write(writer->chunks, CHUNK_HEADER, bytes.data, bytes.size, error);
    buffer_free(&bytes);
    return result;
}

static int write_totals(struct recording_writer *writer, const struct recording_totals *totals,
                        struct error *error)
{
    struct buffer bytes = {0};
    int result;

    buffer_varint(&bytes, totals->end_monotonic);
    buffer_varint(&bytes, totals->samples);
    buffer_varint(&bytes, totals->erlang_samples);
    buffer_varint(&bytes, totals->complete_stacks);
    buffer_varint(&bytes, totals->truncated_stacks);
    buffer_varint(&bytes, totals->frames);
    buffer_varint(&bytes, totals->erlang_frames);
    buffer_varint(&bytes, totals->unknown_erlang_frames);
    buffer_varint(&bytes, totals->unknown_native_frames);
    buffer_varint(&bytes, totals->attach_ns);
    buffer_varint(&bytes, totals->profiler_cpu_ns);
    buffer_varint(&bytes, totals->peak_rss_kb);
    buffer_varint(&bytes, totals->cpu_samples);
    buffer_varint(&bytes, totals->cpu_sampled_ns);
    buffer_varint(&bytes, totals->cpu_accounted_ns);
    buffer_varint(&bytes, totals->left_out);
    buffer_varint(&bytes, totals->cut);
    buffer_varint(&bytes, LOSS_COUNT);
    for (int i = 0; i < LOSS_COUNT; i++)
        buffer_varint(&bytes, totals->losses[i]);
    result = chunk_write(writer->chunks, CHUNK_TOTALS, bytes.data, bytes.size, error);
    buffer_free(&bytes);
    return result;
}

static int write_records(struct recording_writer *writer, struct error *error)
{
    size_t size = writer->records.size;

    if (!size)
        return 0;
    writer->records.size = 0;
    record_base_reset(&writer->encoder.base);
    return chunk_write(writer->chunks, CHUNK_RECORDS, writer->records.data, size, error);
}

/* Encode the table entries that are new. */
static int put_entries(struct recording_writer *writer, const struct profile *profile,
                       struct error *error)
{
    if (writer->encoder.sampled && profile_counts(profile).events > writer->encoder.encoded.events)
        return error_set(error, ERROR_FAILED, "an event was defined after the first sample");
    while (record_encode_entry(&writer->encoder, profile, &writer->records))
        if (writer->records.size >= CHUNK_FULL && write_records(writer, error))
            return -1;
    return 0;
}

/* Encode the samples that have waited long enough, or all of them if `all`. */
static int put_samples(struct recording_writer *writer, const struct profile *profile, bool all,
                       struct error *error)
{
    struct sample sample;

    while (reorder_pop(&writer->reorder, all, &sample)) {
        if (put_entries(writer, profile, error))
            return -1;
        record_encode_sample(&writer->encoder, profile, &sample, &writer->records);
        value_scale_count(value_scales_place(&writer->scales, sample.event,
                                             value_scales_target(profile, &sample)),
                          &sample);
        if (writer->records.size >= CHUNK_FULL && write_records(writer, error))
            return -1;
    }
    return 0;
}

struct recording_writer *recording_create_fd(int fd, const struct recording_header *header,
                                             struct error *error)
{
    struct chunk_writer *chunks = chunk_writer_new(fd, error);
    struct recording_writer *writer;

    if (!chunks)
        return NULL;
    writer = xcalloc(1, sizeof(*writer));
    writer->chunks = chunks;
    writer->reorder.wait_for = UINT64_MAX;
    if (write_header(writer, header, error)) {
        close(chunk_writer_release(chunks));
        free(writer);
        return NULL;
    }
    return writer;
}

struct recording_writer *recording_create(const char *path, const char *directory,
                                          const struct recording_header *header,
                                          struct error *error)
{
    int fd = recording_writer_file(path, directory, error);

    return fd < 0 ? NULL : recording_create_fd(fd, header, error);
}

uint64_t recording_writer_size(const struct recording_writer *writer)
{
    return chunk_writer_size(writer->chunks);
}

void recording_writer_wait_for(struct recording_writer *writer, uint64_t time)
{
    writer->reorder.wait_for = time;
}

void recording_writer_looked(struct recording_writer *writer, uint64_t time)
{
    if (time > writer->reorder.newest)
        writer->reorder.newest = time;
}

int recording_append(struct recording_writer *writer, const struct profile *profile,
                     const struct sample *sample, struct error *error)
{
    if (chunk_writer_check(writer->chunks, error))
        return -1;
    reorder_push(&writer->reorder, sample);
    return put_samples(writer, profile, false, error);
}

/* Write the new table entries first: counts refer to them, so they must come before in the file. */
static int begin_counted(struct recording_writer *writer, const struct profile *profile,
                         struct error *error)
{
    writer->counted.size = 0;
    return put_entries(writer, profile, error) || write_records(writer, error) ? -1 : 0;
}

static int write_counted(struct recording_writer *writer, enum chunk_type type, struct error *error)
{
    return chunk_write(writer->chunks, type, writer->counted.data, writer->counted.size, error);
}

int recording_put_summary(struct recording_writer *writer, const struct profile *profile,
                          const struct event_summary *summary, struct error *error)
{
    if (begin_counted(writer, profile, error))
        return -1;
    event_summary_encode(profile, summary, &writer->counted);
    return write_counted(writer, CHUNK_SUMMARY, error);
}

int recording_put_threads(struct recording_writer *writer, const struct profile *profile,
                          const struct thread_times *times, struct error *error)
{
    if (begin_counted(writer, profile, error))
        return -1;
    thread_times_encode(times, &writer->counted);
    return write_counted(writer, CHUNK_THREADS, error);
}

int recording_put_lives(struct recording_writer *writer, const struct profile *profile,
                        const struct target_lives *lives, struct error *error)
{
    if (!lives->count)
        return 0;
    if (begin_counted(writer, profile, error))
        return -1;
    target_lives_encode(lives, &writer->counted);
    return write_counted(writer, CHUNK_LIVES, error);
}

int recording_put_marks(struct recording_writer *writer, const struct profile *profile,
                        const struct time_marks *marks, struct error *error)
{
    if (!marks->count)
        return 0;
    if (begin_counted(writer, profile, error))
        return -1;
    time_marks_encode(marks, &writer->counted);
    return write_counted(writer, CHUNK_MARKS, error);
}

static int put_spans_of(struct recording_writer *writer, const struct event_spans *spans,
                        event_id event, enum chunk_type type, struct error *error)
{
    enum { SPANS_OF_CHUNK = 1 << 14 }; /* most of them; they take up to 20 bytes */
    size_t count = spans->of[event].count, first = 0, size;

    do {
        size = count - first < SPANS_OF_CHUNK ? count - first : SPANS_OF_CHUNK;
        writer->counted.size = 0;
        event_spans_encode(spans, event, first, size, &writer->counted);
        if (write_counted(writer, type, error))
            return -1;
    } while ((first += size) < count);
    return 0;
}

static int put_spans(struct recording_writer *writer, const struct profile *profile,
                     const struct event_spans *spans, enum chunk_type type, struct error *error)
{
    int result = begin_counted(writer, profile, error);

    for (event_id event = 0; !result && event < spans->count; event++)
        if (spans->of[event].known)
            result = put_spans_of(writer, spans, event, type, error);
    return result;
}

int recording_put_spans(struct recording_writer *writer, const struct profile *profile,
                        const struct event_spans *spans, struct error *error)
{
    return put_spans(writer, profile, spans, CHUNK_SPANS, error);
}

int recording_put_recorded(struct recording_writer *writer, const struct profile *profile,
                           const struct event_spans *recorded, struct error *error)
{
    return put_spans(writer, profile, recorded, CHUNK_RECORDED, error);
}

enum { READINGS_OF_CHUNK = 1 << 13 }; /* most of a series at once; they take up to 20 bytes */

/* Write what was encoded, if it has at least `size` bytes. */
static int write_node_metrics(struct recording_writer *writer, size_t size, struct error *error)
{
    if (writer->counted.size < size)
        return 0;
    if (write_counted(writer, CHUNK_NODE, error))
        return -1;
    writer->counted.size = 0;
    return 0;
}

static int put_series(struct recording_writer *writer, const struct node_series *series,
                      struct error *error)
{
    for (size_t first = 0; first < series->count; first += READINGS_OF_CHUNK) {
        size_t rest = series->count - first;

        node_metrics_encode_series(
            series, first, rest < READINGS_OF_CHUNK ? rest : READINGS_OF_CHUNK, &writer->counted);
        if (write_node_metrics(writer, CHUNK_FULL, error))
            return -1;
    }
    return 0;
}

int recording_put_node_metrics(struct recording_writer *writer, const struct profile *profile,
                               const struct node_metrics *metrics, struct error *error)
{
    if (!metrics->readings)
        return 0;
    if (begin_counted(writer, profile, error))
        return -1;
    for (size_t i = 0; i < metrics->count; i++)
        if (put_series(writer, &metrics->of[i], error))
            return -1;
    return write_node_metrics(writer, 1, error);
}

void recording_put_values(struct recording_writer *writer, event_id event, target_id target,
                          const uint64_t totals[EVENT_VALUES])
{
    struct value_scale *scale = value_scales_place(&writer->scales, event, target);

    memcpy(scale->totals, totals, sizeof(scale->totals));
    writer->has_scales = true;
}

static int write_scales(struct recording_writer *writer, struct error *error)
{
    if (!writer->has_scales)
        return 0;
    writer->counted.size = 0;
    value_scales_encode(&writer->scales, &writer->counted);
    return write_counted(writer, CHUNK_SCALES, error);
}

void recording_name_frame(struct recording_writer *writer, frame_id frame, uint64_t before,
                          const char *symbol)
{
    late_names_add(&writer->names, frame, before, symbol);
}

static int write_names(struct recording_writer *writer, struct error *error)
{
    if (writer->names_written == writer->names.count)
        return 0;
    writer->names_written = writer->names.count;
    writer->counted.size = 0;
    late_names_encode(&writer->names, &writer->counted);
    return write_counted(writer, CHUNK_NAMES, error);
}

static int flush(struct recording_writer *writer, const struct profile *profile,
                 struct recording_totals *totals, bool all, struct error *error)
{
    if (chunk_writer_check(writer->chunks, error))
        return -1;
    if (put_samples(writer, profile, all, error) || put_entries(writer, profile, error) ||
        write_records(writer, error) || write_scales(writer, error) || write_names(writer, error))
        return -1;
    /* Set the number instead of adding to it: the caller may keep its totals or start them at 0
     * again. */
    if (totals->losses[LOSS_OUT_OF_ORDER] < writer->reorder.late)
        totals->losses[LOSS_OUT_OF_ORDER] = writer->reorder.late;
    return write_totals(writer, totals, error);
}

int recording_flush(struct recording_writer *writer, const struct profile *profile,
                    struct recording_totals *totals, struct error *error)
{
    return flush(writer, profile, totals, false, error);
}

static int cannot_close(struct error *error)
{
    return error_set(error, ERROR_FAILED, "can't write the recording: %s", strerror(errno));
}

/* Network file systems report some write errors only when a descriptor is closed, also if another
 * one stays open. Return 0, or -1 with errno. */
static int close_another(int fd)
{
    int other = fcntl(fd, F_DUPFD_CLOEXEC, 3);

    return other < 0 ? 0 : close(other);
}

int recording_finish(struct recording_writer *writer, const struct profile *profile,
                     struct recording_totals *totals, int *ret_fd, struct error *error)
{
    int result = flush(writer, profile, totals, true, error), fd;

    if (!result)
        result = chunk_write(writer->chunks, CHUNK_END, "", 0, error);
    fd = chunk_writer_release(writer->chunks);
    reorder_free(&writer->reorder);
    record_base_reset(&writer->encoder.base);
    buffer_free(&writer->records);
    buffer_free(&writer->counted);
    value_scales_free(&writer->scales);
    late_names_free(&writer->names);
    free(writer);
    if (ret_fd) {
        *ret_fd = fd;
        if (close_another(fd) && !result)
            result = cannot_close(error);
        if (lseek(fd, 0, SEEK_SET) == 0)
            return result;
        *ret_fd = -1;
        if (!result)
            result = error_set(error, ERROR_FAILED, "can't read the recording again: %s",
                               strerror(errno));
    }
    if (close(fd) && !result)
        result = cannot_close(error);
    return result;
}
