// SPDX-License-Identifier: Apache-2.0
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#include <string.h>

#include "output/summary/summary_text.h"

static const char *text_of(const char *clock, const struct recording_totals *totals)
{
    static char result[400];
    struct recording_header header = {.event = clock};
    struct buffer text = {0};
    bool any = cpu_account_text(&header, totals, &text);

    assert_int_equal(any, text.size > 0);
    snprintf(result, sizeof(result), "%.*s", (int)text.size, any ? (char *)text.data : "");
    buffer_free(&text);
    return result;
}

/* Nothing is reported within 2 %, or without an account. */
static void test_difference_within_2_percent_is_not_reported(void **state)
{
    struct recording_totals totals = {
        .cpu_samples = 100000, .cpu_sampled_ns = 981000000, .cpu_accounted_ns = 1000000000};

    (void)state;
    assert_string_equal(text_of("cpu-clock", &totals), "");
    totals.cpu_sampled_ns = 1019000000;
    assert_string_equal(text_of("cpu-clock", &totals), "");
    totals.cpu_accounted_ns = 0;
    assert_string_equal(text_of("cpu-clock", &totals), "");
    assert_true(cpu_account_ratio(&totals) == 0);
}

/* Beyond 2 % the ratio is reported, with the first reason that applies. */
static void test_larger_difference_is_reported_with_its_reason(void **state)
{
    struct recording_totals totals = {
        .cpu_samples = 100000, .cpu_sampled_ns = 900000000, .cpu_accounted_ns = 1000000000};

    (void)state;
    assert_string_equal(
        text_of("cpu-clock", &totals),
        "cpu-clock saw 0.900 of the 1.00 s CPU time that the kernel accounts; samples "
        "are scaled to the account (the kernel switched "
        "threads, or the hypervisor took CPUs away, when ticks were due)");
    assert_non_null(strstr(text_of("cycles", &totals), "rate of this event varies"));
    totals.cpu_samples = 350;
    assert_non_null(strstr(text_of("cycles", &totals), "chance explains it"));
    totals.losses[LOSS_RING_FULL] = 1;
    assert_non_null(strstr(text_of("cycles", &totals), "samples were lost"));
    totals.losses[LOSS_CLOCK_STOPPED] = 1;
    assert_non_null(strstr(text_of("cycles", &totals), "stopped early"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_difference_within_2_percent_is_not_reported),
        cmocka_unit_test(test_larger_difference_is_reported_with_its_reason),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
