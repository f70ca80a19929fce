// SPDX-License-Identifier: Apache-2.0
/* The true cost of hits, estimated from the work that the target gets done. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#include <math.h>
#include <stdint.h>

#include "budget/budget.h"

static const double UNKNOWN = 1.5; /* the factor without evidence */
static const double SPEED = 0.06;  /* work per ns */

/* Return a number in [-1, 1). */
static double noise(void)
{
    static uint64_t state = 1;

    state = state * 6364136223846793005 + 1442695040888963407;
    return (double)(state >> 11) * 0x1p-52 - 1;
}

/* Add windows of 20 ms of CPU time with intervals without hits between them. Hits are estimated to
 * take `part` of a window, and truly take `times` as much. */
static void add_windows(struct cost_factor *factor, int windows, double part, double times,
                        double error)
{
    const double window = 20e6, between = 300e6;

    for (int i = 0; i < windows; i++) {
        double cost = part * window;

        cost_factor_add(factor, window, SPEED * (1 + error * noise()) * (window - times * cost),
                        cost);
        cost_factor_add(factor, between, SPEED * (1 + error / 4 * noise()) * between, 0);
    }
}

static void test_factor_is_the_true_cost_of_hits(void **state)
{
    (void)state;
    for (double times = 1; times <= 4; times++) {
        struct cost_factor factor = {0};

        add_windows(&factor, 20, 0.2, times, 0.02);
        assert_true(fabs(cost_factor_get(&factor) / times - 1) < 0.1);
    }
}

/* The less evidence there is, the nearer the factor is to its initial value. */
static void test_little_evidence_keeps_the_factor_near_its_start(void **state)
{
    enum { TIMES = 50 };
    double clear = 0, unclear = 0;

    (void)state;
    for (int i = 0; i < TIMES; i++) {
        struct cost_factor much = {0}, little = {0};

        add_windows(&much, 20, 0.2, 3, 0.1);
        add_windows(&little, 5, 0.2, 3, 0.8);
        clear += cost_factor_get(&much) / TIMES;
        unclear += cost_factor_get(&little) / TIMES;
    }
    assert_true(clear > 2.9 && clear < 3.1);
    assert_true(unclear > UNKNOWN + 0.2 && unclear < UNKNOWN + 0.7);
}

/* There is no evidence without work, without hits, and if hits take the same part of all
 * intervals. */
static void test_factor_without_evidence_is_the_initial_one(void **state)
{
    struct cost_factor none = {0}, workless = {0}, idle = {0}, alike = {0};

    (void)state;
    for (int i = 0; i < 100; i++) {
        cost_factor_add(&workless, 20e6, 0, 1e6);
        cost_factor_add(&idle, 20e6, 1e6 * (2 + noise()), 0);
        cost_factor_add(&alike, 20e6, 1e6, 1e6);
    }
    assert_true(cost_factor_get(&none) == UNKNOWN);
    assert_true(cost_factor_get(&workless) == UNKNOWN);
    assert_true(cost_factor_get(&idle) == UNKNOWN);
    assert_true(fabs(cost_factor_get(&alike) - UNKNOWN) < 0.01);
}

/* The factor is at least 1: a smaller result means that the target worked faster in windows. */
static void test_factor_is_at_least_1(void **state)
{
    struct cost_factor factor = {0};

    (void)state;
    add_windows(&factor, 20, 0.2, 0.2, 0.02);
    assert_true(cost_factor_get(&factor) == 1);
}

/* When a load changes, the factor is learned anew within some minutes of its CPU time. */
static void test_factor_follows_a_load_that_changes(void **state)
{
    struct cost_factor factor = {0};

    (void)state;
    add_windows(&factor, 200, 0.2, 1, 0.02);
    add_windows(&factor, 1000, 0.2, 3, 0.02);
    assert_true(fabs(cost_factor_get(&factor) - 3) < 0.2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_factor_is_the_true_cost_of_hits),
        cmocka_unit_test(test_little_evidence_keeps_the_factor_near_its_start),
        cmocka_unit_test(test_factor_without_evidence_is_the_initial_one),
        cmocka_unit_test(test_factor_is_at_least_1),
        cmocka_unit_test(test_factor_follows_a_load_that_changes),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
