// SPDX-License-Identifier: Apache-2.0
/*
 * Who sends to whom, as a graph in the language of graphviz: `dot -Tsvg x.dot`. What is shown as
 * text is also there as numbers, in attributes that graphviz does not know and ignores:
 *
 *      "cart" -> "db" [label="1,234 messages...", count=1234, words=4936, delay=812000, ...];
 */
#include "output/formats.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "output/number_text.h"
#include "output/target_text.h"
#include "output/traffic.h"
#include "output/weight.h"
#include "profile/events.h"
#include "util/alloc.h"
#include "util/buffer.h"

/* A graph with more edges shows nothing. */
#define EDGES_MAX 200

struct dot {
    FILE *file;
    struct output_source source;
    struct weight weight;
    struct traffic traffic;
};

static void *dot_begin(FILE *file, const struct output_source *source, struct error *error)
{
    struct dot *dot = xcalloc(1, sizeof(*dot));

    (void)error;
    dot->file = file;
    dot->source = *source;
    dot->weight = weight_of_event(source, source->event);
    traffic_init(&dot->traffic, source->profile, source->event, view_group_by(source->view));
    return dot;
}

static int dot_sample(void *state, const struct sample *sample, struct error *error)
{
    struct dot *dot = state;

    (void)error;
    traffic_add(&dot->traffic, sample);
    return 0;
}

/* ---- text ---- */

/* Within quotes '"' ends the text, and '\' begins an escape: \n, \l, \N and others. */
static void put_text(FILE *file, const char *text, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        if (text[i] == '"' || text[i] == '\\')
            putc('\\', file);
        putc(text[i], file);
    }
}

static void put_quoted(FILE *file, const char *text)
{
    putc('"', file);
    put_text(file, text, strlen(text));
    putc('"', file);
}

static double seconds_of(const struct dot *dot, const struct recording_totals *totals)
{
    uint64_t start = dot->source.header->start_monotonic;

    return totals->end_monotonic > start ? (double)(totals->end_monotonic - start) / 1e9 : 0;
}

static void put_number(FILE *file, uint64_t number, const char *of)
{
    fprintf(file, "%s %s%s", number_text(number).text, of, number == 1 ? "" : "s");
}

/* "1,234 messages, 411.3/s", "5.0 words each", "delay 12.3 us", "12 signals": lines, as far as
 * there are any. */
static void put_messages(const struct dot *dot, const uint64_t *values, double seconds)
{
    double count = (double)values[MSG_COUNT];
    const char *before = "";

    if (values[MSG_COUNT]) {
        put_number(dot->file, values[MSG_COUNT], "message");
        fprintf(dot->file, ", %.1f/s\\n%.1f words each", seconds > 0 ? count / seconds : 0,
                (double)values[MSG_WORDS] / count);
        before = "\\n";
    }
    if (values[MSG_RECEIVED]) {
        fprintf(dot->file, "%sdelay %s", before,
                amount_text(values[MSG_DELAY] / values[MSG_RECEIVED], UNIT_NS).text);
        before = "\\n";
    }
    if (values[MSG_SIGNALS]) {
        fputs(before, dot->file);
        put_number(dot->file, values[MSG_SIGNALS], "signal");
    }
}

/* "wait 1.2 s", "count 12 times"... */
static void put_values(const struct dot *dot, const uint64_t *values)
{
    const struct profile *profile = dot->source.profile;
    const struct event_entry *event = profile_get_event(profile, dot->source.event);
    const char *before = "";

    for (uint32_t i = 0; i < event->value_count; i++) {
        if (!values[i])
            continue;
        fprintf(dot->file, "%s%s %s", before, profile_text(profile, event->values[i].name),
                amount_text(values[i], event->values[i].unit).text);
        before = "\\n";
    }
}

/* ---- the graph ---- */

/* "shop@web-1, pid 4711, OTP 27", "msg by count, 10.0 s": two lines. */
static void put_title(const struct dot *dot, double seconds, size_t shown, size_t count)
{
    const struct profile *profile = dot->source.profile;
    const struct event_entry *event = profile_get_event(profile, dot->source.event);
    struct buffer line = {0};

    for (target_id id = 1; id <= profile_counts(profile).targets; id++) {
        if (id > 1)
            buffer_text(&line, "; ");
        target_text(profile, id, &line);
    }
    put_text(dot->file, line.data, line.size);
    fputs("\\n", dot->file);
    line.size = 0;
    buffer_format(&line, "%s by %s, %.1f s", profile_text(profile, event->name),
                  profile_text(profile, dot->weight.name), seconds);
    if (shown < count)
        buffer_format(&line, "; the greatest %zu of %zu edges", shown, count);
    put_text(dot->file, line.data, line.size);
    buffer_free(&line);
}

static void put_head(const struct dot *dot, double seconds, size_t shown, size_t count)
{
    fputs("digraph beamflame {\n"
          "    graph [rankdir=LR, labelloc=t, fontname=\"sans-serif\", label=\"",
          dot->file);
    put_title(dot, seconds, shown, count);
    fputs("\"];\n"
          "    node [shape=box, style=\"rounded,filled\", fillcolor=\"#fdebd8\", "
          "color=\"#c9a27e\", fontname=\"sans-serif\"];\n"
          "    edge [color=\"#5b6270\", fontname=\"sans-serif\", fontsize=10];\n",
          dot->file);
}

/* Width 1 to 6 by weight. */
static void put_edge(const struct dot *dot, const struct traffic_edge *edge, double seconds,
                     uint64_t greatest)
{
    const struct profile *profile = dot->source.profile;
    const struct event_entry *event = profile_get_event(profile, dot->source.event);
    FILE *file = dot->file;

    fputs("    ", file);
    put_quoted(file, edge->from);
    fputs(" -> ", file);
    put_quoted(file, edge->to);
    fputs(" [label=\"", file);
    if (dot->traffic.is_msg)
        put_messages(dot, edge->values, seconds);
    else
        put_values(dot, edge->values);
    fprintf(file, "\", penwidth=%.1f",
            1 + 5 * sqrt((double)edge->values[dot->weight.value] / (double)greatest));
    for (uint32_t i = 0; i < event->value_count; i++) {
        fputs(", ", file);
        put_quoted(file, profile_text(profile, event->values[i].name));
        fprintf(file, "=%" PRIu64, edge->values[i]);
    }
    fputs("];\n", file);
}

static void put_graph(struct dot *dot, const struct recording_totals *totals)
{
    size_t count, shown;
    struct traffic_edge *edges = traffic_edges(&dot->traffic, dot->weight.value, &count);
    double seconds = seconds_of(dot, totals);

    shown = count < EDGES_MAX ? count : EDGES_MAX;
    put_head(dot, seconds, shown, count);
    for (size_t i = 0; i < shown; i++)
        put_edge(dot, &edges[i], seconds, edges[0].values[dot->weight.value]);
    fputs("}\n", dot->file);
    free(edges);
}

static int dot_finish(void *state, const struct recording_totals *totals, struct error *error)
{
    struct dot *dot = state;

    (void)error;
    if (totals)
        put_graph(dot, totals);
    traffic_free(&dot->traffic);
    free(dot);
    return 0;
}

const struct output_format dot_format = {
    .name = "dot",
    .suffixes = {".dot", ".gv"},
    .one_event = true,
    .of_peers = true,
    .begin = dot_begin,
    .sample = dot_sample,
    .finish = dot_finish,
};
