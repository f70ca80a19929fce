// SPDX-License-Identifier: Apache-2.0
/* The time in which the recorder ran, and the time without any record. */
#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "session/session_internal.h"

#define SECOND 1000000000ull

static void assert_gap(const struct event_spans *spans, uint64_t from, uint64_t to)
{
    const struct spans *of = event_spans_get(spans, 0);

    assert_int_equal(of->count, 2);
    assert_int_equal(of->list[0].end, from);
    assert_int_equal(of->list[1].start, to);
}

static void step_until(struct presence *presence, uint64_t now, struct event_spans *spans)
{
    for (uint64_t at = presence->since + SECOND / 10; at <= now; at += SECOND / 10)
        presence_step(presence, at, spans);
}

static void test_steps_follow_each_other_without_gaps(void **state)
{
    struct presence presence;
    struct event_spans spans = {0};

    (void)state;
    presence_begin(&presence, 5 * SECOND);
    step_until(&presence, 10 * SECOND, &spans);
    presence_step(&presence, 11 * SECOND + SECOND / 2, &spans); /* a slow disk */
    assert_int_equal(spans.of[0].count, 1);
    assert_int_equal(spans.of[0].list[0].start, 5 * SECOND);
    assert_int_equal(spans.of[0].list[0].end, 11 * SECOND + SECOND / 2);
    event_spans_free(&spans);
}

/* Samples of just before and just after the gap are no samples of the gap. */
static void test_nothing_is_known_of_a_time_without_steps_and_samples(void **state)
{
    struct presence presence;
    struct event_spans spans = {0};

    (void)state;
    presence_begin(&presence, 5 * SECOND);
    step_until(&presence, 10 * SECOND, &spans);
    presence_sample(&presence, 10 * SECOND + 1000000, 25 * SECOND);
    presence_sample(&presence, 25 * SECOND - 1000000, 25 * SECOND);
    presence_step(&presence, 25 * SECOND, &spans);
    step_until(&presence, 30 * SECOND, &spans);
    event_spans_settle(&spans);
    assert_gap(&spans, 10 * SECOND, 25 * SECOND);
    event_spans_free(&spans);
}

static void test_samples_show_that_the_machine_went_on(void **state)
{
    struct presence presence;
    struct event_spans spans = {0};

    (void)state;
    presence_begin(&presence, 5 * SECOND);
    step_until(&presence, 10 * SECOND, &spans);
    presence_sample(&presence, 17 * SECOND, 25 * SECOND);
    presence_step(&presence, 25 * SECOND, &spans);
    assert_int_equal(spans.of[0].count, 1);
    presence_step(&presence, 40 * SECOND, &spans); /* those samples count once */
    step_until(&presence, 41 * SECOND, &spans);
    event_spans_settle(&spans);
    assert_gap(&spans, 25 * SECOND, 40 * SECOND);
    event_spans_free(&spans);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_steps_follow_each_other_without_gaps),
        cmocka_unit_test(test_nothing_is_known_of_a_time_without_steps_and_samples),
        cmocka_unit_test(test_samples_show_that_the_machine_went_on),
    };

    return cmocka_run_group_tests_name("presence", tests, NULL, NULL);
}
