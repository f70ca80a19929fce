// SPDX-License-Identifier: Apache-2.0
/* The bodies of requests, read again. (By the services' own rules: tests/tools/push_test.py.) */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>
#include <cmocka.h>

#include "push/gzip.h"
#include "push/push_format.h"
#include "services/pyroscope.pb-c.h"
#include "util/alloc.h"
#include "util/encode.h"

static const struct push_label labels[] = {
    {"__name__", "process_cpu"}, {"service_name", "shöp \"1\""}, {"pod", "bad\xff\x1b"}};

static const struct push_profile profiles[] = {
    {"first",
     5,
     labels,
     3,
     {0x01, 0x23, 0x45, 0x67, 0x89, 0xab, 0xcd, 0xef, 0xfe, 0xdc, 0xba, 0x98, 0x76, 0x54, 0x32,
      0x10}},
    {"", 0, labels, 1, {0}},
};

/* Fail unless `data` is a file of gzip with `content`. */
static void assert_gzip(const void *data, size_t size, const char *content)
{
    z_stream stream = {.next_in = (z_const Bytef *)data, .avail_in = (uInt)size};
    char text[100];

    assert_int_equal(inflateInit2(&stream, 15 + 16), Z_OK);
    stream.next_out = (Bytef *)text;
    stream.avail_out = sizeof(text);
    assert_int_equal(inflate(&stream, Z_FINISH), Z_STREAM_END);
    assert_int_equal(stream.avail_in, 0);
    assert_int_equal(stream.total_out, strlen(content));
    assert_memory_equal(text, content, strlen(content));
    inflateEnd(&stream);
}

static void test_otlp_sends_the_data_as_gzip(void **state)
{
    struct buffer body = {0};

    (void)state;
    otlp_request_format.write(&body, profiles, 1);
    assert_gzip(body.data, body.size, "first");
    buffer_free(&body);
}

static void test_pyroscope_gets_a_series_for_each_profile(void **state)
{
    struct buffer body = {0};
    Pyroscope__PushRequest *request;

    (void)state;
    pyroscope_request_format.write(&body, profiles, 2);
    request = pyroscope__push_request__unpack(NULL, body.size, (const uint8_t *)body.data);
    assert_non_null(request);
    assert_int_equal(request->n_series, 2);
    assert_int_equal(request->series[0]->n_labels, 3);
    assert_int_equal(request->series[1]->n_labels, 1);
    for (size_t i = 0; i < 2; i++) {
        Pyroscope__Sample *sample = request->series[i]->samples[0];

        assert_int_equal(request->series[i]->n_samples, 1);
        assert_gzip(sample->raw_profile.data, sample->raw_profile.len, i ? "" : "first");
        assert_string_equal(sample->id, i ? "00000000-0000-0000-0000-000000000000"
                                          : "01234567-89ab-cdef-fedc-ba9876543210");
        for (size_t j = 0; j < 2 - i; j++) {
            assert_string_equal(request->series[i]->labels[j]->name, labels[j].name);
            assert_string_equal(request->series[i]->labels[j]->value, labels[j].value);
        }
    }
    pyroscope__push_request__free_unpacked(request, NULL);
    buffer_free(&body);
}

/* One label that is not UTF-8 would make a request unreadable. */
static void test_labels_are_made_utf8(void **state)
{
    struct buffer body = {0};
    Pyroscope__PushRequest *request;

    (void)state;
    pyroscope_request_format.write(&body, profiles, 1);
    request = pyroscope__push_request__unpack(NULL, body.size, (const uint8_t *)body.data);
    assert_string_equal(request->series[0]->labels[2]->value, "bad\xef\xbf\xbd\xef\xbf\xbd");
    pyroscope__push_request__free_unpacked(request, NULL);
    buffer_free(&body);
}

/* Append the gzip of a text as base64. */
static void put_packed(struct buffer *to, const char *text)
{
    struct buffer packed = {0};

    gzip_put(&packed, text, strlen(text));
    encode_base64(to, packed.data, packed.size);
    buffer_free(&packed);
}

static void test_parca_gets_json(void **state)
{
    struct buffer body = {0}, expected = {0};

    (void)state;
    buffer_text(
        &expected,
        "{\"series\":[{\"labels\":{\"labels\":[{\"name\":\"__name__\",\"value\":"
        "\"process_cpu\"},{\"name\":\"service_name\",\"value\":\"shöp \\\"1\\\"\"},{\"name\":"
        "\"pod\",\"value\":\"bad\xef\xbf\xbd\\u001b\"}]},\"samples\":[{\"rawProfile\":\"");
    put_packed(&expected, "first");
    buffer_text(&expected, "\"}]},{\"labels\":{\"labels\":[{\"name\":\"__name__\",\"value\":"
                           "\"process_cpu\"}]},\"samples\":[{\"rawProfile\":\"");
    put_packed(&expected, "");
    buffer_text(&expected, "\"}]}],\"normalized\":true}");
    parca_request_format.write(&body, profiles, 2);
    assert_int_equal(body.size, expected.size);
    assert_memory_equal(body.data, expected.data, body.size);
    buffer_free(&body);
    buffer_free(&expected);
}

/* A profile that is sent again has the same bytes, so a service can recognize it. */
static void test_same_profile_gives_the_same_body(void **state)
{
    (void)state;
    for (int i = 0; i < PUSH_PROTOCOLS; i++) {
        struct buffer bodies[2] = {{0}};

        for (int j = 0; j < 2; j++)
            push_format_of((enum push_protocol)i)->write(&bodies[j], profiles, 1);
        assert_int_equal(bodies[0].size, bodies[1].size);
        assert_memory_equal(bodies[0].data, bodies[1].data, bodies[0].size);
        buffer_free(&bodies[0]);
        buffer_free(&bodies[1]);
    }
}

static void test_large_profile_is_packed_whole(void **state)
{
    size_t size = 5 << 20;
    char *data = xmalloc(size), *unpacked = xmalloc(size);
    struct buffer packed = {0};
    z_stream stream = {0};
    uint32_t word = 1;

    (void)state;
    for (size_t i = 0; i < size; i++)
        data[i] = (char)((word = word * 1664525 + 1013904223) >> 24);
    gzip_put(&packed, data, size);
    stream.next_in = (Bytef *)packed.data;
    stream.avail_in = (uInt)packed.size;
    stream.next_out = (Bytef *)unpacked;
    stream.avail_out = (uInt)size;
    assert_int_equal(inflateInit2(&stream, 15 + 16), Z_OK);
    assert_int_equal(inflate(&stream, Z_FINISH), Z_STREAM_END);
    assert_int_equal(stream.total_out, size);
    assert_memory_equal(data, unpacked, size);
    inflateEnd(&stream);
    buffer_free(&packed);
    free(data);
    free(unpacked);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_otlp_sends_the_data_as_gzip),
        cmocka_unit_test(test_pyroscope_gets_a_series_for_each_profile),
        cmocka_unit_test(test_labels_are_made_utf8),
        cmocka_unit_test(test_parca_gets_json),
        cmocka_unit_test(test_same_profile_gives_the_same_body),
        cmocka_unit_test(test_large_profile_is_packed_whole),
    };

    return cmocka_run_group_tests_name("push_request", tests, NULL, NULL);
}
