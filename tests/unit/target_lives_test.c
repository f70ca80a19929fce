// SPDX-License-Identifier: Apache-2.0
/* Ends and stops of targets, in recordings and in outputs. */
#include "small_output.h"

#include "profile/target_lives.h"
#include "recording/recording_join.h"

#define BYTES(text) (const uint8_t *)(text), sizeof(text) - 1
#define SECOND      1000000000ull

static int ignore(void *context, const struct sample *sample, struct error *error)
{
    (void)context;
    (void)sample;
    (void)error;
    return 0;
}

/* Make a recording of the small target with this life, written twice. */
static int recording_of(uint64_t ended, uint64_t stopped_ns)
{
    struct target_lives lives = {0};
    struct small_profile small;
    struct recording_writer *writer;
    struct error error;
    int fd;

    small_profile_make(&small);
    writer = recording_create(NULL, "/tmp", &small_header, &error);
    assert_int_equal(recording_append(writer, small.profile, &small.samples[0], &error), 0);
    target_life_of(&lives, 1)->stopped_ns = stopped_ns;
    assert_int_equal(recording_put_lives(writer, small.profile, &lives, &error), 0);
    target_life_of(&lives, 1)->ended = ended;
    assert_int_equal(recording_put_lives(writer, small.profile, &lives, &error), 0);
    assert_int_equal(recording_finish(writer, small.profile, &small.totals, &fd, &error), 0);
    target_lives_free(&lives);
    profile_free(small.profile);
    return fd;
}

static void assert_life(int fd, uint64_t ended, uint64_t stopped_ns)
{
    struct profile *profile = profile_new();
    struct error error;
    struct recording *recording = recording_open(fd, "test.bfr", &error);
    const struct target_lives *lives;
    bool cut;

    assert_non_null(recording);
    assert_int_equal(recording_read(recording, profile, ignore, NULL, &cut, &error), 0);
    lives = recording_get_lives(recording);
    assert_int_equal(lives->count, 1);
    assert_int_equal(lives->list[0].target, 1);
    assert_int_equal(lives->list[0].ended, ended);
    assert_int_equal(lives->list[0].stopped_ns, stopped_ns);
    recording_close(recording);
    profile_free(profile);
}

static void test_newest_life_is_read_back(void **state)
{
    (void)state;
    assert_life(recording_of(3 * SECOND, SECOND), 3 * SECOND, SECOND);
    assert_life(
        output_file_of(recording_of(3 * SECOND, SECOND), &bfr_format, &(struct output_settings){0}),
        3 * SECOND, SECOND);
}

static void test_joined_lives_add_up(void **state)
{
    struct join_part parts[2] = {{recording_of(0, SECOND), "one"},
                                 {recording_of(3 * SECOND, 2 * SECOND), "two"}};
    struct join_options by_time = {.order = JOIN_BY_TIME};
    struct error error;
    int fd;

    (void)state;
    assert_int_equal(recording_join(parts, 2, &by_time, memory_file(), &fd, &error), 0);
    assert_life(fd, 3 * SECOND, 3 * SECOND);
}

static void assert_shows(const struct output_format *format, const char *expected)
{
    assert_output_contains(recording_of(3 * SECOND, SECOND / 2), format,
                           &(struct output_settings){0}, expected);
}

/* Times are since the start of the recording. */
static void test_outputs_say_what_kept_a_target_from_running(void **state)
{
    (void)state;
    assert_shows(&summary_format, "pid 100, OTP 27, stopped for 0.5 s, ended after 2.0 s\n");
    assert_shows(&stats_json_format, "\"stopped_ms\": 500.000, \"ended_ms\": 2000.000");
    assert_shows(&json_format, "{\"type\": \"target_life\", \"target\": 1, \"stopped_ns\": "
                               "500000000, \"ended_ns\": 2000000000}\n");
}

static void test_lives_are_in_order_of_their_targets(void **state)
{
    static const target_id ids[] = {5, 1, 9, 5, 3};
    static const target_id sorted[] = {1, 3, 5, 9};
    struct target_lives lives = {0};

    (void)state;
    assert_null(target_lives_find(&lives, 5));
    for (size_t i = 0; i < sizeof(ids) / sizeof(*ids); i++)
        target_life_of(&lives, ids[i])->stopped_ns += ids[i];
    assert_int_equal(lives.count, 4);
    for (size_t i = 0; i < lives.count; i++)
        assert_int_equal(lives.list[i].target, sorted[i]);
    assert_int_equal(target_lives_find(&lives, 5)->stopped_ns, 10);
    assert_null(target_lives_find(&lives, 4));
    target_lives_free(&lives);
}

static void test_lives_that_break_a_rule_are_refused_by_name(void **state)
{
    static const struct {
        const uint8_t *bytes;
        size_t size;
        const char *problem;
    } cases[] = {
        {BYTES("\x01\x02\x00\x00"), "target is not defined"},
        {BYTES("\x01\x00\x00\x00"), "not in their order"},
        {BYTES("\x02\x01\x00\x00\x01\x00\x00"), "more lives than targets"},
        {BYTES("\x01\x01\x00"), "cut off"},
    };
    struct target_lives lives = {0};
    struct small_profile small;

    (void)state;
    small_profile_make(&small);
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct cursor cursor = cursor_over(cases[i].bytes, cases[i].size);

        target_lives_decode(&lives, small.profile, &cursor);
        if (!cursor.problem || !strstr(cursor.problem, cases[i].problem))
            fail_msg("\"%s\" instead of \"%s\"", cursor.problem, cases[i].problem);
    }
    target_lives_free(&lives);
    profile_free(small.profile);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_newest_life_is_read_back),
        cmocka_unit_test(test_joined_lives_add_up),
        cmocka_unit_test(test_outputs_say_what_kept_a_target_from_running),
        cmocka_unit_test(test_lives_are_in_order_of_their_targets),
        cmocka_unit_test(test_lives_that_break_a_rule_are_refused_by_name),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
