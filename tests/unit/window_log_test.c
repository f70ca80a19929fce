// SPDX-License-Identifier: Apache-2.0
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#include <stdint.h>

#include "budget/windows.h"

static struct window_log window_log;

static enum window_answer ask(uint64_t time, uint64_t duration, double *scale)
{
    *scale = -1;
    return window_log_scale(&window_log, time, duration, scale);
}

#define assert_scale(time, duration, expected)                                                     \
    do {                                                                                           \
        double scale;                                                                              \
        assert_int_equal(ask(time, duration, &scale), WINDOW_SCALE);                               \
        assert_true(scale == (expected));                                                          \
    } while (0)

#define assert_answer(time, expected)                                                              \
    do {                                                                                           \
        double scale;                                                                              \
        assert_int_equal(ask(time, 0, &scale), expected);                                          \
        assert_true(scale == -1);                                                                  \
    } while (0)

static void test_time_of_a_hit_gives_the_scale_of_its_window(void **state)
{
    (void)state;
    window_log = (struct window_log){0};
    assert_answer(5, WINDOW_OUTSIDE);
    /* open all of the time: scale 1, known at once */
    window_log_open(&window_log, 1000, true);
    assert_answer(999, WINDOW_OUTSIDE);
    assert_scale(1000, 0, 1);
    assert_scale(9000, 500, 1);
    window_log_close(&window_log, 10000, 9000);
    assert_scale(9999, 500, 1);
    assert_answer(10000, WINDOW_OUTSIDE);
    /* a window with a stratum ten times as long */
    window_log_open(&window_log, 20000, false);
    assert_answer(15000, WINDOW_OUTSIDE);
    assert_answer(20000, WINDOW_NOT_YET);
    assert_answer(20500, WINDOW_NOT_YET);
    assert_scale(9999, 0, 1);
    window_log_close(&window_log, 21000, 10000);
    assert_answer(19999, WINDOW_OUTSIDE);
    assert_scale(20500, 0, 10);
    assert_answer(21000, WINDOW_OUTSIDE);
    /* longer durations fit into a window less often */
    assert_scale(20500, 500, 20);
    assert_scale(20990, 900, 100);
    assert_scale(20990, 5000, 100);
}

/* The scaled number is correct for durations that the window may well cut off. */
static void test_scaled_count_of_cut_durations_is_correct(void **state)
{
    const uint64_t length = 1000, stratum = 20000, duration = 600;
    double sum = 0;

    (void)state;
    window_log = (struct window_log){0};
    window_log_open(&window_log, 5000, false);
    window_log_close(&window_log, 5000 + length, stratum);
    /* One begins at each time of the stratum; those that begin and end in the window are
     * counted. */
    for (uint64_t start = 0; start < stratum; start++) {
        double scale;

        if (start >= 5000 && start + duration < 5000 + length &&
            ask(start + duration, duration, &scale) == WINDOW_SCALE)
            sum += scale;
    }
    assert_true(sum == (double)stratum);
}

static void test_only_the_latest_windows_are_kept(void **state)
{
    (void)state;
    window_log = (struct window_log){0};
    for (uint64_t i = 0; i < 2 * WINDOW_LOG_LENGTH; i++) {
        window_log_open(&window_log, i * 100, false);
        window_log_close(&window_log, i * 100 + 10, 100);
    }
    assert_scale(WINDOW_LOG_LENGTH * 100 + 5, 0, 10);
    assert_scale((2 * WINDOW_LOG_LENGTH - 1) * 100 + 5, 0, 10);
    assert_answer((WINDOW_LOG_LENGTH - 1) * 100 + 5, WINDOW_OUTSIDE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_time_of_a_hit_gives_the_scale_of_its_window),
        cmocka_unit_test(test_scaled_count_of_cut_durations_is_correct),
        cmocka_unit_test(test_only_the_latest_windows_are_kept),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
