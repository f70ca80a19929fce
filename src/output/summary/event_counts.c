// SPDX-License-Identifier: Apache-2.0
#include "output/summary/summary_internal.h"

#include <stdio.h>
#include <string.h>

#include "output/number_text.h"
#include "output/summary/summary_text.h"
#include "profile/events.h"

enum { NAME_WIDTH = 16 };

static void write_row(FILE *file, int width, const char *name, struct buffer *text)
{
    fprintf(file, "  %-*s  %.*s\n", width, name, (int)text->size, text->data);
    text->size = 0;
}

static void write_average(const struct event_summary *summary, uint32_t value, enum unit unit,
                          struct buffer *text)
{
    uint64_t count = summary->sums[GC_COUNT];

    buffer_format(text, "%s on average, of %s hit%s",
                  number_text_amount(count ? summary->sums[value] / count : 0, unit).text,
                  number_text(summary->hits).text, summary->hits == 1 ? "" : "s");
}

static void widen(int *width, const struct profile *profile, string_id name)
{
    int size = (int)strlen(profile_text(profile, name));

    if (size > *width)
        *width = size;
}

/* The width of the names in the rows of event_counts_write(). */
static int width_of_names(const struct profile *profile, const struct event_summary *summary)
{
    const struct event_entry *event = profile_get_event(profile, summary->event);
    int width = NAME_WIDTH;

    for (uint32_t i = 0; i < event->value_count; i++)
        widen(&width, profile, event->values[i].name);
    for (size_t i = 0; i < summary->histogram_count; i++)
        if (histogram_count(&summary->histograms[i].histogram))
            widen(&width, profile, summary->histograms[i].name);
    for (size_t i = 0; i < summary->tally_count; i++)
        if (summary->tallies[i].count)
            widen(&width, profile, summary->tallies[i].name);
    return width;
}

static void write_values(FILE *file, const struct profile *profile,
                         const struct event_summary *summary, int width, struct buffer *text)
{
    const struct event_entry *event = profile_get_event(profile, summary->event);

    for (uint32_t i = 0; i < event->value_count; i++) {
        if (event_value_is_level(profile_text(profile, event->name), i))
            write_average(summary, i, event->values[i].unit, text);
        else
            summary_text_of_sum(summary, i, event->values[i].unit, text);
        write_row(file, width, profile_text(profile, event->values[i].name), text);
    }
}

/* Write the selected part of the value that rows show. */
static void write_selected(FILE *file, const struct summary_event *event, int width,
                           struct buffer *text)
{
    buffer_format(text, "%s by %s, %s samples, of the total of all samples below",
                  number_text_amount(event->whole.sum.value, event->weight.unit).text,
                  event->weight.name, number_text(event->samples).text);
    write_row(file, width, "selected", text);
}

static void put_unseen(struct buffer *names, const struct profile *profile, string_id name)
{
    buffer_format(names, "%s%s", names->size ? "; " : "", profile_text(profile, name));
}

/* Write the histograms and tallies that windows saw no hit of, and how many there may have been.
 * They have no row of their own: events have many. */
static void write_unseen(FILE *file, const struct profile *profile,
                         const struct event_summary *summary, int width)
{
    uint64_t most = event_summary_unseen_at_most(summary);
    struct buffer names = {0};

    for (size_t i = 0; most && i < summary->histogram_count; i++)
        if (!histogram_count(&summary->histograms[i].histogram))
            put_unseen(&names, profile, summary->histograms[i].name);
    for (size_t i = 0; most && i < summary->tally_count; i++)
        if (!summary->tallies[i].count)
            put_unseen(&names, profile, summary->tallies[i].name);
    if (names.size && most != UINT64_MAX) {
        buffer_format(&names, ": at most %s hits each", number_text(most).text);
        write_row(file, width, "none seen", &names);
    }
    buffer_free(&names);
}

static void write_histograms(FILE *file, const struct profile *profile,
                             const struct event_summary *summary, int width, struct buffer *text)
{
    for (size_t i = 0; i < summary->histogram_count; i++) {
        if (!histogram_count(&summary->histograms[i].histogram))
            continue;
        summary_text_of_histogram(&summary->histograms[i], text);
        write_row(file, width, profile_text(profile, summary->histograms[i].name), text);
    }
    for (size_t i = 0; i < summary->tally_count; i++) {
        if (!summary->tallies[i].count)
            continue;
        summary_text_of_count(summary->tallies[i].count, summary->tallies[i].seen, text);
        write_row(file, width, profile_text(profile, summary->tallies[i].name), text);
    }
    write_unseen(file, profile, summary, width);
}

void event_counts_write(FILE *file, const struct profile *profile,
                        const struct summary_event *event, const struct event_summary *summary,
                        bool is_part, bool is_full)
{
    int width = width_of_names(profile, summary);
    struct buffer text = {0};

    summary_text_of_hits(profile, summary, &text);
    fprintf(file, ", %.*s\n", (int)text.size, text.data);
    text.size = 0;
    if (is_part)
        write_selected(file, event, width, &text);
    write_values(file, profile, summary, width, &text);
    if (is_full)
        write_histograms(file, profile, summary, width, &text);
    buffer_free(&text);
}
