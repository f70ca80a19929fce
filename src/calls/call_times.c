// SPDX-License-Identifier: Apache-2.0
#include "calls/call_times.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "util/alloc.h"
#include "util/sorted.h"

const unsigned int call_time_shares[CALL_TIME_SHARES] = {50, 90, 99};

/* Rounding errors of sums of weights. */
static const double CLOSE = 1e-9;

void call_times_free(struct call_times *times)
{
    for (size_t i = 0; times->of_parts && i < WIRE_CALL_PARTS; i++)
        free(times->of_parts[i].of);
    free(times->of_parts);
    free(times->of);
    *times = (struct call_times){0};
}

/* The place of a bucket, or of the first one behind it. */
static size_t place_of(const struct call_times *times, uint32_t bucket)
{
    return sorted_place(times->of, times->count, sizeof(*times->of), bucket);
}

static struct call_time *find(struct call_times *times, uint32_t bucket)
{
    size_t at = place_of(times, bucket);

    if (at < times->count && times->of[at].bucket == bucket)
        return &times->of[at];
    times->of = xgrow(times->of, &times->room, times->count, sizeof(*times->of));
    memmove(&times->of[at + 1], &times->of[at], (times->count - at) * sizeof(*times->of));
    times->count++;
    times->of[at] = (struct call_time){.bucket = bucket};
    return &times->of[at];
}

struct call_split_sums call_split_sums(const struct wire_call_split *split)
{
    return (struct call_split_sums){
        .running = (double)split->running,
        .preempted = (double)split->preempted,
        .runnable = (double)split->runnable,
        .waiting = (double)split->waiting,
        .collecting = (double)split->collecting,
    };
}

static void add_parts(struct call_split_sums *sums, const struct call_split_sums *parts,
                      double factor)
{
    sums->running += factor * parts->running;
    sums->preempted += factor * parts->preempted;
    sums->runnable += factor * parts->runnable;
    sums->waiting += factor * parts->waiting;
    sums->collecting += factor * parts->collecting;
}

/* All calls of a row have the same weight on average. */
static void add_split(struct call_times *times, const struct wire_time_row *row)
{
    const struct call_split_sums parts = call_split_sums(&row->split);
    double weight = row->calls ? (double)row->weight / (double)row->calls : 0;

    times->split += row->split_calls;
    times->split_weight += weight * (double)row->split_calls;
    add_parts(&times->parts, &parts, weight);
}

void call_times_add_returned(struct call_times *times, uint32_t bucket,
                             const struct wire_time_row *row)
{
    struct call_time *time = find(times, bucket);

    time->returned += (double)row->weight;
    time->calls += row->calls;
    time->ns += row->ns;
    if (time->longest < row->longest)
        time->longest = row->longest;
    times->returned += row->calls;
    times->measured += row->measured;
    times->measured_weight += (double)row->measured_weight;
    times->words += (double)row->words;
    add_split(times, row);
}

static struct call_times *parts_of(struct call_times *times)
{
    if (!times->of_parts)
        times->of_parts = xcalloc(WIRE_CALL_PARTS, sizeof(*times->of_parts));
    return times->of_parts;
}

void call_times_add_part(struct call_times *times, const struct wire_part_key *key,
                         const struct wire_part_row *row)
{
    const struct wire_time_row of_part = {
        .calls = row->calls, .weight = row->weight, .ns = row->ns};

    if (key->part < WIRE_CALL_PARTS)
        call_times_add_returned(&parts_of(times)[key->part], key->time.bucket, &of_part);
}

void call_times_add_open(struct call_times *times, uint64_t ns, double weight)
{
    find(times, wire_time_bucket(ns))->open += weight;
    times->open++;
}

static void merge_buckets(struct call_times *times, const struct call_times *other)
{
    for (size_t i = 0; i < other->count; i++) {
        const struct call_time *from = &other->of[i];
        struct call_time *to = find(times, from->bucket);

        to->returned += from->returned;
        to->open += from->open;
        to->calls += from->calls;
        to->ns += from->ns;
        if (to->longest < from->longest)
            to->longest = from->longest;
    }
    times->returned += other->returned;
    times->open += other->open;
}

void call_times_merge(struct call_times *times, const struct call_times *other)
{
    merge_buckets(times, other);
    for (size_t i = 0; other->of_parts && i < WIRE_CALL_PARTS; i++)
        merge_buckets(&parts_of(times)[i], &other->of_parts[i]);
    times->measured += other->measured;
    times->measured_weight += other->measured_weight;
    times->words += other->words;
    times->split += other->split;
    times->split_weight += other->split_weight;
    add_parts(&times->parts, &other->parts, 1);
}

static double weight_of(const struct call_times *times)
{
    double sum = 0;

    for (size_t i = 0; i < times->count; i++)
        sum += times->of[i].returned + times->of[i].open;
    return sum;
}

static void multiply(struct call_times *times, double factor)
{
    for (size_t i = 0; i < times->count; i++) {
        times->of[i].returned *= factor;
        times->of[i].open *= factor;
    }
}

void call_times_scale(struct call_times *times, double weight)
{
    double sum = weight_of(times);

    if (sum > 0) {
        multiply(times, weight / sum);
        for (size_t i = 0; times->of_parts && i < WIRE_CALL_PARTS; i++)
            multiply(&times->of_parts[i], weight / sum);
        struct call_split_sums parts = times->parts;

        times->measured_weight *= weight / sum;
        times->words *= weight / sum;
        times->split_weight *= weight / sum;
        times->parts = (struct call_split_sums){0};
        add_parts(&times->parts, &parts, weight / sum);
    }
}

bool call_times_split(const struct call_times *times, struct call_split_sums *mean)
{
    if (times->split_weight <= 0)
        return false;
    *mean = (struct call_split_sums){0};
    add_parts(mean, &times->parts, 1 / times->split_weight);
    return true;
}

double call_times_words(const struct call_times *times)
{
    return times->measured_weight > 0 ? times->words / times->measured_weight : NAN;
}

double call_times_all_words(const struct call_times *times, uint64_t calls)
{
    return call_times_words(times) * (double)calls * (double)times->measured /
           (double)times->returned;
}

uint64_t call_times_low(uint32_t bucket)
{
    enum { BUCKETS = 1 << WIRE_CALL_TIME_BITS };

    if (bucket < BUCKETS)
        return bucket;
    return (uint64_t)(BUCKETS + bucket % BUCKETS) << (bucket / BUCKETS - 1);
}

/* A share of few calls is that of the longest one. */
static bool says_share(const struct call_times *times, int share)
{
    return times->returned * (100 - call_time_shares[share]) >= 100;
}

struct call_time_summary call_times_summary(const struct call_times *times)
{
    struct call_time_summary summary = {.mean = 0, .longest = NAN};
    double left = 1, at_risk = weight_of(times); /* the share of calls that take longer */
    int next = 0;

    for (size_t i = 0; i < times->count; i++) {
        const struct call_time *time = &times->of[i];
        double mean = time->calls ? (double)time->ns / (double)time->calls : 0, before = left;

        summary.seen = (double)call_times_low(time->bucket);
        if (time->calls) {
            left *= fmax(0, 1 - time->returned / at_risk);
            summary.mean += (before - left) * mean;
            summary.longest = summary.seen = (double)time->longest;
        }
        while (next < CALL_TIME_SHARES && 1 - left >= call_time_shares[next] / 100.0 - CLOSE)
            summary.at[next++] = mean;
        at_risk -= time->returned + time->open;
    }
    for (int i = 0; i < CALL_TIME_SHARES; i++)
        if (i >= next || !says_share(times, i))
            summary.at[i] = NAN;
    summary.is_cut = left > CLOSE;
    if (summary.is_cut)
        summary.mean = NAN;
    return summary;
}

bool call_times_split_share(const struct call_times *times, int share,
                            struct call_split_sums *ret_most)
{
    double most[WIRE_CALL_PARTS];

    for (size_t i = 0; i < WIRE_CALL_PARTS; i++) {
        const struct call_times *part = times->of_parts ? &times->of_parts[i] : NULL;

        if (!part || part->returned != times->split)
            return false;
        most[i] = call_times_summary(part).at[share];
        if (isnan(most[i]))
            return false;
    }
    *ret_most = (struct call_split_sums){most[0], most[1], most[2], most[3], most[4]};
    return true;
}
