// SPDX-License-Identifier: Apache-2.0
#include "profile/row_interval.h"

#include <math.h>
#include <stdlib.h>

#include "profile/events.h"
#include "util/alloc.h"
#include "util/confidence.h"
#include "util/number.h"

enum { SAMPLES_MIN = 5, WINDOWS_MIN = 3 };

uint64_t row_interval_window_at(uint64_t time)
{
    return time / ROW_WINDOW_NS + 1;
}

void row_interval_free_whole(struct row_whole *whole)
{
    free(whole->windows);
    *whole = (struct row_whole){0};
}

bool row_interval_have_one_hit(const struct sample *last, const struct sample *sample)
{
    return sample->process && sample->process == last->process && sample->time == last->time &&
           sample->thread == last->thread;
}

bool row_interval_continues_hit(struct sample *last, const struct profile *profile,
                                const struct sample *sample)
{
    bool is_part;

    if (!event_is_sched(profile, sample->event))
        return false;
    is_part = row_interval_have_one_hit(last, sample);
    *last = *sample;
    return is_part;
}

bool row_interval_has_hit(const struct row_whole *whole, const struct sample *sample)
{
    return whole->has_parts && row_interval_have_one_hit(&whole->last, sample);
}

static void begin_window(struct row_whole *whole, uint64_t time)
{
    uint64_t span = row_interval_window_at(time);

    if (span == whole->span)
        return;
    whole->span = span;
    whole->count++;
    whole->windows = xgrow(whole->windows, &whole->room, whole->count, sizeof(*whole->windows));
    whole->windows[whole->count] = 0;
}

struct row_part row_interval_add_whole(struct row_whole *whole, const struct sample *sample,
                                       uint32_t value)
{
    struct row_part part = {.value = sample->values[value]};

    begin_window(whole, sample->time);
    whole->hits += !row_interval_has_hit(whole, sample);
    if (whole->has_parts)
        whole->last = *sample;
    part.hit = whole->hits;
    part.window = whole->count;
    part.samples = part.value > 0;
    if (!(sample->flags & SAMPLE_EXACT)) {
        part.sampled = (double)part.value;
        part.chance = part.sampled * part.sampled;
    }
    whole->active += whole->windows[part.window] == 0 && part.sampled > 0;
    whole->windows[part.window] += part.sampled;
    row_interval_add(&whole->sum, whole, &part);
    return part;
}

void row_interval_add(struct row_sum *row, const struct row_whole *whole,
                      const struct row_part *part)
{
    if (row->window != part->window) {
        row->squares += row->open * row->open;
        row->with_whole += row->window ? row->open * whole->windows[row->window] : 0;
        row->window = part->window;
        row->open = 0;
    }
    row->open += part->sampled;
    row->value = saturating_sum(row->value, part->value);
    row->sampled += part->sampled;
    row->samples += (uint64_t)part->samples;
    row->chance += part->chance;
    if (!part->hit || !part->samples)
        return;
    if (row->hit == part->hit) {
        row->samples--;
        row->chance += 2 * row->of_hit * part->sampled;
    }
    row->of_hit = (row->hit == part->hit ? row->of_hit : 0) + part->sampled;
    row->hit = part->hit;
}

/* The square of a sum is larger than the sum of the squares. */
struct row_part row_interval_in_common(const struct row_part *first, const struct row_part *second)
{
    return (struct row_part){.window = second->window,
                             .samples = first->samples && second->samples ? -1 : 0,
                             .chance = 2 * first->sampled * second->sampled};
}

static double squares_of(const struct row_sum *row)
{
    return row->squares + row->open * row->open;
}

static double between_0_and_1(double share)
{
    return fmin(fmax(share, 0), 1);
}

/* Exact samples come from the time in which the probes were always attached. The windows are in the
 * rest of the time. */
struct row_cover row_interval_cover(const struct row_whole *whole,
                                    const struct event_summary *summary, uint32_t value,
                                    bool is_selected)
{
    const struct row_sum *sum = &whole->sum;
    struct row_cover cover = {.is_selected = is_selected, .squares = squares_of(sum)};
    double exact, covered, chosen;

    if (!summary || !summary->span_ns)
        return cover;
    exact = sum->value ? 1 - sum->sampled / (double)sum->value : 0;
    covered = (double)summary->covered_ns / (double)summary->span_ns;
    covered = between_0_and_1(exact < 1 ? (covered - exact) / (1 - exact) : covered);
    chosen = summary->hits ? fmin((double)sum->samples / (double)summary->hits, 1) : 1;
    cover.is_known = true;
    cover.has_windows = summary->windows > 0;
    cover.unseen = cover.has_windows ? 1 - covered : 0;
    cover.unsampled = cover.has_windows ? 1 - covered * chosen : 1;
    cover.half = event_summary_half(summary, value);
    return cover;
}

/* A process can be in another state between any two sweeps, so at least the rule of three holds,
 * with the limits of both sides. */
struct row_cover row_interval_cover_of_sweeps(const struct row_whole *whole,
                                              const struct event_summary *summary, uint32_t value,
                                              bool is_selected)
{
    const struct row_sum *sum = &whole->sum;
    struct row_cover cover = {.is_selected = is_selected, .squares = squares_of(sum)};

    if (!summary || !summary->span_ns || sum->sampled <= 0)
        return cover;
    cover.is_known = true;
    cover.has_windows = true;
    cover.unseen = 1;
    cover.unsampled = 1 - between_0_and_1((double)summary->covered_ns / (double)summary->span_ns);
    cover.half = event_summary_half(summary, value);
    cover.least = confidence_poisson_half(0) * sum->chance / sum->sampled;
    cover.windows = (double)summary->span_ns / (double)ROW_WINDOW_NS;
    return cover;
}

struct row_cover row_interval_cover_of_ticks(bool is_selected)
{
    return (struct row_cover){.is_known = true, .is_selected = is_selected, .unsampled = 1};
}

/* The variance of the row's share of the whole, between windows and by chance, in the row's unit.
 * For a selection it is the variance of the sum, because the whole is unknown. It is taken about
 * the mean if the number of windows without the row is known. */
static double variance(const struct row_sum *row, const struct row_whole *whole,
                       const struct row_cover *cover)
{
    double n = whole->active, with_whole = row->with_whole, windows = squares_of(row);
    double share = row->sampled / whole->sum.sampled, chance = row->chance;

    with_whole += row->window ? row->open * whole->windows[row->window] : 0;
    if (!cover->is_selected) {
        windows += share * (share * cover->squares - 2 * with_whole);
        chance += share * (share * whole->sum.chance - 2 * row->chance);
    } else if (cover->windows > 0) {
        windows -= row->sampled * row->sampled / cover->windows;
    }
    windows = cover->has_windows ? fmax(windows, 0) * cover->unseen * n / (n - 1) : 0;
    return fmax(windows, fmax(chance, 0) * cover->unsampled);
}

/* Half of the interval of a row without samples of windows: its hits were seen while the probes
 * were attached all of the time, and windows may have missed others. */
static double half_of_unseen(const struct row_sum *row, const struct row_whole *whole,
                             const struct row_cover *cover)
{
    const struct row_sum *sum = &whole->sum;

    if (!cover->has_windows || cover->unseen <= 0)
        return 0;
    if (sum->sampled <= 0 && cover->is_selected)
        return NAN; /* the selection's part of the event's error is not known */
    if (sum->sampled <= 0)
        return sum->value ? cover->half * (double)row->value / (double)sum->value : 0;
    return confidence_poisson_half(0) * sum->chance / sum->sampled;
}

double row_interval_half(const struct row_sum *row, const struct row_whole *whole,
                         const struct row_cover *cover)
{
    double sum, own = 0, total = 0, half;

    if (!cover->is_known)
        return NAN;
    if (row->sampled <= 0)
        return half_of_unseen(row, whole, cover);
    if (cover->has_windows && whole->active < WINDOWS_MIN)
        return NAN;
    sum = variance(row, whole, cover);
    if (sum > 0) {
        double count = row->sampled * row->sampled / sum;

        own = row->sampled * confidence_poisson_half(count) / count;
    }
    if (cover->has_windows)
        own = fmax(own, confidence_errors(whole->active) * sqrt(sum));
    if (!cover->is_selected)
        total = cover->half * row->sampled / whole->sum.sampled;
    half = hypot(own, total); /* NaN if the total's is */
    return half < cover->least ? cover->least : half;
}

bool row_interval_is_chance(const struct row_sum *row, const struct row_cover *cover, double half)
{
    if (!cover->is_known || half == 0)
        return false;
    return half >= (double)row->value || (isnan(half) && row->samples < SAMPLES_MIN);
}
