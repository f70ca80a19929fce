// SPDX-License-Identifier: Apache-2.0
/*
 * The push service of Pyroscope, by Connect's protocol (connectrpc.com/docs/protocol). A request is
 * accepted, or its first problem is the answer to all of it, though the other profiles are stored
 * (pkg/distributor/distributor.go:384, v2.2.0).
 */
#include "push/push_format.h"

#include <stdint.h>
#include <stdlib.h>

#include "push/gzip.h"
#include "services/pyroscope.pb-c.h"
#include "util/alloc.h"
#include "util/utf8.h"

/* One series, with one profile, and the memory of its message. */
struct series {
    Pyroscope__Series message;
    Pyroscope__Sample sample, *samples[1];
    Pyroscope__Label *labels, **label_list;
    struct buffer profile;
    char id[37];
};

/* "01234567-89ab-cdef-0123-456789abcdef" */
static void format_uuid(char *text, const uint8_t id[16])
{
    static const char digits[] = "0123456789abcdef";

    for (int i = 0; i < 16; i++) {
        if (i == 4 || i == 6 || i == 8 || i == 10)
            *text++ = '-';
        *text++ = digits[id[i] >> 4];
        *text++ = digits[id[i] & 15];
    }
    *text = '\0';
}

/* A text that is not UTF-8 would make the whole request unreadable. */
static void init_labels(struct series *series, const struct push_profile *profile)
{
    series->labels = xcalloc(profile->label_count + 1, sizeof(*series->labels));
    series->label_list = xcalloc(profile->label_count + 1, sizeof(*series->label_list));
    for (size_t i = 0; i < profile->label_count; i++) {
        pyroscope__label__init(&series->labels[i]);
        series->labels[i].name = utf8_clean_string(profile->labels[i].name);
        series->labels[i].value = utf8_clean_string(profile->labels[i].value);
        series->label_list[i] = &series->labels[i];
    }
    series->message.n_labels = profile->label_count;
    series->message.labels = series->label_list;
}

static void init_series(struct series *series, const struct push_profile *profile)
{
    pyroscope__series__init(&series->message);
    pyroscope__sample__init(&series->sample);
    init_labels(series, profile);
    gzip_put(&series->profile, profile->data, profile->size);
    series->sample.raw_profile.data = (uint8_t *)series->profile.data;
    series->sample.raw_profile.len = series->profile.size;
    format_uuid(series->id, profile->id);
    series->sample.id = series->id;
    series->samples[0] = &series->sample;
    series->message.n_samples = 1;
    series->message.samples = series->samples;
}

static void free_series(struct series *series)
{
    for (size_t i = 0; i < series->message.n_labels; i++) {
        free(series->labels[i].name);
        free(series->labels[i].value);
    }
    free(series->labels);
    free(series->label_list);
    buffer_free(&series->profile);
}

static void write_request(struct buffer *body, const struct push_profile *profiles, size_t count)
{
    Pyroscope__PushRequest request = PYROSCOPE__PUSH_REQUEST__INIT;
    struct series *series = xcalloc(count + 1, sizeof(*series));
    Pyroscope__Series **list = xcalloc(count + 1, sizeof(*list));
    size_t size;

    for (size_t i = 0; i < count; i++) {
        init_series(&series[i], &profiles[i]);
        list[i] = &series[i].message;
    }
    request.n_series = count;
    request.series = list;
    size = pyroscope__push_request__get_packed_size(&request);
    body->size += pyroscope__push_request__pack(&request, (uint8_t *)buffer_reserve(body, size));
    for (size_t i = 0; i < count; i++)
        free_series(&series[i]);
    free(series);
    free(list);
}

static const char *const headers[] = {"Content-Type: application/proto",
                                      "Connect-Protocol-Version: 1", NULL};

const struct push_format pyroscope_request_format = {
    .path = "/push.v1.PusherService/Push",
    .headers = headers,
    .most = SIZE_MAX,
    .write = write_request,
    .problem = push_format_problem,
    .is_later = push_format_is_later,
};
