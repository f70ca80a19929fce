// SPDX-License-Identifier: Apache-2.0
/*
 * Which process sends to or wakes which, as source of graphviz: `dot -Tsvg x.dot`. The values of an
 * edge are also there as numbers, in attributes that graphviz does not know and ignores:
 *
 *      "cart" -> "db" [label="1,234 messages...", "count"=1234, "words"=4936, ..., "samples"=34,
 *                      "plus_minus"=80];
 *
 * "plus_minus" is half of the 95 % interval of the value that sets the width of the edge. It is
 * left out if the value is exact or the interval is unknown.
 */
#include "output/formats.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "output/number_text.h"
#include "output/summary/summary_text.h"
#include "output/traffic.h"
#include "output/weight.h"
#include "profile/events.h"
#include "util/alloc.h"
#include "util/buffer.h"
#include "util/number.h"

/* With more than EDGES_EASY edges, processes of a kind are merged (TRAFFIC_BY_KIND). A graph has
 * the greatest EDGES_MAX edges: more would be unreadable. */
#define EDGES_EASY 30
#define EDGES_MAX  60

/* Edges with less than this share of the greatest weight have no label. */
#define SHARE_SHOWN 0.01

/* Delays below this never have the strongest colour. */
#define LONG_DELAY_NS 1e7

struct dot {
    FILE *file;
    struct output_source source;
    struct weight weight;
    struct traffic traffic;
    struct row_whole whole;
    struct row_cells cells; /* by preliminary edge */
};

static void *dot_begin(FILE *file, const struct output_source *source, struct error *error)
{
    struct dot *dot = xcalloc(1, sizeof(*dot));

    (void)error;
    dot->file = file;
    dot->source = *source;
    dot->weight = weight_of_traffic(source, source->event);
    traffic_init(&dot->traffic, source->profile, source->event,
                 view_groups_by(source->view, GROUP_PID));
    return dot;
}

static int dot_sample(void *state, const struct sample *sample, struct error *error)
{
    struct dot *dot = state;
    uint32_t edge = traffic_add(&dot->traffic, sample);
    struct row_part part;

    (void)error;
    if (!edge)
        return 0;
    part = row_interval_add_whole(&dot->whole, sample, dot->weight.value);
    if (part.value)
        row_cells_add(&dot->cells, edge, &part);
    return 0;
}

/* ---- text ---- */

/* Escape '"', which ends a quoted text, and '\', which begins an escape: \n, \l, \N and others. */
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

static void put_number(FILE *file, uint64_t number, const char *of)
{
    fprintf(file, "%s %s%s", number_text(number).text, of, number == 1 ? "" : "s");
}

static uint32_t count_value(const struct dot *dot)
{
    return dot->traffic.is_msg ? MSG_COUNT : SCHED_COUNT;
}

/* Write the number of an edge, with its interval if the width is this number. */
static void put_count(const struct dot *dot, uint64_t number, const char *of, double half)
{
    const struct estimate_text text = number_text_estimate(number, half, UNIT_COUNT);

    put_number(dot->file, number, of);
    if (dot->weight.value == count_value(dot) && text.half.text[0])
        fprintf(dot->file, " %s", text.half.text);
}

/* Write lines for the values that are not 0: "1,234 messages +- 80, 411/s", "5.0 words each",
 * "12.3 us in the queue", "12 signals". Times are averages. */
static void put_messages(const struct dot *dot, const uint64_t *values, double half, double seconds)
{
    const char *before = "";

    if (values[MSG_COUNT]) {
        put_count(dot, values[MSG_COUNT], "message", half);
        fprintf(dot->file, ", %s/s\\n%.1f words each",
                number_text_rate(values[MSG_COUNT], seconds).text,
                (double)values[MSG_WORDS] / (double)values[MSG_COUNT]);
        before = "\\n";
    }
    if (values[MSG_RECEIVED]) {
        fprintf(dot->file, "%s%s in the queue", before,
                number_text_amount(values[MSG_DELAY] / values[MSG_RECEIVED], UNIT_NS).text);
        before = "\\n";
    }
    if (values[MSG_SIGNALS]) {
        fputs(before, dot->file);
        put_number(dot->file, values[MSG_SIGNALS], "signal");
    }
}

/* Write lines: "woken 1,234 times +- 80, 411/s", "after 1.2 ms", "12.3 us in the run queue". Times
 * are averages. */
static void put_wakes(const struct dot *dot, const uint64_t *values, double half, double seconds)
{
    uint64_t count = values[SCHED_COUNT];

    if (!count)
        return;
    fputs("woken ", dot->file);
    put_count(dot, count, "time", half);
    fprintf(dot->file, ", %s/s\\nafter %s", number_text_rate(count, seconds).text,
            number_text_amount((values[SCHED_WAIT] - values[SCHED_DELAY]) / count, UNIT_NS).text);
    fprintf(dot->file, "\\n%s in the run queue",
            number_text_amount(values[SCHED_DELAY] / count, UNIT_NS).text);
}

/* Write "count 1,234 times +- 80, 34 samples". */
static void put_sure(const struct dot *dot, const struct row *row)
{
    const struct estimate_text text = number_text_estimate(row->value, row->half, dot->weight.unit);

    fprintf(dot->file, "%s %s%s%s, ", dot->weight.name, text.amount.text,
            text.half.text[0] ? " " : "", text.half.text);
    put_number(dot->file, row->samples, "sample");
}

/* ---- the graph ---- */

/* Append "count 680,000 times +- 19,600 in 7,000 hits, 1.0 % of the time covered...". */
static void put_counted(const struct dot *dot, struct buffer *line)
{
    const struct event_summary *summary =
        recording_get_summary(dot->source.recording, dot->source.event);

    if (!summary)
        return;
    buffer_format(line, "all %s: %s ", dot->traffic.is_msg ? "messages" : "processes",
                  dot->weight.name);
    summary_text_of_sum(summary, dot->weight.value, dot->weight.unit, line);
    buffer_text(line, " in ");
    summary_text_of_hits(dot->source.profile, summary, line);
}

/* Write lines: "shop@web-1, pid 4711, OTP 27",
 * "msg in 10.0 s; width: count; red: waited long in the message queue", and put_counted(). */
static void put_title(const struct dot *dot, double seconds, size_t shown, size_t count)
{
    const struct profile *profile = dot->source.profile;
    const struct event_entry *event = profile_get_event(profile, dot->source.event);
    struct buffer line = {0};

    for (target_id id = 1; id <= profile_counts(profile).targets; id++) {
        if (id > 1)
            buffer_text(&line, "; ");
        summary_text_of_target(profile, id, &line);
    }
    put_text(dot->file, line.data, line.size);
    fputs("\\n", dot->file);
    line.size = 0;
    buffer_format(&line, "%s in %.1f s; width: %s; red: waited long in the %s queue",
                  profile_text(profile, event->name), seconds, dot->weight.name,
                  dot->traffic.is_msg ? "message" : "run");
    if (!count)
        buffer_text(&line, "; none seen");
    if (shown < count)
        buffer_format(&line, "; the largest %zu of %zu edges", shown, count);
    put_text(dot->file, line.data, line.size);
    line.size = 0;
    put_counted(dot, &line);
    if (line.size)
        fputs("\\n", dot->file);
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
          "    edge [fontname=\"sans-serif\", fontsize=10];\n",
          dot->file);
}

/* Return the average delay of a message, or of a process that was woken, in ns. */
static double delay_of(const struct dot *dot, const struct traffic_edge *edge)
{
    const uint64_t *values = edge->values;
    uint64_t delay = values[dot->traffic.is_msg ? (int)MSG_DELAY : (int)SCHED_DELAY];
    uint64_t count = values[dot->traffic.is_msg ? (int)MSG_RECEIVED : (int)SCHED_COUNT];

    return count ? (double)delay / (double)count : 0;
}

/* The maxima for the widths and colours of edges. */
struct scale {
    double weight, delay;
};

static struct scale scale_of(const struct dot *dot, const struct traffic_edge *edges, size_t count)
{
    struct scale scale = {.delay = LONG_DELAY_NS};

    for (size_t i = 0; i < count; i++) {
        scale.weight = fmax(scale.weight, (double)edges[i].values[dot->weight.value]);
        scale.delay = fmax(scale.delay, delay_of(dot, &edges[i]));
    }
    return scale;
}

/* `share`: 0 for grey to 1 for red. */
static void put_colour(FILE *file, double share)
{
    static const int grey[] = {0x5b, 0x62, 0x70}, red[] = {0xd0, 0x2c, 0x1c};

    fputs("color=\"#", file);
    for (int i = 0; i < 3; i++)
        fprintf(file, "%02x", grey[i] + (int)((red[i] - grey[i]) * share));
    putc('"', file);
}

/* Width 1 to 6 by weight, colour by delay. An edge below SHARE_SHOWN has its text as a tooltip. */
static void put_edge(const struct dot *dot, const struct traffic_edge *edge, const struct row *row,
                     double seconds, const struct scale *scale)
{
    const struct profile *profile = dot->source.profile;
    const struct event_entry *event = profile_get_event(profile, dot->source.event);
    double share = (double)edge->values[dot->weight.value] / scale->weight;
    FILE *file = dot->file;

    fputs("    ", file);
    put_quoted(file, edge->from);
    fputs(" -> ", file);
    put_quoted(file, edge->to);
    fputs(share < SHARE_SHOWN ? " [label=\"\", tooltip=\"" : " [label=\"", file);
    if (dot->traffic.is_msg)
        put_messages(dot, edge->values, row->half, seconds);
    else
        put_wakes(dot, edge->values, row->half, seconds);
    fputs("\\n", file);
    if (dot->weight.value == count_value(dot))
        put_number(file, row->samples, "sample");
    else
        put_sure(dot, row);
    fprintf(file, "\", penwidth=%.1f, ", 1 + 5 * sqrt(share));
    put_colour(file, sqrt(delay_of(dot, edge) / scale->delay));
    for (uint32_t i = 0; i < event->value_count; i++) {
        fputs(", ", file);
        put_quoted(file, profile_text(profile, event->values[i].name));
        fprintf(file, "=%" PRIu64, edge->values[i]);
    }
    fprintf(file, ", \"samples\"=%" PRIu64, row->samples);
    if (row->half > 0)
        fprintf(file, ", \"plus_minus\"=%" PRIu64, whole_part(ceil(row->half)));
    fputs("];\n", file);
}

/* Write the nodes: what each sends and receives is in its tooltip. */
static void put_nodes(const struct dot *dot, const struct graph_sums *sums)
{
    FILE *file = dot->file;

    for (size_t i = 0; i < sums->node_count; i++) {
        const struct row sent = graph_sums_row(sums, &sums->sent, (uint32_t)i + 1);
        const struct row received = graph_sums_row(sums, &sums->received, (uint32_t)i + 1);

        fputs("    ", file);
        put_quoted(file, sums->nodes[i]);
        fputs(dot->traffic.is_msg ? " [tooltip=\"sends: " : " [tooltip=\"wakes others: ", file);
        put_sure(dot, &sent);
        fputs(dot->traffic.is_msg ? "\\nreceives: " : "\\nis woken: ", file);
        put_sure(dot, &received);
        fputs("\"];\n", file);
    }
}

/* Return the edges, and the id of the edge for each preliminary one. */
static struct traffic_edge *find_edges(struct dot *dot, uint32_t **ret_ids, size_t *ret_count)
{
    uint32_t value = dot->weight.value;
    struct traffic_edge *edges =
        traffic_edges(&dot->traffic, TRAFFIC_AS_NAMED, value, ret_ids, ret_count);

    if (*ret_count <= EDGES_EASY)
        return edges;
    free(edges);
    free(*ret_ids);
    return traffic_edges(&dot->traffic, TRAFFIC_BY_KIND, value, ret_ids, ret_count);
}

static void put_graph(struct dot *dot, const struct recording_totals *totals)
{
    size_t count, shown;
    uint32_t *ids;
    struct traffic_edge *edges = find_edges(dot, &ids, &count);
    double seconds = output_source_event_seconds(&dot->source, dot->source.event, totals);
    struct graph_sums sums;
    struct scale scale;

    shown = count < EDGES_MAX ? count : EDGES_MAX;
    scale = scale_of(dot, edges, shown);
    graph_sums_make(&sums, &(struct graph_parts){&dot->whole, &dot->cells, ids}, edges, count,
                    shown);
    sums.cover = rows_cover(&dot->source, dot->source.event, dot->weight.value, &sums.whole,
                            totals->left_out > 0);
    put_head(dot, seconds, shown, count);
    put_nodes(dot, &sums);
    for (size_t i = 0; i < shown; i++) {
        const struct row row = graph_sums_row(&sums, &sums.edges, edges[i].id);

        put_edge(dot, &edges[i], &row, seconds, &scale);
    }
    if (totals->left_out)
        fprintf(dot->file, "    // %" PRIu64 " samples are not selected\n", totals->left_out);
    fputs("}\n", dot->file);
    graph_sums_free(&sums);
    free(edges);
    free(ids);
}

static int dot_finish(void *state, const struct recording_totals *totals, struct error *error)
{
    struct dot *dot = state;

    (void)error;
    if (totals)
        put_graph(dot, totals);
    traffic_free(&dot->traffic);
    row_interval_free_whole(&dot->whole);
    row_cells_free(&dot->cells);
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
