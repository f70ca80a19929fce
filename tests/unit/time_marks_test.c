// SPDX-License-Identifier: Apache-2.0
/* Marks of moments: in memory, in recordings, joined, and damaged. */
#include "small_profile.h"

#include "profile/time_marks.h"
#include "recording/recording_join.h"

static const char HOSTILE[] = "</script><b>\"\\';\xe2\x80\xae";

static void put(struct recording_writer *writer, struct profile *profile, struct time_marks *marks,
                uint64_t time, const char *label)
{
    struct error error;

    time_marks_add(marks, &(struct time_mark){time, profile_string_z(profile, label)});
    assert_int_equal(recording_put_marks(writer, profile, marks, &error), 0);
    time_marks_clear(marks);
}

/* Write a recording of the small profile with two marks, in two parts. `shift` is added to its
 * times. */
static int recording_with_marks(uint64_t shift, const char *first, const char *second)
{
    struct recording_header header = small_header;
    struct recording_writer *writer;
    struct small_profile small;
    struct time_marks marks = {0};
    struct error error;
    int fd = -1;

    small_profile_make(&small);
    header.start_monotonic += shift;
    header.start_realtime += shift;
    small.totals.end_monotonic += shift;
    writer = recording_create(NULL, "/tmp", &header, &error);
    put(writer, small.profile, &marks, 1500000000 + shift, first);
    put(writer, small.profile, &marks, 1700000000 + shift, second);
    time_marks_free(&marks);
    assert_int_equal(recording_finish(writer, small.profile, &small.totals, &fd, &error), 0);
    profile_free(small.profile);
    return fd;
}

static void assert_mark(const struct recording *recording, const struct profile *profile, size_t i,
                        uint64_t time, const char *label)
{
    const struct time_marks *marks = recording_get_marks(recording);

    assert_true(i < marks->count);
    assert_int_equal(marks->list[i].time, time);
    assert_string_equal(profile_text(profile, marks->list[i].label), label);
}

static struct recording *read_all(int fd, struct profile *profile)
{
    struct error error;
    struct recording *recording = recording_open(fd, "test", &error);
    struct sample sample;
    bool cut;

    assert_non_null(recording);
    if (recording_next(recording, profile, &sample, &cut, &error) < 0)
        fail_msg("%s", error.text);
    return recording;
}

static void test_marks_are_in_order_of_time(void **state)
{
    struct time_marks marks = {0};

    (void)state;
    for (uint64_t i = 0; i < TIME_MARKS_MAX + 10; i++)
        time_marks_add(&marks, &(struct time_mark){i * 7919 % TIME_MARKS_MAX, 1});
    assert_int_equal(marks.count, TIME_MARKS_MAX);
    for (size_t i = 1; i < marks.count; i++)
        assert_true(marks.list[i - 1].time <= marks.list[i].time);
    time_marks_free(&marks);
}

/* Characters that change a terminal are not in a label, whatever a file says. */
static void test_recording_has_the_marks_that_were_added(void **state)
{
    struct profile *profile = profile_new();
    struct recording *recording = read_all(recording_with_marks(0, "deploy", HOSTILE), profile);

    (void)state;
    assert_int_equal(recording_get_marks(recording)->count, 2);
    assert_mark(recording, profile, 0, 1500000000, "deploy");
    assert_mark(recording, profile, 1, 1700000000, "</script><b>\"\\';\xef\xbf\xbd");
    recording_close(recording);
    profile_free(profile);
}

static void test_joined_recording_has_the_marks_of_both(void **state)
{
    const struct join_part parts[] = {{recording_with_marks(2700000000, "c", "d"), "two"},
                                      {recording_with_marks(0, "a", "b"), "one"}};
    struct profile *profile = profile_new();
    struct recording *recording;
    struct error error;
    int fd, file = memory_file();

    (void)state;
    if (recording_join(parts, 2, &(struct join_options){.order = JOIN_BY_TIME}, file, &fd, &error))
        fail_msg("%s", error.text);
    recording = read_all(fd, profile);
    assert_int_equal(recording_get_marks(recording)->count, 4);
    assert_mark(recording, profile, 0, 1500000000, "a");
    assert_mark(recording, profile, 1, 1700000000, "b");
    assert_mark(recording, profile, 2, 4200000000, "c");
    assert_mark(recording, profile, 3, 4400000000, "d");
    recording_close(recording);
    profile_free(profile);
}

static void refuse(const void *bytes, size_t size, const char *problem)
{
    struct cursor cursor = cursor_over(bytes, size);
    struct time_marks marks = {0};
    struct id_map strings = {0};

    id_map_add(&strings, 1);
    time_marks_decode(&marks, &strings, &cursor);
    assert_string_equal(cursor.problem, problem);
    time_marks_free(&marks);
    id_map_free(&strings);
}

static void test_damaged_marks_are_refused(void **state)
{
    (void)state;
    refuse("\x01\x05\x02", 3, "string is not defined");
    refuse("\x81\x20", 2, "more marks than a recording has");
    refuse("\x02\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01\x01\x01\x01", 14, "time is too large");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_marks_are_in_order_of_time),
        cmocka_unit_test(test_recording_has_the_marks_that_were_added),
        cmocka_unit_test(test_joined_recording_has_the_marks_of_both),
        cmocka_unit_test(test_damaged_marks_are_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
