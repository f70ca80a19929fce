// SPDX-License-Identifier: Apache-2.0
#include "small_profile.h"

#include "output/formats.h"
#include "profile/threads.h"

#define BYTES(text) (const uint8_t *)(text), sizeof(text) - 1

static int ignore(void *context, const struct sample *sample, struct error *error)
{
    (void)context;
    (void)sample;
    (void)error;
    return 0;
}

static void assert_times(int fd, const struct thread_times *expected)
{
    struct profile *profile = profile_new();
    struct error error;
    struct recording *recording = recording_open(fd, "test.bfr", &error);
    const struct thread_times *times;
    bool cut;

    assert_non_null(recording);
    assert_int_equal(recording_get_threads(recording)->count, 0);
    assert_int_equal(recording_read(recording, profile, ignore, NULL, &cut, &error), 0);
    times = recording_get_threads(recording);
    assert_int_equal(times->count, expected->count);
    for (size_t i = 0; i < times->count; i++) {
        assert_int_equal(times->list[i].thread, expected->list[i].thread);
        assert_int_equal(times->list[i].from, expected->list[i].from);
        assert_int_equal(times->list[i].to, expected->list[i].to);
        assert_int_equal(times->list[i].cpu_ns, expected->list[i].cpu_ns);
        assert_int_equal(times->list[i].wait_ns, expected->list[i].wait_ns);
        assert_int_equal(times->list[i].sampled_ns, expected->list[i].sampled_ns);
    }
    recording_close(recording);
    profile_free(profile);
}

/* Write the recording again, as `report -o x.bfr` does. */
static int copy_of(int fd)
{
    struct error error;
    struct recording *recording = recording_open(fd, "test.bfr", &error);
    struct output_settings settings = {0};
    struct output_result result;
    int copy = memory_file();
    struct output_request request = {
        .path = "copy", .format = &bfr_format, .file = fdopen(dup(copy), "w")};

    assert_int_equal(output_write(recording, &settings, &request, 1, &result, &error), 0);
    fclose(request.file);
    output_result_free(&result);
    recording_close(recording);
    lseek(copy, 0, SEEK_SET);
    return copy;
}

/* The newest times are read, also of threads without samples, and a copy has them too. */
static void test_newest_thread_times_are_read_back(void **state)
{
    struct thread_times times = {0};
    struct small_profile small;
    struct recording_writer *writer;
    struct error error;
    int fd;

    (void)state;
    small_profile_make(&small);
    writer = recording_create(NULL, "/tmp", &small_header, &error);
    thread_times_add(&times, &(struct thread_time){1, 10, 20, 3, 4, 2});
    assert_int_equal(recording_append(writer, small.profile, &small.samples[0], &error), 0);
    assert_int_equal(recording_put_threads(writer, small.profile, &times, &error), 0);
    times.list[0] = (struct thread_time){1, 10, 30, 5, UINT64_MAX, 7};
    thread_times_add(&times, &(struct thread_time){
                                 .thread = profile_thread(
                                     small.profile, &(struct thread_entry){.target = 1, .tid = 7}),
                                 .from = 5,
                                 .to = UINT64_MAX,
                             });
    assert_int_equal(recording_put_threads(writer, small.profile, &times, &error), 0);
    assert_int_equal(recording_finish(writer, small.profile, &small.totals, &fd, &error), 0);
    assert_times(dup(fd), &times);
    lseek(fd, 0, SEEK_SET);
    assert_times(copy_of(fd), &times);
    thread_times_free(&times);
    profile_free(small.profile);
}

static void test_times_that_break_a_rule_are_refused_by_name(void **state)
{
    static const struct {
        const uint8_t *bytes;
        size_t size;
        const char *problem;
    } cases[] = {
        {BYTES("\x01\x02\x00\x00\x00\x00"), "thread is not defined"},
        {BYTES("\x01\x00\x00\x00\x00\x00"), "times of no thread"},
        {BYTES("\x01\x01\x01\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01\x00\x00"),
         "time is too large"},
        {BYTES("\x02\x01\x00\x00\x00\x00"), "cut off"},
        {BYTES(""), "cut off"},
    };
    struct thread_times times = {0};
    struct small_profile small;

    (void)state;
    small_profile_make(&small);
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct cursor cursor = cursor_over(cases[i].bytes, cases[i].size);

        thread_times_decode(&times, small.profile, &cursor);
        if (!cursor.problem || !strstr(cursor.problem, cases[i].problem))
            fail_msg("\"%s\" instead of \"%s\"", cursor.problem, cases[i].problem);
    }
    thread_times_free(&times);
    profile_free(small.profile);
}

/* If there are too many threads, those that ran or waited longest are kept. They fit in a
 * recording, however large their numbers are. */
static void test_times_beyond_the_limit_are_left_out_and_counted(void **state)
{
    enum { THREADS = 60000 };
    struct thread_times times = {0};
    struct small_profile small;
    struct recording_writer *writer;
    struct error error;
    int fd;

    (void)state;
    small_profile_make(&small);
    writer = recording_create(NULL, "/tmp", &small_header, &error);
    for (uint64_t i = 0; i < THREADS; i++) {
        thread_id thread = profile_thread(
            small.profile, &(struct thread_entry){.target = 1, .tid = (uint32_t)(1000 + i)});

        thread_times_add(&times, &(struct thread_time){thread, 1, UINT64_MAX, UINT64_MAX / 2 + i,
                                                       UINT64_MAX / 4, UINT64_MAX});
    }
    assert_int_equal(thread_times_limit(&times), THREADS - THREAD_TIMES_MAX);
    assert_int_equal(times.count, THREAD_TIMES_MAX);
    assert_int_equal(times.list[0].cpu_ns, UINT64_MAX / 2 + THREADS - 1);
    for (size_t i = 1; i < times.count; i++)
        assert_true(times.list[i].cpu_ns == times.list[i - 1].cpu_ns - 1);
    assert_int_equal(thread_times_limit(&times), 0);
    assert_int_equal(recording_put_threads(writer, small.profile, &times, &error), 0);
    assert_int_equal(recording_finish(writer, small.profile, &small.totals, &fd, &error), 0);
    assert_times(fd, &times);
    thread_times_free(&times);
    profile_free(small.profile);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_newest_thread_times_are_read_back),
        cmocka_unit_test(test_times_that_break_a_rule_are_refused_by_name),
        cmocka_unit_test(test_times_beyond_the_limit_are_left_out_and_counted),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
