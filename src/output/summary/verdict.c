// SPDX-License-Identifier: Apache-2.0
/*
 * The verdict: the lines that a summary begins with. They repeat numbers of the tables below, and
 * choose which ones:
 *
 *      busy      96.5 % of the time of 2 schedulers; garbage collection 13.6 % of the CPU time
 *      process   62.1 % of the CPU time (9.90 s, 980 samples): <0.93.0> cart
 *      function  10.3 % of the CPU time (1.60 s, 163 samples): cart:encode/1
 *      grows     message queue of <0.93.0> cart: 12 at the first of 980 samples, 3,400 at the last
 *      next      sudo beamflame dump -p 4711 --list processes --top 10:msgq
 *
 * A line is left out if the recording says nothing about it.
 */
#include "output/summary/summary_internal.h"

#include <math.h>

#include "output/summary/summary_text.h"
#include "profile/events.h"

enum { VMS_SHOWN = 3 };

static const double WAIT_SHOWN = 5; /* percent of the time without a CPU */

static const struct root_key *process_at(const struct verdict *verdict, uint32_t id)
{
    return &verdict->processes->roots[id - 1];
}

/* ---- how busy the VMs were ---- */

static struct microstate_row schedulers_of(const struct verdict *verdict, target_id target,
                                           uint32_t *ret_count)
{
    struct microstate_row sum = {0};

    *ret_count = 0;
    for (size_t i = 0; i < verdict->thread_count; i++) {
        const struct microstate_row *row = &verdict->threads[i];

        if (row->target != target || row->type != THREAD_SCHEDULER)
            continue;
        ++*ret_count;
        microstate_row_add(&sum, row);
    }
    return sum;
}

double verdict_busy(const struct verdict *verdict, target_id target)
{
    uint32_t count;
    const struct microstate_row sum = schedulers_of(verdict, target, &count);

    return count ? number_text_percent(microstate_row_busy(&sum), sum.span_ns) : -1;
}

static void put_busy_vm(const struct verdict *verdict, target_id target, struct buffer *text)
{
    uint32_t count;
    const struct microstate_row sum = schedulers_of(verdict, target, &count);
    double wait = number_text_percent(sum.wait_ns, sum.span_ns);

    if (!count)
        return;
    buffer_text(text, text->size ? "; " : "");
    if (profile_counts(verdict->source->profile).targets > 1) {
        root_target_text(verdict->source->profile, target, text);
        buffer_text(text, ": ");
    }
    buffer_format(text, "%.1f %% of the time of %u scheduler%s", verdict_busy(verdict, target),
                  count, count == 1 ? "" : "s");
    if (wait >= WAIT_SHOWN)
        buffer_format(text, " (%.1f %% waiting for a CPU)", wait);
}

/* The share of collections in the CPU time, in percent. */
static double gc_share(const struct summary_event *event)
{
    return number_text_percent(event->gc.value, event->whole.sum.value);
}

static void put_gc(const struct summary_event *event, struct buffer *text)
{
    if (event->gc.samples)
        buffer_format(text, "%sgarbage collection %.1f %% of the CPU time (%s, %s sample%s)",
                      text->size ? "; " : "", gc_share(event),
                      number_text_amount(event->gc.value, UNIT_NS).text,
                      number_text(event->gc.samples).text, event->gc.samples == 1 ? "" : "s");
}

/* How busy the VMs were, by samples of event cpu. */
static void put_cpu(const struct verdict *verdict, struct buffer *text)
{
    uint32_t targets = profile_counts(verdict->source->profile).targets;

    for (target_id id = 1; id <= targets && id <= VMS_SHOWN; id++)
        put_busy_vm(verdict, id, text);
    if (verdict->thread_count && targets > VMS_SHOWN)
        buffer_format(text, "; %u more VMs below", targets - VMS_SHOWN);
    put_gc(&verdict->events[verdict->lead - 1], text);
}

/* The statuses of processes, as shares of their time. */
static void put_statuses(const struct summary_event *event, struct buffer *text)
{
    const char *before = "";

    for (size_t status = 0; status < event->statuses.size; status++) {
        const struct row_sum *sum = &event->statuses.of[status];
        double share = number_text_percent(sum->value, event->whole.sum.value);

        if (share < 0.05)
            continue;
        buffer_format(text, "%s%s %.1f %%", before,
                      profile_status_name((enum process_status)status), share);
        before = ", ";
    }
    if (text->size)
        buffer_text(text, " of the time of the processes");
}

/* ---- the busiest ---- */

/* Half of a row's interval. Rows of event cpu have no interval of their own: theirs is that of as
 * many samples taken at random. */
static double half_of(const struct summary_event *event, const struct row *row)
{
    if (!event->is_cpu)
        return row->half;
    return row->samples ? 2 * (double)row->value / sqrt((double)row->samples) : 0;
}

/* Return how many rows may have as much as the first one. */
static size_t rivals_of(const struct summary_event *event, const struct row_cover *cover,
                        const struct rows *rows, const struct row *first)
{
    size_t rivals = 0;

    for (uint32_t id = 0; id < rows->size; id++) {
        const struct row_sum *sum = &rows->of[id];
        const struct row row = {
            .value = sum->value,
            .samples = sum->samples,
            .half = event->is_cpu ? 0 : row_interval_half(sum, &event->whole, cover),
        };
        double apart = (double)first->value - (double)row.value;

        if (id != first->id && row.value)
            rivals += !(apart > hypot(half_of(event, first), half_of(event, &row)));
    }
    return rivals;
}

static void put_share(const struct verdict *verdict, const struct summary_event *event,
                      const struct row *row, uint64_t total, struct buffer *text)
{
    const struct profile *profile = verdict->source->profile;
    const struct estimate_text value =
        number_text_estimate(row->value, event->has_intervals ? row->half : 0, event->weight.unit);

    buffer_format(text, "%.1f %% of ", number_text_percent(row->value, total));
    if (event->is_cpu)
        buffer_text(text, "the CPU time");
    else
        buffer_format(text, "%s by %s%s",
                      profile_text(profile, profile_get_event(profile, verdict->lead)->name),
                      event->weight.name, event->left_out.value ? ", without idle processes" : "");
    buffer_format(text, " (%s%s%s, %s sample%s): ", value.amount.text,
                  value.half.text[0] ? " " : "", value.half.text, number_text(row->samples).text,
                  row->samples == 1 ? "" : "s");
}

static void put_rivals(size_t rivals, struct buffer *text)
{
    if (rivals)
        buffer_format(text, "; %s other%s may have as much", number_text(rivals).text,
                      rivals == 1 ? "" : "s");
}

static void put_process(const struct verdict *verdict, const struct row_cover *cover,
                        struct verdict_findings *findings, struct buffer *text)
{
    const struct summary_event *event = &verdict->events[verdict->lead - 1];
    struct row first;
    struct rows_rest rest;
    size_t rivals;

    if (event->is_wall || /* each process has the same wall time */
        !rows_top(&event->processes, &event->whole, cover, &first, 1, &rest))
        return;
    rivals = rivals_of(event, cover, &event->processes, &first);
    if (!rivals)
        findings->busiest = first.id;
    put_share(verdict, event, &first, event->whole.sum.value, text);
    summary_event_process_text(verdict->source->profile, process_at(verdict, first.id), " ", text);
    put_rivals(rivals, text);
}

/* An Erlang function of event cpu, if there is one: its name is in the sources, unlike that of the
 * function at the leaf. */
static void put_function(const struct verdict *verdict, const struct row_cover *cover,
                         struct buffer *text)
{
    const struct summary_event *event = &verdict->events[verdict->lead - 1];
    const struct rows *rows = &event->erlang;
    struct row first;
    struct rows_rest rest;
    bool any = rows_top(rows, &event->whole, cover, &first, 1, &rest);

    if (!any) {
        rows = &event->places;
        any = rows_top(rows, &event->whole, cover, &first, 1, &rest);
    }
    if (!any)
        return;
    put_share(verdict, event, &first, event->whole.sum.value - event->left_out.value, text);
    buffer_text(text, first.id ? profile_text(verdict->source->profile, first.id) : "[unknown]");
    put_rivals(rivals_of(event, cover, rows, &first), text);
}

/* ---- what grows ---- */

static void put_summary_growth(const struct verdict *verdict, enum growth_kind kind, uint32_t id,
                               struct buffer *text)
{
    static const char *const names[GROWTH_KINDS] = {
        [GROWTH_QUEUE] = "message queue",
        [GROWTH_MEMORY] = "memory",
        [GROWTH_HEAPS] = "heaps",
        [GROWTH_BINARIES] = "binaries",
    };
    const struct growth_range *range = &verdict->growth->of[id].kinds[kind];
    bool is_count = kind == GROWTH_QUEUE;

    buffer_format(text, "%s of ", names[kind]);
    summary_event_process_text(verdict->source->profile, process_at(verdict, id), " ", text);
    buffer_format(
        text, ": %s at the first of %s samples, %s at the last",
        (is_count ? number_text(range->first) : number_text_amount(range->first, UNIT_BYTES)).text,
        number_text(range->samples).text,
        (is_count ? number_text(range->last) : number_text_amount(range->last, UNIT_BYTES)).text);
}

static void put_node_growth(const struct verdict *verdict, const struct node_growth *growth,
                            struct buffer *text)
{
    const struct profile *profile = verdict->source->profile;

    buffer_text(text, text->size ? "; " : "");
    node_table_name(profile, growth->series, text);
    if (profile_counts(profile).targets > 1) {
        buffer_text(text, " of ");
        root_target_text(profile, growth->series->key.target, text);
    }
    buffer_format(text, ": %s at the start, %s at the end",
                  number_text_amount(growth->range.first, UNIT_BYTES).text,
                  number_text_amount(growth->range.last, UNIT_BYTES).text);
}

/* Find the process that has grown most in bytes. */
static void find_growth(const struct verdict *verdict, struct verdict_findings *findings)
{
    uint64_t most = 0;

    findings->queue = summary_growth_find(verdict->growth, GROWTH_QUEUE);
    for (enum growth_kind kind = GROWTH_MEMORY; kind < GROWTH_KINDS; kind++) {
        uint32_t id = summary_growth_find(verdict->growth, kind);
        const struct growth_range *range = id ? &verdict->growth->of[id].kinds[kind] : NULL;

        if (!range || range->last - range->first <= most)
            continue;
        most = range->last - range->first;
        findings->process = id;
        findings->kind = kind;
    }
    findings->node = node_table_growth(verdict->source, verdict->totals);
}

/* At most two things that grow. */
static void put_growth(const struct verdict *verdict, const struct verdict_findings *findings,
                       struct buffer *text)
{
    if (findings->queue)
        put_summary_growth(verdict, GROWTH_QUEUE, findings->queue, text);
    if (findings->node.series)
        put_node_growth(verdict, &findings->node, text);
    if (findings->process && !(findings->queue && findings->node.series)) {
        buffer_text(text, text->size ? "; " : "");
        put_summary_growth(verdict, findings->kind, findings->process, text);
    }
}

static void put_queue(const struct verdict *verdict, struct buffer *text)
{
    uint32_t id = summary_growth_longest_queue(verdict->growth);
    uint64_t length = id ? verdict->growth->of[id].kinds[GROWTH_QUEUE].highest : 0;

    if (!length)
        return;
    buffer_format(text, "at most %s message%s at a sample: ", number_text(length).text,
                  length == 1 ? "" : "s");
    summary_event_process_text(verdict->source->profile, process_at(verdict, id), " ", text);
}

/* ---- the lines ---- */

/* The event whose processes and functions are named: cpu, else wall, else the first with samples.
 */
static event_id lead_of(const struct verdict *verdict)
{
    event_id lead = 0;

    for (event_id id = profile_counts(verdict->source->profile).events; id; id--) {
        const struct summary_event *event = &verdict->events[id - 1];
        bool is_less = lead && !event->is_cpu &&
                       (verdict->events[lead - 1].is_cpu ||
                        (verdict->events[lead - 1].is_wall && !event->is_wall));

        if (output_source_shows(verdict->source, id) && event->whole.sum.value && !is_less)
            lead = id;
    }
    return lead;
}

/* Write a line, and empty the text. Return true if there was one. */
static bool write_line(FILE *file, const char *label, struct buffer *text)
{
    bool has_text = text->size > 0;

    if (has_text)
        fprintf(file, "%-9s %.*s\n", label, (int)text->size, text->data);
    text->size = 0;
    return has_text;
}

/* Write the lines about the lead event. Return true if there are any. */
static bool write_lead(FILE *file, const struct verdict *verdict, struct verdict_findings *findings,
                       struct buffer *text)
{
    struct summary_event *event = &verdict->events[verdict->lead - 1];
    const struct row_cover cover =
        summary_event_cover(event, verdict->source, verdict->lead, verdict->totals);
    bool any;

    if (event->is_cpu) {
        put_cpu(verdict, text);
        findings->gc = gc_share(event);
    } else if (event->is_wall)
        put_statuses(event, text);
    any = write_line(file, event->is_cpu ? "busy" : "status", text);
    put_process(verdict, &cover, findings, text);
    any |= write_line(file, "process", text);
    put_function(verdict, &cover, text);
    return write_line(file, "function", text) || any;
}

/* The VM that the command is about: that of what grows, else that of the busiest process. */
static target_id target_of(const struct verdict *verdict, const struct verdict_findings *findings)
{
    const struct profile *profile = verdict->source->profile;
    uint32_t id = findings->queue ? findings->queue : findings->process;

    if (!id && findings->node.series)
        return findings->node.series->key.target;
    id = id ? id : findings->busiest;
    if (id)
        return profile_get_process(profile, process_at(verdict, id)->process)->target;
    return profile_counts(profile).targets == 1;
}

void verdict_write(FILE *file, struct verdict *verdict)
{
    struct verdict_findings findings = {0};
    struct buffer text = {0};
    bool any;

    verdict->lead = lead_of(verdict);
    any = verdict->lead && write_lead(file, verdict, &findings, &text);
    find_growth(verdict, &findings);
    put_growth(verdict, &findings, &text);
    if (!write_line(file, "grows", &text)) {
        put_queue(verdict, &text);
        any |= write_line(file, "queue", &text);
    } else
        any = true;
    findings.target = target_of(verdict, &findings);
    findings.busy = verdict_busy(verdict, findings.target);
    next_command_text(verdict, &findings, &text);
    any |= write_line(file, "next", &text);
    if (any)
        fputc('\n', file);
    buffer_free(&text);
}
