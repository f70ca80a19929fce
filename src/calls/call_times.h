// SPDX-License-Identifier: Apache-2.0
/*
 * The times that calls of a function take. Some calls had not returned when they were seen for the
 * last time, because a window or the recording ended. What is known of such a call is that it takes
 * longer. So shares are estimated by the product-limit estimator (Kaplan and Meier, Journal of the
 * American Statistical Association 53, 1958): windows end at random times, whatever calls do.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wire_calls.h"

/* The calls of about the same time (wire_time_bucket()). */
struct call_time {
    uint32_t bucket;             /* comes first (util/sorted.h) */
    double returned, open;       /* weights */
    uint64_t calls, ns, longest; /* of those that returned: number, sum and maximum */
};

/* What the time of a call is made of, ns: as struct wire_call_split. */
struct call_split_sums {
    double running, preempted, runnable, waiting, collecting;
};
struct call_split_sums call_split_sums(const struct wire_call_split *split);

/* All zero is empty. */
struct call_times {
    struct call_time *of; /* by time */
    size_t count, room;
    uint64_t returned, open;      /* calls */
    uint64_t measured;            /* of those that returned: calls whose words are known, */
    double measured_weight;       /* their weight, */
    double words;                 /* and the sum of their words times their weights */
    uint64_t split;               /* calls of whose time the parts are known, */
    double split_weight;          /* their weight, */
    struct call_split_sums parts; /* and the sums of the parts times their weights */
    struct call_times *of_parts;  /* how long each part is, WIRE_CALL_PARTS; NULL: not known */
};

void call_times_free(struct call_times *times);

void call_times_add_returned(struct call_times *times, uint32_t bucket,
                             const struct wire_time_row *row);
/* Add calls by the length of a part of their time. */
void call_times_add_part(struct call_times *times, const struct wire_part_key *key,
                         const struct wire_part_row *row);
/* Add a call that had not returned after `ns`. */
void call_times_add_open(struct call_times *times, uint64_t ns, double weight);

/* Add all times of `other`. */
void call_times_merge(struct call_times *times, const struct call_times *other);

/* Change all weights, so that their sum is `weight`. */
void call_times_scale(struct call_times *times, double weight);

/* The shortest time of a bucket, ns. */
uint64_t call_times_low(uint32_t bucket);

/* Shares of calls that take at most so long, in percent. */
enum { CALL_TIME_SHARES = 3 };
extern const unsigned int call_time_shares[CALL_TIME_SHARES];

/* Words that a call allocates on average, of the calls whose words are known; NAN: of none. */
double call_times_words(const struct call_times *times);
/* Words of so many calls, without the part of the calls whose words are not known: all of them
 * have allocated at least that, if all were followed alike. NAN as above. */
double call_times_all_words(const struct call_times *times, uint64_t calls);

/* Set what the time of a call is made of on average, of the calls for which that is known. False if
 * there are none. */
bool call_times_split(const struct call_times *times, struct call_split_sums *mean);

/* Set how long each part is at most in a share of the calls (call_time_shares). False if calls are
 * missing, or if there are too few, as in struct call_time_summary. */
bool call_times_split_share(const struct call_times *times, int share,
                            struct call_split_sums *ret_most);

/* Times are in ns. NAN: unknown, because calls that take longer had not returned, or because there
 * are too few calls. */
struct call_time_summary {
    double mean;
    double at[CALL_TIME_SHARES]; /* of 99 %: at least 100 calls returned; of 90 %: 10; of 50 %: 2 */
    double longest;              /* of calls that returned */
    double seen;                 /* no call was followed for longer */
    bool is_cut;                 /* some calls that were followed as long had not returned */
};
struct call_time_summary call_times_summary(const struct call_times *times);
