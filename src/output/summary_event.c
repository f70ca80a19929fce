// SPDX-License-Identifier: Apache-2.0
#include "output/summary.h"

#include <stdlib.h>
#include <string.h>

#include "output/event_text.h"
#include "profile/events.h"
#include "util/alloc.h"

#define TOP 10

/* One process, under whatever name. */
struct process_key {
    uint64_t identity;
    target_id target;
    string_id pid;
};

void summary_processes_init(struct summary_processes *processes)
{
    processes->newest = NULL;
    intern_init(&processes->keys, sizeof(struct process_key), sizeof(struct process_key));
}

void summary_processes_free(struct summary_processes *processes)
{
    intern_free(&processes->keys);
    free(processes->newest);
}

void summary_event_init(struct summary_event *event, const struct output_source *source,
                        event_id id)
{
    const struct profile *profile = source->profile;

    *event = (struct summary_event){
        .weight = weight_of_event(source, id),
        .is_cpu = event_is_cpu(profile, id),
        .is_sched = event_is_sched(profile, id),
        .is_msg = event_is_msg(profile, id),
    };
    traffic_init(&event->traffic, profile, id, view_group_by(source->view));
}

void summary_event_free(struct summary_event *event)
{
    counts_free(&event->places);
    counts_free(&event->processes);
    long_slices_free(&event->slices);
    traffic_free(&event->traffic);
}

/* ---- counting ---- */

static uint32_t id_of_process(struct summary_processes *processes, const struct profile *profile,
                              process_id process)
{
    const struct process_entry *entry = profile_get_process(profile, process);
    struct process_key key = {entry->identity, entry->target, entry->pid};
    uint32_t known = processes->keys.count, id = intern_add(&processes->keys, &key);

    if (id > known)
        processes->newest =
            xreallocarray(processes->newest, processes->keys.capacity, sizeof(*processes->newest));
    processes->newest[id - 1] = process;
    return id;
}

/* The Erlang frame next to the leaf; the leaf if there is none. */
static frame_id call_site(const struct profile *profile, stack_id stack)
{
    frame_id leaf = profile_get_stack(profile, stack)->frame;

    while (stack) {
        const struct stack_node *node = profile_get_stack(profile, stack);

        if (profile_get_frame(profile, node->frame)->kind == FRAME_ERLANG)
            return node->frame;
        stack = node->parent;
    }
    return leaf;
}

void summary_event_add(struct summary_event *event, struct summary_processes *processes,
                       const struct profile *profile, const struct sample *sample)
{
    uint64_t value = sample->values[event->weight.value];
    frame_id place;

    event->samples++;
    event->total += value;
    if (event->is_sched && sample->values[SCHED_LONG])
        long_slices_add(&event->slices, profile, sample);
    if (event->is_msg)
        traffic_add(&event->traffic, sample);
    if (sample->process)
        counts_add(&event->processes, id_of_process(processes, profile, sample->process), value);
    if (!sample->stack)
        return;
    place = event->is_cpu ? profile_get_stack(profile, sample->stack)->frame
                          : call_site(profile, sample->stack);
    counts_add(&event->places, profile_get_frame(profile, place)->symbol, value);
}

/* ---- writing ---- */

/* "WHAT of gc by reclaimed"; CPU time is what everybody expects, and says more. */
static void write_heading(FILE *file, const struct profile *profile,
                          const struct summary_event *event, event_id id, const char *of_cpu,
                          const char *what)
{
    if (event->is_cpu)
        fprintf(file, "\n%s\n", of_cpu);
    else
        fprintf(file, "\n%s of %s by %s\n", what,
                profile_text(profile, profile_get_event(profile, id)->name),
                profile_text(profile, event->weight.name));
}

static void write_share(FILE *file, const struct summary_event *event, uint64_t value)
{
    if (event->is_cpu)
        fprintf(file, "  %9.1f ms", (double)value / 1e6);
    else
        fprintf(file, "  %16s", amount_text(value, event->weight.unit).text);
    fprintf(file, " %5.1f %%  ", percent_of(value, event->total));
}

static void write_places(FILE *file, const struct profile *profile,
                         const struct summary_event *event, event_id id)
{
    struct count_of_id top[TOP];
    size_t count = counts_top(&event->places, top, TOP);

    if (count)
        write_heading(file, profile, event, id, "functions with most CPU time of their own",
                      "call sites");
    for (size_t i = 0; i < count; i++) {
        write_share(file, event, top[i].count);
        fprintf(file, "%s\n", top[i].id ? profile_text(profile, top[i].id) : "[unknown]");
    }
}

static void write_processes(FILE *file, const struct profile *profile,
                            const struct summary_event *event,
                            const struct summary_processes *processes, event_id id)
{
    struct count_of_id top[TOP];
    size_t count = counts_top(&event->processes, top, TOP);

    if (count)
        write_heading(file, profile, event, id, "processes with most CPU time", "processes");
    for (size_t i = 0; i < count; i++) {
        const struct process_entry *process =
            profile_get_process(profile, processes->newest[top[i].id - 1]);
        string_id name = process->name ? process->name : process->label;

        write_share(file, event, top[i].count);
        fprintf(file, "%s  %s\n", profile_text(profile, process->pid),
                profile_text(profile, name ? name : process->initial_call));
    }
}

static void write_long_slices(FILE *file, const struct output_source *source,
                              struct long_slices *slices)
{
    const struct profile *profile = source->profile;

    long_slices_finish(slices);
    if (slices->count)
        fprintf(file, "\nlong schedules: %s seen%s\n", number_text(slices->slices).text,
                slices->slices > slices->count ? ", the longest" : "");
    for (uint32_t i = 0; i < slices->count; i++) {
        const struct long_slice *slice = &slices->longest[i];
        const struct process_entry *process = profile_get_process(profile, slice->process);
        string_id name = process->name ? process->name : process->label;

        fprintf(file, "  %16s  until %9.3f s  %s  %s  in %s\n",
                amount_text(slice->ns, UNIT_NS).text,
                (double)(slice->end - source->header->start_monotonic) / 1e9,
                profile_text(profile, process->pid),
                profile_text(profile, name ? name : process->initial_call),
                slice->place ? profile_text(profile, slice->place) : "[unknown]");
    }
}

/* The words of a message, and its delay, on average. */
static void write_traffic(FILE *file, struct summary_event *event, double seconds)
{
    size_t count;
    struct traffic_edge *edges = traffic_edges(&event->traffic, event->weight.value, &count);

    if (count)
        fputs("\nmessages by sender and receiver\n"
              "         count      a second     words       delay\n",
              file);
    for (size_t i = 0; i < count && i < TOP; i++) {
        const uint64_t *values = edges[i].values;
        double sent = (double)values[MSG_COUNT];
        uint64_t received = values[MSG_RECEIVED];

        fprintf(file, "  %12s  %12.1f  %8.1f  %10s  %s -> %s\n",
                number_text(values[MSG_COUNT]).text, seconds > 0 ? sent / seconds : 0,
                sent > 0 ? (double)values[MSG_WORDS] / sent : 0,
                received ? amount_text(values[MSG_DELAY] / received, UNIT_NS).text : "",
                edges[i].from, edges[i].to);
    }
    free(edges);
}

static void write_row(FILE *file, const char *name, struct buffer *text)
{
    fprintf(file, "  %-16s  %.*s\n", name, (int)text->size, text->data);
    text->size = 0;
}

static void write_average(const struct event_summary *summary, uint32_t value, enum unit unit,
                          struct buffer *text)
{
    uint64_t count = summary->sums[GC_COUNT];

    buffer_format(text, "%s on average",
                  amount_text(count ? summary->sums[value] / count : 0, unit).text);
}

static void write_counted(FILE *file, const struct profile *profile,
                          const struct event_summary *summary)
{
    const struct event_entry *event = profile_get_event(profile, summary->event);
    struct buffer text = {0};

    event_hits_text(summary, &text);
    fprintf(file, ", %.*s\n", (int)text.size, text.data);
    text.size = 0;
    for (uint32_t i = 0; i < event->value_count; i++) {
        if (event_value_is_level(profile_text(profile, event->name), i))
            write_average(summary, i, event->values[i].unit, &text);
        else
            event_sum_text(summary, i, event->values[i].unit, &text);
        write_row(file, profile_text(profile, event->values[i].name), &text);
    }
    for (size_t i = 0; i < summary->histogram_count; i++) {
        if (!histogram_count(&summary->histograms[i].histogram))
            continue;
        event_histogram_text(&summary->histograms[i], &text);
        write_row(file, profile_text(profile, summary->histograms[i].name), &text);
    }
    for (size_t i = 0; i < summary->tally_count; i++) {
        if (!summary->tallies[i].count)
            continue;
        buffer_text(&text, amount_text(summary->tallies[i].count, UNIT_COUNT).text);
        write_row(file, profile_text(profile, summary->tallies[i].name), &text);
    }
    buffer_free(&text);
}

void summary_event_write(FILE *file, struct summary_event *event,
                         const struct summary_processes *processes,
                         const struct output_source *source, event_id id, double seconds)
{
    const struct profile *profile = source->profile;
    const struct event_summary *summary = recording_get_summary(source->recording, id);

    if (summary || !event->is_cpu)
        fprintf(file, "\nevent %s: %s samples",
                profile_text(profile, profile_get_event(profile, id)->name),
                number_text(event->samples).text);
    if (summary)
        write_counted(file, profile, summary);
    else if (!event->is_cpu)
        fputc('\n', file);
    write_places(file, profile, event, id);
    write_processes(file, profile, event, processes, id);
    if (event->is_sched)
        write_long_slices(file, source, &event->slices);
    if (event->is_msg)
        write_traffic(file, event, seconds);
}
