// SPDX-License-Identifier: Apache-2.0
/* When events could be seen: lists of spans, in memory and in recordings. */
#include "small_profile.h"

#include "profile/event_spans.h"
#include "recording/recording_join.h"

static void assert_spans(const struct event_spans *spans, event_id event,
                         const struct time_span *expected, size_t count)
{
    const struct spans *of = event_spans_get(spans, event);

    assert_non_null(of);
    assert_int_equal(of->count, count);
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(of->list[i].start, expected[i].start);
        assert_int_equal(of->list[i].end, expected[i].end);
    }
}

#define SPANS(spans, event, ...)                                                                   \
    assert_spans(spans, event, (const struct time_span[]){__VA_ARGS__},                            \
                 sizeof((const struct time_span[]){__VA_ARGS__}) / sizeof(struct time_span))

static void test_spans_are_put_in_order_and_united(void **state)
{
    struct event_spans spans = {0};

    (void)state;
    event_spans_add(&spans, 2, 100, 200);
    event_spans_add(&spans, 2, 150, 180);
    event_spans_add(&spans, 2, 600, 650);
    event_spans_add(&spans, 2, 500, 600);
    event_spans_add(&spans, 2, 300, 300);
    event_spans_add(&spans, 2, 190, 250);
    event_spans_add(&spans, 2, 10, 20);
    event_spans_settle(&spans);
    SPANS(&spans, 2, {10, 20}, {100, 250}, {500, 650});
    assert_null(event_spans_get(&spans, 0));
    assert_null(event_spans_get(&spans, 1));
    assert_null(event_spans_get(&spans, 3));
    event_spans_place(&spans, 3);
    assert_int_equal(event_spans_get(&spans, 3)->count, 0);
    event_spans_free(&spans);
}

/* Too many spans become fewer and longer ones, which cover as much time. */
/* The times before the first span and after the last one are none. */
static void test_gaps_are_between_spans(void **state)
{
    struct event_spans spans = {0};

    (void)state;
    assert_int_equal(event_spans_gaps(&spans, 0, 0, 1000), 0);
    event_spans_add(&spans, 0, 100, 200);
    event_spans_add(&spans, 0, 300, 400);
    event_spans_add(&spans, 0, 450, 500);
    event_spans_settle(&spans);
    assert_int_equal(event_spans_gaps(&spans, 0, 0, 1000), 150);
    assert_int_equal(event_spans_gaps(&spans, 0, 250, 1000), 100);
    assert_int_equal(event_spans_gaps(&spans, 0, 250, 270), 20);
    assert_int_equal(event_spans_gaps(&spans, 0, 120, 180), 0);
    assert_int_equal(event_spans_gaps(&spans, 0, 600, 1000), 0);
    event_spans_free(&spans);
}

static void test_many_spans_become_coarser(void **state)
{
    enum { COUNT = 3 * EVENT_SPANS_MAX };
    struct event_spans spans = {0};
    const struct spans *of;
    uint64_t covered = 0, last = 0;

    (void)state;
    for (uint64_t i = 0; i < COUNT; i++)
        event_spans_add(&spans, 1, i * 100, i * 100 + 10);
    event_spans_settle(&spans);
    of = event_spans_get(&spans, 1);
    assert_in_range(of->count, EVENT_SPANS_MAX / 4, EVENT_SPANS_MAX);
    assert_true(of->room <= 4 * EVENT_SPANS_MAX);
    for (size_t i = 0; i < of->count; i++) {
        assert_true(of->list[i].start >= last);
        last = of->list[i].end;
        covered += of->list[i].end - of->list[i].start;
    }
    assert_int_equal(covered, COUNT * 10);
    assert_true(last <= COUNT * 100);
    event_spans_free(&spans);
}

/* A small file can name many events. */
static void test_spans_of_many_events_are_bounded(void **state)
{
    enum { EVENTS = 5000, EACH = 500 };
    struct event_spans spans = {0};
    size_t all = 0;

    (void)state;
    for (event_id event = 1; event <= EVENTS; event++)
        for (uint64_t i = 0; i < EACH; i++)
            event_spans_add(&spans, event, i * 100, i * 100 + 10);
    event_spans_settle(&spans);
    for (event_id event = 1; event <= EVENTS; event++)
        all += event_spans_get(&spans, event)->count;
    assert_in_range(all, EVENTS, EVENT_SPANS_ALL);
    event_spans_free(&spans);
}

/* Write a recording of the small profile, with spans in two parts. `shift` is added to its times.
 */
static int recording_with_spans(uint64_t shift)
{
    struct small_profile small;
    struct recording_header header = small_header;
    struct event_spans spans = {0};
    struct recording_writer *writer;
    struct error error;
    int fd = -1;

    small_profile_make(&small);
    small_profile_add_events(&small);
    header.start_monotonic += shift;
    header.start_realtime += shift;
    small.totals.end_monotonic += shift;
    writer = recording_create(NULL, "/tmp", &header, &error);
    event_spans_add(&spans, 0, 1000000000 + shift, 2000000000 + shift);
    event_spans_add(&spans, 2, 900000000 + shift, 1100000000 + shift);
    event_spans_place(&spans, 3);
    assert_int_equal(recording_put_spans(writer, small.profile, &spans, &error), 0);
    event_spans_clear(&spans);
    event_spans_add(&spans, 2, 1500000000 + shift, 1600000000 + shift);
    event_spans_add(&spans, 0, 2000000000 + shift, 2500000000 + shift);
    assert_int_equal(recording_put_spans(writer, small.profile, &spans, &error), 0);
    event_spans_free(&spans);
    assert_int_equal(recording_finish(writer, small.profile, &small.totals, &fd, &error), 0);
    profile_free(small.profile);
    return fd;
}

static struct recording *read_all(int fd)
{
    struct profile *profile = profile_new();
    struct error error;
    struct recording *recording = recording_open(fd, "test", &error);
    struct sample sample;
    bool cut;

    assert_non_null(recording);
    if (recording_next(recording, profile, &sample, &cut, &error) < 0)
        fail_msg("%s", error.text);
    profile_free(profile);
    return recording;
}

static void test_recording_has_the_spans_that_were_added(void **state)
{
    struct recording *recording = read_all(recording_with_spans(0));
    const struct event_spans *spans = recording_get_spans(recording);

    (void)state;
    SPANS(spans, 0, {1000000000, 2500000000});
    SPANS(spans, 2, {900000000, 1100000000}, {1500000000, 1600000000});
    assert_int_equal(event_spans_get(spans, 3)->count, 0);
    assert_null(event_spans_get(spans, 1));
    recording_close(recording);
}

/* Joined by time, the second recording follows 0.2 s later; the time between is in no span, also
 * not of event 1, which was seen all the time in both. */
static void test_joined_recording_has_the_spans_of_both(void **state)
{
    const struct join_part parts[] = {{recording_with_spans(0), "one"},
                                      {recording_with_spans(2700000000), "two"}};
    struct recording *recording;
    struct error error;
    int fd, file = memory_file();

    (void)state;
    if (recording_join(parts, 2, &(struct join_options){.order = JOIN_BY_TIME}, file, &fd, &error))
        fail_msg("%s", error.text);
    recording = read_all(fd);
    SPANS(recording_get_spans(recording), 0, {1000000000, 2500000000}, {3700000000, 5200000000});
    SPANS(recording_get_spans(recording), 2, {900000000, 1100000000}, {1500000000, 1600000000},
          {3600000000, 3800000000}, {4200000000, 4300000000});
    assert_int_equal(event_spans_get(recording_get_spans(recording), 3)->count, 0);
    SPANS(recording_get_spans(recording), 1, {1000000000, 3500000000}, {3700000000, 6200000000});
    recording_close(recording);
}

/* More spans than a chunk can have. */
static void test_many_spans_are_written_in_several_chunks(void **state)
{
    struct small_profile small;
    struct event_spans spans = {0};
    struct recording_writer *writer;
    struct recording *recording;
    const struct spans *of;
    struct error error;
    int fd = -1;

    (void)state;
    small_profile_make(&small);
    writer = recording_create(NULL, "/tmp", &small_header, &error);
    for (uint64_t i = 0; i < 40000; i++)
        event_spans_add(&spans, 1, i << 48 >> 3, (i << 48 >> 3) + (1ull << 40));
    event_spans_settle(&spans);
    if (recording_put_spans(writer, small.profile, &spans, &error) ||
        recording_finish(writer, small.profile, &small.totals, &fd, &error))
        fail_msg("%s", error.text);
    recording = read_all(fd);
    of = event_spans_get(recording_get_spans(recording), 1);
    assert_int_equal(of->count, spans.of[1].count);
    assert_memory_equal(of->list, spans.of[1].list, of->count * sizeof(*of->list));
    event_spans_free(&spans);
    recording_close(recording);
    profile_free(small.profile);
}

static void refuse(const void *bytes, size_t size, const char *problem)
{
    struct small_profile small;
    struct event_spans spans = {0};
    struct cursor cursor = cursor_over(bytes, size);

    small_profile_make(&small);
    event_spans_decode(&spans, small.profile, &cursor);
    assert_non_null(cursor.problem);
    if (problem)
        assert_string_equal(cursor.problem, problem);
    event_spans_free(&spans);
    profile_free(small.profile);
}

static void test_damaged_lists_are_refused(void **state)
{
    (void)state;
    refuse("\x02\x00", 2, "event is not defined");
    refuse("\x01\xff\xff\xff\xff\x0f\x02\x05", 8, NULL);
    refuse("\x01", 1, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_spans_are_put_in_order_and_united),
        cmocka_unit_test(test_gaps_are_between_spans),
        cmocka_unit_test(test_many_spans_become_coarser),
        cmocka_unit_test(test_spans_of_many_events_are_bounded),
        cmocka_unit_test(test_recording_has_the_spans_that_were_added),
        cmocka_unit_test(test_joined_recording_has_the_spans_of_both),
        cmocka_unit_test(test_many_spans_are_written_in_several_chunks),
        cmocka_unit_test(test_damaged_lists_are_refused),
    };

    return cmocka_run_group_tests_name("event_spans", tests, NULL, NULL);
}
