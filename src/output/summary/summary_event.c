// SPDX-License-Identifier: Apache-2.0
#include "output/summary/summary_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "output/number_text.h"
#include "output/output.h"
#include "output/rows.h"
#include "output/summary/summary_text.h"
#include "profile/events.h"
#include "util/alloc.h"
#include "util/number.h"

/* A process, whatever its name. */
struct summary_process_key {
    uint64_t identity;
    target_id target;
    string_id pid;
};

void summary_event_processes_init(struct summary_processes *processes)
{
    processes->roots = NULL;
    intern_init(&processes->keys, sizeof(struct summary_process_key),
                sizeof(struct summary_process_key));
}

void summary_event_processes_free(struct summary_processes *processes)
{
    intern_free(&processes->keys);
    free(processes->roots);
}

static bool is_call(const struct profile *profile, event_id id)
{
    const char *name = profile_text(profile, profile_get_event(profile, id)->name);

    return !strncmp(name, EVENT_CALL, strlen(EVENT_CALL));
}

void summary_event_init(struct summary_event *event, const struct output_source *source,
                        event_id id)
{
    const struct profile *profile = source->profile;

    *event = (struct summary_event){
        .weight = weight_of_values(source, id),
        .is_cpu = event_is_cpu(profile, id),
        .is_sched = event_is_sched(profile, id),
        .is_call = is_call(profile, id),
        .is_wall = event_is_wall(profile, id),
    };
    event->whole.has_parts = event->is_sched;
    run_queues_init(&event->queues);
    traffic_table_init(&event->traffic, source, id);
}

void summary_event_free(struct summary_event *event)
{
    row_interval_free_whole(&event->whole);
    rows_free(&event->places);
    rows_free(&event->erlang);
    rows_free(&event->processes);
    rows_free(&event->statuses);
    rows_free(&event->tables);
    long_schedules_free(&event->slices);
    run_queues_free(&event->queues);
    traffic_table_free(&event->traffic);
}

/* ---- counting ---- */

uint32_t summary_event_process(struct summary_processes *processes, const struct profile *profile,
                               const struct sample *sample)
{
    const struct process_entry *entry = profile_get_process(profile, sample->process);
    struct summary_process_key key = {entry->identity, entry->target, entry->pid};
    uint32_t known = processes->keys.count, id = intern_add(&processes->keys, &key);
    struct root_key root = root_key_of_process(profile, sample->process,
                                               sample->flags & SAMPLE_COMPLETE ? sample->stack : 0);

    if (id > known)
        processes->roots =
            xreallocarray(processes->roots, processes->keys.capacity, sizeof(*processes->roots));
    else if (!root.bottom)
        root.bottom = processes->roots[id - 1].bottom;
    processes->roots[id - 1] = root;
    return id;
}

/* Return the Erlang frame nearest to the leaf, which is not the function whose calls the event
 * counts; the leaf if there is none. */
static frame_id call_site(const struct summary_event *event, const struct profile *profile,
                          stack_id stack)
{
    const struct stack_node *leaf = profile_get_stack(profile, stack);

    if (event->is_call)
        stack = leaf->parent;
    while (stack) {
        const struct stack_node *node = profile_get_stack(profile, stack);

        if (profile_get_frame(profile, node->frame)->kind == FRAME_ERLANG)
            return node->frame;
        stack = node->parent;
    }
    return leaf->frame;
}

/* Return the symbol of the ETS table that the stack's leaf works on, 0 if there is none. */
static string_id table_at(const struct profile *profile, stack_id stack)
{
    while (stack) {
        const struct stack_node *node = profile_get_stack(profile, stack);
        const struct frame *frame = profile_get_frame(profile, node->frame);

        if (frame->kind == FRAME_MARK &&
            !strncmp(profile_text(profile, frame->symbol), TABLE_MARK, strlen(TABLE_MARK)))
            return frame->symbol;
        if (frame->kind != FRAME_NATIVE && frame->kind != FRAME_KERNEL)
            return 0;
        stack = node->parent;
    }
    return 0;
}

/* Count a sample of event cpu for the Erlang function that runs, or that has called the BIF or C
 * function that runs. */
static void add_to_erlang(struct summary_event *event, const struct profile *profile,
                          const struct sample *sample, const struct row_part *part)
{
    const struct frame *frame =
        profile_get_frame(profile, call_site(event, profile, sample->stack));

    if (frame->kind == FRAME_ERLANG)
        rows_add(&event->erlang, frame->symbol, &event->whole, part);
}

void summary_event_add(struct summary_event *event, uint32_t process,
                       const struct output_source *source, const struct sample *sample)
{
    const struct profile *profile = source->profile;
    uint64_t value = sample->values[event->weight.value];
    bool is_of_hit = row_interval_has_hit(&event->whole, sample);
    struct row_part part = row_interval_add_whole(&event->whole, sample, event->weight.value);
    string_id table = table_at(profile, sample->stack);
    frame_id place;

    event->samples += !is_of_hit;
    if (event->is_sched && sample->slice)
        long_schedules_add(&event->slices, sample);
    else if (event->is_sched)
        run_queues_add(&event->queues, profile, sample, is_of_hit);
    traffic_table_add(&event->traffic, sample);
    rows_add(&event->statuses, sample->status, &event->whole, &part);
    if (process)
        rows_add(&event->processes, process, &event->whole, &part);
    if (table)
        rows_add(&event->tables, table, &event->whole, &part);
    if (event->is_cpu && microstate_is_gc(sample->microstate)) {
        event->gc.value = saturating_sum(event->gc.value, value);
        event->gc.samples++;
    }
    if (idle_is_left_out(source, sample)) {
        event->left_out.value = saturating_sum(event->left_out.value, value);
        event->left_out.samples++;
        return;
    }
    if (!sample->stack)
        return;
    place = event->is_cpu ? profile_get_stack(profile, sample->stack)->frame
                          : call_site(event, profile, sample->stack);
    rows_add(&event->places, profile_get_frame(profile, place)->symbol, &event->whole, &part);
    if (event->is_cpu)
        add_to_erlang(event, profile, sample, &part);
}

/* ---- writing ---- */

/* Write "WHAT of gc by reclaimed", or `of_cpu` for event cpu: everybody expects CPU time, and that
 * text says more. */
static void write_heading(FILE *file, const struct profile *profile,
                          const struct summary_event *event, event_id id, const char *of_cpu,
                          const char *what)
{
    if (event->is_cpu)
        fprintf(file, "\n%s\n", of_cpu);
    else
        fprintf(file, "\n%s of %s by %s\n", what,
                profile_text(profile, profile_get_event(profile, id)->name), event->weight.name);
}

static void write_share(FILE *file, const struct summary_event *event, uint64_t value,
                        uint64_t samples, uint64_t total)
{
    fprintf(file, event->is_cpu ? "  %12s" : "  %16s",
            number_text_amount(value, event->weight.unit).text);
    fprintf(file, " %5.1f %%  %9s sample%s  ", number_text_percent(value, total),
            number_text(samples).text, samples == 1 ? " " : "s");
}

/* Write a row up to its name, as a share of `total`. */
static void write_numbers(FILE *file, const struct summary_event *event, const struct row *row,
                          uint64_t total)
{
    const struct estimate_text text =
        number_text_estimate(row->value, row->half, event->weight.unit);

    if (!event->has_intervals) {
        write_share(file, event, row->value, row->samples, total);
        return;
    }
    fprintf(file, "  %16s %-18s %5.1f %%  %9s sample%s  ", text.amount.text, text.half.text,
            number_text_percent(row->value, total), number_text(row->samples).text,
            row->samples == 1 ? " " : "s");
}

/* Write the rest of a table that shows all but `left_out`. */
static void write_rest(FILE *file, const struct summary_event *event, const struct rows_rest *rest,
                       const struct row *left_out)
{
    const struct row row = {.value = rest->value - left_out->value,
                            .samples = rest->samples - left_out->samples};
    struct buffer text = {0};

    if (!event->has_intervals || rest->value <= left_out->value)
        return;
    rows_rest_text(rest, "row", &text);
    write_numbers(file, event, &row, event->whole.sum.value - left_out->value);
    fprintf(file, "%.*s\n", (int)text.size, text.data);
    buffer_free(&text);
}

static void write_places(FILE *file, const struct profile *profile,
                         const struct summary_event *event, event_id id,
                         const struct row_cover *cover, const struct summary_extent *extent)
{
    struct row top[SUMMARY_ROWS];
    struct rows_rest rest;
    size_t count = rows_top(&event->places, &event->whole, cover, top, extent->rows, &rest);

    if (count || (rest.rows && extent->is_full))
        write_heading(file, profile, event, id, "functions with most CPU time",
                      event->left_out.value ? "call sites, without idle processes," : "call sites");
    for (size_t i = 0; i < count; i++) {
        write_numbers(file, event, &top[i], event->whole.sum.value - event->left_out.value);
        fprintf(file, "%s\n", top[i].id ? profile_text(profile, top[i].id) : "[unknown]");
    }
    if (count || (rest.rows && extent->is_full))
        write_rest(file, event, &rest, &event->left_out);
}

/* Write the Erlang functions of event cpu, if there are any. */
static void write_erlang(FILE *file, const struct profile *profile,
                         const struct summary_event *event, const struct row_cover *cover,
                         const struct summary_extent *extent)
{
    struct row top[SUMMARY_ROWS];
    struct rows_rest rest;
    size_t count = rows_top(&event->erlang, &event->whole, cover, top, extent->rows, &rest);

    if (count)
        fputs("\nErlang functions with most CPU time, with the BIFs and C functions they call\n",
              file);
    for (size_t i = 0; i < count; i++) {
        write_numbers(file, event, &top[i], event->whole.sum.value);
        fprintf(file, "%s\n", profile_text(profile, top[i].id));
    }
}

void summary_event_process_text(const struct profile *profile, const struct root_key *root,
                                const char *between, struct buffer *text)
{
    const struct process_entry *process = profile_get_process(profile, root->process);

    buffer_format(text, "%s%s", profile_text(profile, process->pid), between);
    root_process_text(profile, root, text);
    if (profile_counts(profile).targets > 1 && process->target) {
        buffer_format(text, "%s", between);
        root_target_text(profile, process->target, text);
    }
}

static void write_processes(FILE *file, const struct profile *profile,
                            const struct summary_event *event,
                            const struct summary_processes *processes, event_id id,
                            const struct row_cover *cover, const struct summary_extent *extent)
{
    struct row top[SUMMARY_ROWS];
    struct rows_rest rest;
    size_t count = rows_top(&event->processes, &event->whole, cover, top, extent->rows, &rest);

    if (count || (rest.rows && extent->is_full))
        write_heading(file, profile, event, id, "processes with most CPU time", "processes");
    for (size_t i = 0; i < count; i++) {
        const struct root_key *root = &processes->roots[top[i].id - 1];
        struct buffer name = {0};

        summary_event_process_text(profile, root, "  ", &name);
        write_numbers(file, event, &top[i], event->whole.sum.value);
        fprintf(file, "%.*s\n", (int)name.size, name.data);
        buffer_free(&name);
    }
    if (count || (rest.rows && extent->is_full))
        write_rest(file, event, &rest, &(struct row){0});
}

/* Write the ETS tables, if there are any. */
static void write_tables(FILE *file, const struct profile *profile,
                         const struct summary_event *event, event_id id,
                         const struct row_cover *cover, const struct summary_extent *extent)
{
    struct row top[SUMMARY_ROWS];
    struct rows_rest rest;
    size_t count = rows_top(&event->tables, &event->whole, cover, top, extent->rows, &rest);

    if (count)
        write_heading(file, profile, event, id, "ETS tables with most CPU time", "ETS tables");
    for (size_t i = 0; i < count; i++) {
        const char *text = profile_text(profile, top[i].id) + strlen(TABLE_MARK);

        write_numbers(file, event, &top[i], event->whole.sum.value);
        fprintf(file, "%.*s\n", (int)strlen(text) - 1, text);
    }
    if (count)
        write_rest(file, event, &rest, &(struct row){0});
}

static void write_statuses(FILE *file, const struct profile *profile,
                           const struct summary_event *event, event_id id,
                           const struct row_cover *cover)
{
    write_heading(file, profile, event, id, "", "status");
    for (size_t status = 0; status < event->statuses.size; status++) {
        const struct row_sum *sum = &event->statuses.of[status];
        const struct row row = {(uint32_t)status, sum->value, sum->samples,
                                row_interval_half(sum, &event->whole, cover)};

        if (!sum->value)
            continue;
        write_numbers(file, event, &row, event->whole.sum.value);
        fprintf(file, "%s\n", profile_status_name((enum process_status)status));
    }
}

struct row_cover summary_event_cover(struct summary_event *event,
                                     const struct output_source *source, event_id id,
                                     const struct recording_totals *totals)
{
    const struct row_cover cover =
        rows_cover(source, id, event->weight.value, &event->whole, totals->left_out > 0);

    event->has_intervals = !event->is_cpu && (!event->is_wall || cover.is_known);
    return cover;
}

void summary_event_write(FILE *file, struct summary_event *event,
                         const struct summary_processes *processes,
                         const struct output_source *source, event_id id,
                         const struct recording_totals *totals, const struct summary_extent *extent)
{
    const struct profile *profile = source->profile;
    const struct row_cover cover = summary_event_cover(event, source, id, totals);
    const struct event_summary *summary = recording_get_summary(source->recording, id);

    if (summary || !event->is_cpu)
        fprintf(file, "\nevent %s: %s samples",
                profile_text(profile, profile_get_event(profile, id)->name),
                number_text(event->samples).text);
    if (summary && !summary->span_ns)
        fputs(", were lost\n", file);
    else if (summary)
        event_counts_write(file, profile, event, summary, totals->left_out > 0, extent->is_full);
    else if (!event->is_cpu)
        fputc('\n', file);
    write_places(file, profile, event, id, &cover, extent);
    if (event->is_cpu)
        write_erlang(file, profile, event, &cover, extent);
    write_tables(file, profile, event, id, &cover, extent);
    if (event->is_wall) /* each process has the same wall time */
        write_statuses(file, profile, event, id, &cover);
    else
        write_processes(file, profile, event, processes, id, &cover, extent);
    if (event->is_sched) {
        if (extent->is_full)
            run_queues_write(file, profile, &event->queues);
        long_schedules_finish(&event->slices);
        long_schedules_write(file, profile, &event->slices, extent->rows,
                             source->header->start_monotonic);
    }
    traffic_table_write(file, &event->traffic, source, id, extent,
                        output_source_event_seconds(source, id, totals), totals->left_out > 0);
}
