// SPDX-License-Identifier: Apache-2.0
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "budget/windows.h"
#include "profile/row_interval.h"
#include "util/alloc.h"
#include "util/confidence.h"

enum { ROWS = 5, RUNS = 300, CELLS = 4000, STRATUM = 20, CELL_NS = 5000000 };

/* A load: the rate of hits of each row in a cell of 5 ms, and how it varies. */
struct load {
    double rates[ROWS];
    int burst;        /* cells for which a row is busy or at rest; 0: steady */
    bool together;    /* all rows are busy at the same time */
    int chosen_of;    /* one of so many hits gets a sample */
    bool has_sizes;   /* values of hits differ, up to 100 times */
    bool all_covered; /* one window that never ends */
    bool is_selected; /* only row 0 is looked at */
};

struct taken {
    int row;
    uint64_t time;
    double value;
};

struct run {
    const struct load *load;
    uint64_t seed, random;
    struct row_whole whole;
    struct row_sum rows[ROWS];
    double truth[ROWS];
    struct estimate estimate;
    uint64_t hits;
    struct taken *taken;
    size_t samples, room;
};

static double uniform(uint64_t *random)
{
    uint64_t mixed = *random += 0x9e3779b97f4a7c15; /* splitmix64 */

    mixed = (mixed ^ mixed >> 30) * 0xbf58476d1ce4e5b9;
    mixed = (mixed ^ mixed >> 27) * 0x94d049bb133111eb;
    return (double)((mixed ^ mixed >> 31) >> 11) * 0x1p-53;
}

static int poisson(double mean, uint64_t *random)
{
    double limit = exp(-mean), product = uniform(random);
    int count = 0;

    for (; product > limit; count++)
        product *= uniform(random);
    return count;
}

/* The rate of a row: in a burst, or between bursts. */
static double rate_of(const struct run *run, int row, int cell)
{
    const struct load *load = run->load;
    uint64_t state;

    if (!load->burst)
        return load->rates[row];
    state =
        run->seed + (uint64_t)(cell / load->burst) * 1000 + (load->together ? 0 : (uint64_t)row);
    return uniform(&state) < 0.3 ? load->rates[row] * 3 : load->rates[row] * 0.1;
}

static void take_sample(struct run *run, int row, int cell, double value)
{
    run->taken = xgrow(run->taken, &run->room, run->samples, sizeof(*run->taken));
    run->taken[run->samples++] = (struct taken){row, (uint64_t)cell * CELL_NS, value};
}

/* Add the samples, which add up to the total as those of a recording do. */
static void add_samples(struct run *run, double total)
{
    double sum = 0;

    for (size_t i = 0; i < run->samples; i++)
        sum += run->taken[i].value;
    for (size_t i = 0; i < run->samples; i++) {
        const struct taken *taken = &run->taken[i];
        const struct sample sample = {.time = taken->time,
                                      .values = {(uint64_t)(taken->value * total / sum)}};
        struct row_part part;

        if (run->load->is_selected && taken->row)
            continue;
        part = row_interval_add_whole(&run->whole, &sample, 0);
        row_interval_add(&run->rows[taken->row], &run->whole, &part);
    }
    free(run->taken);
}

/* Run the load, and look at one cell of each stratum. */
static void go(struct run *run)
{
    const struct load *load = run->load;
    double scale = load->all_covered ? 1 : STRATUM;
    int seen = 0;
    double value_seen = 0, hits_seen = 0;

    for (int cell = 0; cell < CELLS; cell++) {
        bool is_seen;

        if (cell % STRATUM == 0)
            seen = cell + (int)(uniform(&run->random) * STRATUM);
        is_seen = load->all_covered || cell == seen;
        for (int row = 0; row < ROWS; row++) {
            int count = poisson(rate_of(run, row, cell), &run->random);

            for (int i = 0; i < count; i++) {
                double value = load->has_sizes ? 10 * pow(100, uniform(&run->random)) : 100;

                run->truth[row] += value;
                if (!is_seen)
                    continue;
                value_seen += value;
                hits_seen++;
                if (uniform(&run->random) * load->chosen_of < 1)
                    take_sample(run, row, cell, value * scale * load->chosen_of);
            }
        }
        if (is_seen) {
            estimate_add(&run->estimate, (struct estimate_span){CELL_NS, 0}, CELL_NS * scale,
                         value_seen, hits_seen);
            run->hits += (uint64_t)hits_seen;
            value_seen = hits_seen = 0;
        }
    }
}

struct check {
    int shown, held, folded;
    double width, apart;
};

/* Run a load many times, and compare its rows with the truth. */
static void check_load(const struct load *load, struct check checks[ROWS])
{
    memset(checks, 0, ROWS * sizeof(*checks));
    for (int i = 0; i < RUNS; i++) {
        struct run run = {.load = load};
        const struct estimate_span all = {(double)CELLS * CELL_NS, 0};
        struct event_summary summary = {.event = 1, .span_ns = (uint64_t)CELLS * CELL_NS};
        struct row_cover cover;

        run.seed = run.random = (uint64_t)(i + 1) * 0x100000001b3;
        go(&run);
        summary.hits = run.hits;
        summary.windows = run.estimate.windows;
        summary.covered_ns = (uint64_t)run.estimate.seen_ns;
        summary.sums[0] = (uint64_t)estimate_total(&run.estimate, all);
        add_samples(&run, (double)summary.sums[0]);
        summary.errors[0] = (uint64_t)(estimate_error(&run.estimate, all) / 1.96);
        cover = row_interval_cover(&run.whole, &summary, 0, load->is_selected);
        for (int row = 0; row < (load->is_selected ? 1 : ROWS); row++) {
            struct row_sum *sum = &run.rows[row];
            double half = row_interval_half(sum, &run.whole, &cover), value = (double)sum->value;

            if (row_interval_is_chance(sum, &cover, half) || !sum->samples) {
                checks[row].folded++;
                continue;
            }
            checks[row].shown++;
            checks[row].held += fabs(value - run.truth[row]) <= half;
            checks[row].width += half / value;
            checks[row].apart += fabs(value / run.truth[row] - 1);
        }
        row_interval_free_whole(&run.whole);
    }
}

/* The share of rows whose interval holds the truth. */
static double held(const struct check *check)
{
    return check->shown ? (double)check->held / check->shown : 1;
}

/* Check all rows of a load; the first one is never folded, and its interval is at most `width`
 * times its average error. */
static void assert_sound(const struct load *load, double width)
{
    struct check checks[ROWS];

    check_load(load, checks);
    for (int row = 0; row < (load->is_selected ? 1 : ROWS); row++)
        if (held(&checks[row]) < (checks[row].shown > 20 ? 0.9 : 0))
            fail_msg("row %d: %d of %d intervals hold the truth", row, checks[row].held,
                     checks[row].shown);
    assert_int_equal(checks[0].folded, 0);
    if (width > 0 && checks[0].width > width * checks[0].apart)
        fail_msg("width %g, error %g", checks[0].width / checks[0].shown,
                 checks[0].apart / checks[0].shown);
}

/* The mean of |x| is 0.8 standard errors of a normal distribution: a perfect interval is 2.45 times
 * as wide. */
static void test_intervals_of_steady_rows_hold_the_truth(void **state)
{
    (void)state;
    assert_sound(&(struct load){.rates = {2, 1, 0.3, 0.1, 0.02}, .chosen_of = 1}, 3.5);
    assert_sound(&(struct load){.rates = {4, 2, 1, 0.5, 0.02}, .chosen_of = 4}, 3.5);
    assert_sound(&(struct load){.rates = {2, 1, 0.3, 0.1, 0.02}, .chosen_of = 1, .has_sizes = true},
                 3.5);
}

/* Windows of one burst are alike, which makes the intervals wider than they need to be. */
static void test_intervals_of_rows_with_bursts_hold_the_truth(void **state)
{
    (void)state;
    assert_sound(&(struct load){.rates = {4, 2, 1, 0.3, 0.02}, .chosen_of = 1, .burst = 100}, 9);
    assert_sound(&(struct load){.rates = {4, 2, 1, 0.3, 0.02}, .chosen_of = 1, .burst = 10}, 9);
    assert_sound(&(struct load){.rates = {4, 2, 1, 0.3, 0.02},
                                .chosen_of = 1,
                                .burst = 40,
                                .together = true,
                                .has_sizes = true},
                 9);
}

/* All hits are seen, and some of them get a sample. */
static void test_intervals_hold_the_truth_where_all_time_is_covered(void **state)
{
    (void)state;
    assert_sound(
        &(struct load){.rates = {2, 1, 0.3, 0.1, 0.02}, .chosen_of = 20, .all_covered = true}, 3.5);
    assert_sound(
        &(struct load){
            .rates = {2, 1, 0.3, 0.1, 0.02}, .chosen_of = 20, .burst = 40, .all_covered = true},
        3.5);
}

static void test_interval_of_a_selected_row_holds_the_truth(void **state)
{
    (void)state;
    assert_sound(&(struct load){.rates = {1, 2, 2, 2, 2}, .chosen_of = 1, .is_selected = true}, 8);
    assert_sound(
        &(struct load){.rates = {1, 2, 2, 2, 2}, .chosen_of = 1, .burst = 40, .is_selected = true},
        8);
}

/* Rows that are seen a few times are folded, and rows of many samples in one window too. */
static void test_rows_of_few_samples_or_windows_are_chance(void **state)
{
    struct check checks[ROWS];
    struct row_whole whole = {0};
    struct row_sum once = {0}, often = {0};
    struct event_summary summary = {.event = 1,
                                    .hits = 1000,
                                    .span_ns = 10000000000,
                                    .covered_ns = 100000000,
                                    .windows = 40,
                                    .sums = {1000000},
                                    .errors = {30000}};
    struct row_cover cover;

    (void)state;
    check_load(&(struct load){.rates = {2, 1, 0.3, 0.1, 0.015}, .chosen_of = 1}, checks);
    assert_in_range(checks[4].folded, RUNS * 9 / 10, RUNS);
    assert_in_range(checks[3].folded, 0, RUNS / 10);
    for (uint64_t i = 0; i < 1000; i++) {
        const struct sample sample = {.time = i * 10000000, .values = {1000}};
        struct row_part part = row_interval_add_whole(&whole, &sample, 0);

        row_interval_add(i < 20 ? &once : &often, &whole, &part);
    }
    cover = row_interval_cover(&whole, &summary, 0, false);
    assert_true(row_interval_is_chance(&once, &cover, row_interval_half(&once, &whole, &cover)));
    assert_false(row_interval_is_chance(&often, &cover, row_interval_half(&often, &whole, &cover)));
    row_interval_free_whole(&whole);
}

/* An exact sample is of a time in which probes were attached all of the time. Where the rest has
 * windows, a row with exact samples alone may have other hits. */
static void test_exact_samples_beside_windows_are_not_sure(void **state)
{
    struct row_whole whole = {0};
    struct row_sum rare = {0}, many = {0}, windowed = {0};
    struct event_summary summary = {.event = 1,
                                    .hits = 200,
                                    .span_ns = 10000000000,
                                    .covered_ns = 1000000000,
                                    .windows = 40,
                                    .sums = {40000},
                                    .errors = {3000}};
    struct row_cover cover;

    (void)state;
    for (uint64_t i = 0; i < 500; i++) {
        const struct sample exact = {.time = i, .values = {i < 10 ? 1 : 10}, .flags = SAMPLE_EXACT};
        const struct sample sampled = {.time = i * 20000000, .values = {400}};
        struct row_part part = row_interval_add_whole(&whole, i < 400 ? &exact : &sampled, 0);

        row_interval_add(i < 10 ? &rare : i < 400 ? &many : &windowed, &whole, &part);
    }
    cover = row_interval_cover(&whole, &summary, 0, false);
    assert_true(fabs(row_interval_half(&rare, &whole, &cover) - 3.69 * 400) < 20);
    assert_true(row_interval_is_chance(&rare, &cover, row_interval_half(&rare, &whole, &cover)));
    assert_false(row_interval_is_chance(&many, &cover, row_interval_half(&many, &whole, &cover)));
    row_interval_free_whole(&whole);
}

/* Samples of all hits are exact; without a summary, or with an unknown total, nothing is known. */
static void test_exact_and_unknown_rows_are_told_apart(void **state)
{
    struct row_whole whole = {0};
    struct row_sum exact = {0}, sampled = {0};
    struct event_summary summary = {
        .event = 1, .hits = 2, .span_ns = 1000, .covered_ns = 1000, .sums = {10}};
    struct row_cover cover;
    struct row_part part;

    (void)state;
    part =
        row_interval_add_whole(&whole, &(struct sample){.values = {4}, .flags = SAMPLE_EXACT}, 0);
    row_interval_add(&exact, &whole, &part);
    cover = row_interval_cover(&whole, &summary, 0, false);
    assert_true(row_interval_half(&exact, &whole, &cover) == 0);
    assert_false(row_interval_is_chance(&exact, &cover, 0));
    part = row_interval_add_whole(&whole, &(struct sample){.values = {6}}, 0);
    row_interval_add(&sampled, &whole, &part);
    summary.errors[0] = EVENT_ERROR_UNKNOWN;
    summary.windows = 2;
    cover = row_interval_cover(&whole, &summary, 0, false);
    assert_true(isnan(row_interval_half(&sampled, &whole, &cover)));
    assert_true(row_interval_is_chance(&sampled, &cover, NAN));
    cover = row_interval_cover(&whole, NULL, 0, false);
    assert_true(isnan(row_interval_half(&exact, &whole, &cover)));
    assert_false(row_interval_is_chance(&sampled, &cover, NAN));
    row_interval_free_whole(&whole);
}

/* If the windows saw nothing that was sampled, a row has its share of the error of the total. The
 * error of a selection is not known. */
static void test_exact_samples_alone_have_the_error_of_the_total(void **state)
{
    const struct event_summary summary = {.event = 1,
                                          .hits = 10,
                                          .span_ns = 10000000000,
                                          .covered_ns = 80000000,
                                          .windows = 8,
                                          .sums = {1000},
                                          .errors = {100}};
    struct row_whole whole = {0};
    struct row_sum row = {0};
    struct row_cover cover;

    (void)state;
    for (int i = 0; i < 10; i++) {
        struct row_part part = row_interval_add_whole(
            &whole, &(struct sample){.values = {100}, .flags = SAMPLE_EXACT}, 0);

        if (i < 4)
            row_interval_add(&row, &whole, &part);
    }
    cover = row_interval_cover(&whole, &summary, 0, false);
    assert_true(fabs(row_interval_half(&row, &whole, &cover) - 0.4 * 196) < 0.1);
    cover = row_interval_cover(&whole, &summary, 0, true);
    assert_true(isnan(row_interval_half(&row, &whole, &cover)));
    row_interval_free_whole(&whole);
}

/* The two parts of one hit are one sample, with the sum of both. */
static void test_parts_of_a_hit_count_as_one_sample(void **state)
{
    const struct sample parts[] = {
        {.time = 5, .process = 1, .thread = 1, .event = 1, .values = {30}},
        {.time = 5, .process = 1, .thread = 1, .event = 1, .values = {10}},
        {.time = 5, .process = 2, .thread = 1, .event = 1, .values = {7}},
        {.time = 6, .process = 2, .thread = 1, .event = 1, .values = {0}},
        {.time = 6, .process = 2, .thread = 1, .event = 1, .values = {2}},
        {.time = 7, .values = {1}},
        {.time = 7, .values = {1}},
    };
    struct row_whole whole = {.has_parts = true};
    struct row_sum rows[2] = {{0}};

    (void)state;
    for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++) {
        struct row_part part = row_interval_add_whole(&whole, &parts[i], 0);

        row_interval_add(&rows[i < 2 ? 0 : 1], &whole, &part);
    }
    assert_int_equal(whole.sum.samples, 5);
    assert_true(whole.sum.chance == 40 * 40 + 7 * 7 + 2 * 2 + 1 + 1);
    assert_int_equal(rows[0].samples, 1);
    assert_true(rows[0].chance == 40 * 40);
    assert_int_equal(rows[1].samples, 4);
    assert_int_equal(rows[1].value, 11);
    row_interval_free_whole(&whole);
}

/* ---- sweeps ---- */

enum { PROCESSES = 1000, STATES = 4, SWEEPS = 80, SWEEP_NS = 50000000 };

/* Sweeps over processes of which each has a state, `per_mille` of them each. A sweep reads `read`
 * of them, chosen without replacement. If `changes`, each process has a new state at each sweep. */
struct swept {
    int per_mille[STATES];
    int read;
    bool changes, is_selected;
};

/* Choose processes of a sweep, and add them to the rows of their states. */
static void sweep(const struct swept *swept, int number, struct row_whole *whole,
                  struct row_sum rows[STATES], uint64_t *random)
{
    int left = swept->read;

    for (int process = 0; process < PROCESSES; process++) {
        struct sample sample = {.time = (uint64_t)number * SWEEP_NS,
                                .process = (process_id)process + 1,
                                .values = {(uint64_t)SWEEP_NS * PROCESSES / (uint64_t)swept->read}};
        int place = swept->changes ? (int)(uniform(random) * PROCESSES) : process, state = 0;
        struct row_part part;

        if (uniform(random) * (PROCESSES - process) >= left)
            continue;
        left--;
        for (; place >= swept->per_mille[state]; state++)
            place -= swept->per_mille[state];
        if (swept->is_selected && state)
            continue;
        part = row_interval_add_whole(whole, &sample, 0);
        row_interval_add(&rows[state], whole, &part);
    }
}

/* Return the average half of the first state's interval, as a part of the truth. At least 90 % of
 * the intervals hold the truth. */
static double check_sweeps(const struct swept *swept)
{
    int held[STATES] = {0}, shown[STATES] = {0};
    double width = 0;
    uint64_t random = 17;

    for (int run = 0; run < RUNS; run++) {
        const struct event_summary summary = {.event = 1,
                                              .span_ns = (uint64_t)SWEEPS * SWEEP_NS,
                                              .covered_ns = (uint64_t)SWEEPS * SWEEP_NS /
                                                            PROCESSES * (uint64_t)swept->read};
        struct row_whole whole = {0};
        struct row_sum rows[STATES] = {{0}};
        struct row_cover cover;

        for (int number = 0; number < SWEEPS; number++)
            sweep(swept, number, &whole, rows, &random);
        cover = row_interval_cover_of_sweeps(&whole, &summary, 0, swept->is_selected);
        for (int state = 0; state < (swept->is_selected ? 1 : STATES); state++) {
            double truth = (double)SWEEPS * SWEEP_NS * swept->per_mille[state];
            double half = row_interval_half(&rows[state], &whole, &cover);

            if (row_interval_is_chance(&rows[state], &cover, half))
                continue;
            shown[state]++;
            held[state] += fabs((double)rows[state].value - truth) <= half;
            width += state ? 0 : half / truth;
        }
        row_interval_free_whole(&whole);
    }
    assert_int_equal(shown[0], RUNS);
    for (int state = 0; state < STATES; state++)
        if (held[state] < 0.9 * shown[state])
            fail_msg("state %d: %d of %d intervals hold the truth", state, held[state],
                     shown[state]);
    return width / RUNS;
}

/* A sweep of a tenth: 400 of 8,000 readings are in the state, so its share is known within 2
 * sqrt(0.95 / 400), a tenth. Half of the processes: the same with 2,000 readings, times sqrt(0.5).
 */
static void test_intervals_of_sweeps_hold_the_truth(void **state)
{
    double tenth, half, all, selected;

    (void)state;
    tenth = check_sweeps(&(struct swept){.per_mille = {50, 150, 795, 5}, .read = 100});
    half = check_sweeps(&(struct swept){.per_mille = {50, 150, 795, 5}, .read = 500});
    all = check_sweeps(&(struct swept){.per_mille = {50, 150, 795, 5}, .read = PROCESSES});
    check_sweeps(&(struct swept){.per_mille = {50, 150, 795, 5}, .read = 100, .changes = true});
    selected = check_sweeps(
        &(struct swept){.per_mille = {50, 150, 795, 5}, .read = 100, .is_selected = true});
    assert_true(tenth > 0.09 && tenth < 0.16);
    assert_true(half > 0.02 && half < 0.05);
    assert_true(selected > 0.09 && selected < 0.17);
    /* Each process was read: what remains is the rule of three, of 80 * 50 readings. */
    assert_true(fabs(all - 3.69 / 4000) < 1e-4);
}

/* A row of 100 ticks is known within the limits of a count of 100, one of 3 may be chance. */
static void test_ticks_are_counts_at_random(void **state)
{
    const struct row_cover cover = row_interval_cover_of_ticks(true);
    const struct row_cover of_all = row_interval_cover_of_ticks(false);
    struct row_whole whole = {.has_parts = false};
    struct row_sum rows[2] = {{0}};

    (void)state;
    for (unsigned i = 0; i < 103; i++) {
        const struct sample tick = {.time = 10000000 * i, .values = {10}};
        struct row_part part = row_interval_add_whole(&whole, &tick, 0);

        row_interval_add(&rows[i >= 100], &whole, &part);
    }
    assert_true(fabs(row_interval_half(&rows[0], &whole, &cover) -
                     10 * confidence_poisson_half(100)) < 1e-6);
    assert_false(row_interval_is_chance(&rows[0], &cover, row_interval_half(rows, &whole, &cover)));
    assert_true(
        row_interval_is_chance(&rows[1], &cover, row_interval_half(&rows[1], &whole, &cover)));
    assert_true(row_interval_half(&whole.sum, &whole, &cover) > 0);
    assert_true(row_interval_half(&whole.sum, &whole, &of_all) == 0); /* the kernel's account */
    assert_true(row_interval_half(&rows[0], &whole, &of_all) <
                row_interval_half(&rows[0], &whole, &cover));
    row_interval_free_whole(&whole);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_intervals_of_steady_rows_hold_the_truth),
        cmocka_unit_test(test_intervals_of_rows_with_bursts_hold_the_truth),
        cmocka_unit_test(test_intervals_hold_the_truth_where_all_time_is_covered),
        cmocka_unit_test(test_interval_of_a_selected_row_holds_the_truth),
        cmocka_unit_test(test_rows_of_few_samples_or_windows_are_chance),
        cmocka_unit_test(test_exact_samples_beside_windows_are_not_sure),
        cmocka_unit_test(test_exact_and_unknown_rows_are_told_apart),
        cmocka_unit_test(test_exact_samples_alone_have_the_error_of_the_total),
        cmocka_unit_test(test_parts_of_a_hit_count_as_one_sample),
        cmocka_unit_test(test_intervals_of_sweeps_hold_the_truth),
        cmocka_unit_test(test_ticks_are_counts_at_random),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
