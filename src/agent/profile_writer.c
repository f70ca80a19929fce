// SPDX-License-Identifier: Apache-2.0
#include "agent/segment_profiles.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "output/formats.h"
#include "output/output.h"
#include "output/protobuf/wire_types.h"
#include "recording/recording.h"
#include "util/alloc.h"
#include "util/attribute_list.h"
#include "util/buffer.h"
#include "util/files.h"
#include "util/word_list.h"

/* Services take profiles of 2 MB and more, and of 16,000 samples. A request has profiles of at most
 * twice these bytes, and Parca's are in base64. */
enum { BYTES_MOST = 768 << 10, ROWS_MOST = 16000 };

/* While a piece of a profile is made, all rows of the profile are in memory for it. */
enum { PIECES_AT_ONCE = 4 };

/* A profile that is made: of an event, and of a VM or of all. */
struct part {
    event_id event;
    target_id target;
    struct output_piece piece; /* of its rows */
    char *data;                /* NULL: not made yet, or no sample */
    size_t size;
    bool is_made, is_whole; /* it has all rows of its event and VM, up to ROWS_MOST */
};

struct writer {
    int fd, out;
    const struct push_service *service;
    struct profile *profile; /* of the whole recording */
    struct part *parts;      /* in the order in which they are sent: the same each time */
    size_t count;
    struct output_request *requests; /* one for each part that is not made */
    size_t request_count;
};

static struct recording *open_recording(const struct writer *writer, struct error *error)
{
    int again = dup(writer->fd);

    lseek(writer->fd, 0, SEEK_SET);
    return recording_open(again, "the recording", error);
}

static int ignore_sample(void *context, const struct sample *sample, struct error *error)
{
    (void)context;
    (void)sample;
    (void)error;
    return 0;
}

/* Read the tables of the recording. */
static int read_tables(const struct writer *writer, struct error *error)
{
    struct recording *recording = open_recording(writer, error);
    bool cut;
    int result;

    if (!recording)
        return -1;
    result = recording_read(recording, writer->profile, ignore_sample, NULL, &cut, error);
    recording_close(recording);
    return result;
}

/* True if the service gets the event. */
static bool sends(const struct writer *writer, event_id event)
{
    const char *name =
        profile_text(writer->profile, profile_get_event(writer->profile, event)->name);

    return !writer->service->events || word_list_has(writer->service->events, name);
}

/* OpenTelemetry's profiles have a resource for each VM. */
static void plan(struct writer *writer)
{
    struct profile_counts counts = profile_counts(writer->profile);
    bool split = writer->service->protocol != PUSH_OTLP;
    target_id first = split ? 1 : 0, last = split ? counts.targets : 0;

    writer->parts = xcalloc((size_t)counts.events * (last - first + 1) + 1, sizeof(struct part));
    for (event_id event = 1; event <= counts.events; event++) {
        if (!sends(writer, event))
            continue;
        for (target_id target = first; target <= last; target++)
            writer->parts[writer->count++] = (struct part){
                .event = event, .target = target, .piece.most = ROWS_MOST, .is_whole = true};
    }
}

static void request_part(struct writer *writer, struct part *part)
{
    part->piece.rows = 0;
    part->is_made = true;
    writer->requests[writer->request_count++] = (struct output_request){
        .path = "profile",
        .format = writer->service->protocol == PUSH_OTLP ? &otlp_format : &pprof_format,
        .file = open_memstream(&part->data, &part->size),
        .event = part->event,
        .target = part->target,
        .needs_sample = true,
        .piece = &part->piece,
    };
}

/* Request parts that are not made yet: whole ones, and some pieces of others. */
static void request_parts(struct writer *writer)
{
    int pieces = 0;

    writer->requests = xcalloc(writer->count + 1, sizeof(*writer->requests));
    writer->request_count = 0;
    for (size_t i = 0; i < writer->count; i++) {
        struct part *part = &writer->parts[i];

        if (!part->is_made && (part->is_whole || pieces++ < PIECES_AT_ONCE))
            request_part(writer, part);
    }
}

static int make_parts(struct writer *writer, struct error *error)
{
    const struct output_settings settings = {.view.grouping = {{GROUP_NAME}},
                                             .no_labels = true,
                                             .no_traces = !writer->service->traces,
                                             .timestamps = writer->service->timestamps};
    struct recording *recording = open_recording(writer, error);
    struct output_result written;
    int result;

    if (!recording)
        return -1;
    request_parts(writer);
    result = output_write(recording, &settings, writer->requests, writer->request_count, &written,
                          error);
    recording_close(recording);
    for (size_t i = 0; i < writer->request_count; i++)
        fclose(writer->requests[i].file);
    free(writer->requests);
    if (result)
        return error->code == ERROR_NO_SAMPLES ? 0 : -1;
    if (written.given.code) {
        *error = written.given;
        result = -1;
    }
    output_result_free(&written);
    return result;
}

/* ---- parts that are too large ---- */

static void add_part(struct writer *writer, const struct part *part)
{
    writer->parts = xreallocarray(writer->parts, writer->count + 1, sizeof(*writer->parts));
    writer->parts[writer->count++] = *part;
}

/* Return how many rows fit into a piece; `made` rows have `size` bytes. Tables of functions are in
 * each piece again, so it has fewer rows than in proportion. */
static uint32_t rows_that_fit(uint32_t rows, uint32_t made, size_t size)
{
    uint64_t fit = ROWS_MOST;

    if (size > BYTES_MOST)
        fit = (uint64_t)made * BYTES_MOST * 2 / 3 / size;
    if (size > BYTES_MOST && fit > rows / 2)
        fit = rows / 2;
    return (uint32_t)(fit < 1 ? 1 : fit < ROWS_MOST ? fit : ROWS_MOST);
}

/* Keep a part that is small enough. Else add pieces of it that are to be made, with each of its
 * rows in one of them. */
static void divide(struct writer *writer, struct part *part)
{
    const struct output_piece *piece = &part->piece;
    uint32_t rows = part->is_whole ? piece->rows : piece->most;
    uint32_t fit = rows_that_fit(rows, rows < piece->most ? rows : piece->most, part->size);

    if (rows <= 1 || (part->size <= BYTES_MOST && rows <= ROWS_MOST)) {
        add_part(writer, part);
        return;
    }
    free(part->data);
    for (uint32_t done = 0; done < rows; done += fit)
        add_part(writer, &(struct part){.event = part->event,
                                        .target = part->target,
                                        .piece = {.first = piece->first + done,
                                                  .most = rows - done < fit ? rows - done : fit}});
}

/* Return true if parts are to be made. */
static bool divide_all(struct writer *writer)
{
    struct part *parts = writer->parts;
    size_t count = writer->count;
    bool unmade = false;

    writer->parts = NULL;
    writer->count = 0;
    for (size_t i = 0; i < count; i++)
        divide(writer, &parts[i]);
    free(parts);
    for (size_t i = 0; i < writer->count; i++)
        unmade |= !writer->parts[i].is_made;
    return unmade;
}

/* ---- id and labels ---- */

/* FNV-1a of 128 bits: a profile has the same id each time that it is made. */
static void add_to_id(unsigned __int128 *id, const void *data, size_t size)
{
    static const unsigned __int128 prime = ((unsigned __int128)1 << 88) + 0x13b;
    const unsigned char *bytes = data;

    for (size_t i = 0; i < size; i++)
        *id = (*id ^ bytes[i]) * prime;
}

static unsigned __int128 id_of(const struct recording_header *header, const struct part *part)
{
    static const unsigned __int128 start =
        ((unsigned __int128)0x6c62272e07bb0142 << 64) + 0x62b821756295c58d;
    unsigned __int128 id = start;

    add_to_id(&id, header->hostname, strlen(header->hostname) + 1);
    add_to_id(&id, &header->start_realtime, sizeof(header->start_realtime));
    add_to_id(&id, &part->event, sizeof(part->event));
    add_to_id(&id, &part->target, sizeof(part->target));
    if (part->piece.first)
        add_to_id(&id, &part->piece.first, sizeof(part->piece.first));
    return id;
}

static void put_text(struct buffer *buffer, const char *text)
{
    uint32_t size = (uint32_t)strlen(text) + 1;

    buffer_put(buffer, &size, sizeof(size));
    buffer_put(buffer, text, size);
}

static void put_label(struct buffer *buffer, uint32_t *count, const char *name, const char *value)
{
    char *cut = xstrndup(value, wire_text_size(value, strlen(value)));

    if (cut[0]) {
        put_text(buffer, name);
        put_text(buffer, cut);
        (*count)++;
    }
    free(cut);
}

/* Attributes of the VM that are labels too. */
static const struct {
    const char *attribute, *label;
} labels_of_attributes[] = {
    {"k8s.namespace.name", "namespace"},
    {"k8s.pod.name", "pod"},
    {"k8s.container.name", "container"},
    {"service.version", "service_version"},
    {"deployment.environment.name", "environment"},
};

/* Services make a series of each set of labels, so these have few values: neither processes nor
 * pids. */
static void put_labels(struct buffer *buffer, const struct writer *writer,
                       const struct recording_header *header, const struct part *part)
{
    const struct profile *profile = writer->profile;
    const struct target_entry *target = profile_get_target(profile, part->target);
    const char *event = profile_text(profile, profile_get_event(profile, part->event)->name);
    const char *node = profile_text(profile, target->node);
    const char *host = profile_text(profile, target->host);
    const char *attributes = profile_text(profile, target->attributes);
    char *service = wire_service_name(profile, target);
    struct wire_type name = wire_profile_of_event(event);
    struct buffer labels = {0};
    uint32_t count = 0;

    put_label(&labels, &count, "__name__", name.name);
    if (!strcmp(name.name, "memory")) /* else Pyroscope takes the difference of two profiles */
        put_label(&labels, &count, "__delta__", "false");
    put_label(&labels, &count, "service_name", service);
    put_label(&labels, &count, "node", wire_node_has_name(node) ? node : "");
    put_label(&labels, &count, "host", host[0] ? host : header->hostname);
    put_label(&labels, &count, "otp_release", profile_text(profile, target->otp_release));
    for (size_t i = 0; i < sizeof(labels_of_attributes) / sizeof(labels_of_attributes[0]); i++) {
        char *value = attribute_list_find(attributes, labels_of_attributes[i].attribute);

        put_label(&labels, &count, labels_of_attributes[i].label, value ? value : "");
        free(value);
    }
    buffer_put(buffer, &count, sizeof(count));
    buffer_put(buffer, labels.data, labels.size);
    buffer_free(&labels);
    free(service);
}

static int put_part(const struct writer *writer, const struct recording_header *header,
                    const struct part *part, struct error *error)
{
    unsigned __int128 id = id_of(header, part);
    struct buffer buffer = {0};
    uint64_t size = part->size;
    uint32_t none = 0;
    int result;

    buffer_put(&buffer, &id, sizeof(id));
    if (part->target)
        put_labels(&buffer, writer, header, part);
    else
        buffer_put(&buffer, &none, sizeof(none));
    buffer_put(&buffer, &size, sizeof(size));
    result = files_write_all(writer->out, buffer.data, buffer.size) ||
                     files_write_all(writer->out, part->data, part->size)
                 ? -1
                 : 0;
    buffer_free(&buffer);
    return result ? error_set(error, ERROR_FAILED, "profiles can't be written") : 0;
}

static int put_parts(const struct writer *writer, struct error *error)
{
    struct recording *recording = open_recording(writer, error);
    int result = recording ? 0 : -1;

    for (size_t i = 0; i < writer->count && !result; i++)
        if (writer->parts[i].size)
            result = put_part(writer, recording_get_header(recording), &writer->parts[i], error);
    if (recording)
        recording_close(recording);
    return result;
}

int profile_writer_write(int fd, int out, const struct push_service *service, struct error *error)
{
    struct writer writer = {.fd = fd, .out = out, .service = service, .profile = profile_new()};
    int result = read_tables(&writer, error);

    if (!result) {
        plan(&writer);
        do
            result = make_parts(&writer, error);
        while (!result && divide_all(&writer));
    }
    if (!result)
        result = put_parts(&writer, error);
    for (size_t i = 0; i < writer.count; i++)
        free(writer.parts[i].data);
    free(writer.parts);
    profile_free(writer.profile);
    return result;
}
