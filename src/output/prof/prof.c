// SPDX-License-Identifier: Apache-2.0
/* The format of `beamflame prof`: adds up samples, and writes the tables. */
#include "output/prof/prof.h"

#include <stdlib.h>
#include <string.h>

#include "output/formats.h"
#include "output/prof/prof_events.h"
#include "output/prof/prof_tables.h"
#include "util/alloc.h"

static const char NO_FUNCTION[] = "[no Erlang function]";

/* What sums are by: `what` is the name of a function, or an event of calls. */
struct sum_key {
    uint32_t process, what;
};

struct sums {
    struct intern keys;
    struct rows rows; /* by id of the key */
};

/* A process, whatever its name. */
struct process_key {
    uint64_t identity;
    target_id target;
    string_id pid;
};

struct prof {
    FILE *file;
    struct output_source source;
    struct prof_events events;
    struct sums own, calls;
    struct intern processes;
    process_id *latest; /* by number of the process: its newest entry */
    size_t latest_room;
    struct rows whole; /* by number of the process: its own time or words */
};

static void add(struct sums *sums, const struct sum_key *key, const struct row_whole *whole,
                const struct row_part *part)
{
    rows_add(&sums->rows, intern_add(&sums->keys, key), whole, part);
}

static void *prof_begin(FILE *file, const struct output_source *source, struct error *error)
{
    struct prof_events events;
    struct prof *prof;

    if (prof_events_choose(&events, source->profile, source->prof->type, error))
        return NULL;
    prof = xcalloc(1, sizeof(*prof));
    prof->file = file;
    prof->source = *source;
    prof->events = events;
    intern_init(&prof->own.keys, sizeof(struct sum_key), sizeof(struct sum_key));
    intern_init(&prof->calls.keys, sizeof(struct sum_key), sizeof(struct sum_key));
    intern_init(&prof->processes, sizeof(struct process_key), sizeof(struct process_key));
    return prof;
}

/* Return the number of the sample's process, 0 if none ran, or if all have one table. */
static uint32_t number_of_process(struct prof *prof, const struct sample *sample)
{
    const struct process_entry *entry;
    struct process_key key;
    uint32_t number;

    if (prof->source.prof->per == PROF_PER_TOTAL || !sample->process)
        return 0;
    entry = profile_get_process(prof->source.profile, sample->process);
    key = (struct process_key){entry->identity, entry->target, entry->pid};
    number = intern_add(&prof->processes, &key);
    prof->latest = xgrow(prof->latest, &prof->latest_room, number, sizeof(*prof->latest));
    prof->latest[number] = sample->process;
    return number;
}

/* Return the name of the Erlang function or BIF nearest to the leaf; 0 if there is none. */
static string_id function_of(const struct profile *profile, stack_id stack)
{
    while (stack) {
        const struct stack_node *node = profile_get_stack(profile, stack);
        const struct frame *frame = profile_get_frame(profile, node->frame);

        if (frame->kind == FRAME_ERLANG || frame->kind == FRAME_BIF)
            return frame->symbol;
        stack = node->parent;
    }
    return 0;
}

static int prof_sample(void *state, const struct sample *sample, struct error *error)
{
    struct prof *prof = state;
    struct prof_event *event = &prof->events.of[sample->event];
    struct sum_key key;
    struct row_part part;

    (void)error;
    if (!event->is_used)
        return 0;
    part = row_interval_add_whole(&event->whole, sample, event->value);
    key.process = number_of_process(prof, sample);
    if (sample->event != prof->events.own) {
        key.what = sample->event;
        add(&prof->calls, &key, &event->whole, &part);
        return 0;
    }
    key.what = function_of(prof->source.profile, sample->stack);
    add(&prof->own, &key, &event->whole, &part);
    rows_add(&prof->whole, key.process, &event->whole, &part);
    return 0;
}

/* ---- rows ---- */

static struct prof_row row_of(const struct prof *prof, const struct prof_event *event,
                              const struct row_sum *sum, uint32_t process, const char *function)
{
    const struct function_name *pattern = prof->source.prof->pattern;
    double half = row_interval_half(sum, &event->whole, &event->cover);

    return (struct prof_row){
        .function = function,
        .process = process,
        .own = sum->value,
        .samples = sum->samples,
        .own_half = half,
        .is_selected = !pattern || function_name_matches(pattern, function),
        .is_chance = row_interval_is_chance(sum, &event->cover, half),
    };
}

/* Set the calls of a row. A process whose calls were counted and that has none has 0, but windows
 * can have missed some. */
static void find_calls(const struct prof *prof, struct prof_row *row)
{
    const struct row_sum none = {0};
    event_id id = prof_events_of_function(&prof->events, row->function);
    const struct prof_event *event = &prof->events.of[id];
    uint32_t sum = id ? intern_find(&prof->calls.keys, &(struct sum_key){row->process, id}) : 0;
    const struct row_sum *calls = sum ? &prof->calls.rows.of[sum] : &none;

    row->has_calls = id;
    if (!id)
        return;
    row->calls = calls->value;
    row->calls_half = row_interval_half(calls, &event->whole, &event->cover);
}

static struct prof_row *rows_of_own(const struct prof *prof, size_t *ret_count)
{
    const struct profile *profile = prof->source.profile;
    struct prof_row *rows = xcalloc(prof->own.keys.count + 1, sizeof(*rows));

    for (uint32_t id = 1; id <= prof->own.keys.count; id++) {
        const struct sum_key *key = intern_get(&prof->own.keys, id);

        rows[id - 1] =
            row_of(prof, &prof->events.of[prof->events.own], &prof->own.rows.of[id], key->process,
                   key->what ? profile_text(profile, key->what) : NO_FUNCTION);
        find_calls(prof, &rows[id - 1]);
    }
    *ret_count = prof->own.keys.count;
    return rows;
}

static struct prof_row *rows_of_calls(const struct prof *prof, size_t *ret_count)
{
    struct prof_row *rows = xcalloc(prof->calls.keys.count + 1, sizeof(*rows));

    for (uint32_t id = 1; id <= prof->calls.keys.count; id++) {
        const struct sum_key *key = intern_get(&prof->calls.keys, id);
        const struct prof_event *event = &prof->events.of[key->what];
        struct prof_row *row = &rows[id - 1];

        *row = row_of(prof, event, &prof->calls.rows.of[id], key->process, event->function);
        row->has_calls = true;
        row->calls = row->own;
        row->calls_half = row->own_half;
    }
    *ret_count = prof->calls.keys.count;
    return rows;
}

static struct prof_sum *sums_of_processes(const struct prof *prof)
{
    const struct prof_event *event = &prof->events.of[prof->events.own];
    struct prof_sum *sums = xcalloc(prof->processes.count + 1, sizeof(*sums));

    for (uint32_t i = 0; i <= prof->processes.count; i++) {
        sums[i].process = i ? prof->latest[i] : 0;
        if (!prof->events.own || i >= prof->whole.size)
            continue;
        sums[i].is_known = true;
        sums[i].half = row_interval_half(&prof->whole.of[i], &event->whole, &event->cover);
        sums[i].is_chance = row_interval_is_chance(&prof->whole.of[i], &event->cover, sums[i].half);
    }
    return sums;
}

/* ---- writing ---- */

static int check_tables(const struct prof *prof, const struct prof_tables *tables,
                        struct error *error)
{
    const struct profile *profile = prof->source.profile;
    event_id event = prof->events.own;

    if (tables->has_selected)
        return 0;
    if (tables->own)
        return error_set(error, ERROR_NO_SAMPLES, "no function of the samples fits --pattern");
    if (!event)
        return error_set(error, ERROR_NO_SAMPLES, "no sample counts calls");
    return error_set(error, ERROR_NO_SAMPLES, "no sample of event %s counts",
                     profile_text(profile, profile_get_event(profile, event)->name));
}

static int write_tables(const struct prof *prof, struct error *error)
{
    static void (*const writers[])(FILE *, const struct prof_tables *) = {
        [PROF_TEXT] = prof_text_write,
        [PROF_TPROF] = prof_text_write_tprof,
        [PROF_CSV] = prof_data_write_csv,
        [PROF_JSON] = prof_data_write_json,
    };
    const struct prof_options *options = prof->source.prof;
    struct prof_tables tables = {
        .options = options, .source = &prof->source, .event = prof->events.own};
    struct prof_sum *sums = sums_of_processes(prof);
    size_t count;
    int result;
    struct prof_row *rows =
        prof->events.own ? rows_of_own(prof, &count) : rows_of_calls(prof, &count);

    prof_tables_make(&tables, rows, count, sums);
    result = check_tables(prof, &tables, error);
    if (!result)
        writers[options->form](prof->file, &tables);
    prof_tables_free(&tables);
    free(sums);
    return result;
}

static int prof_finish(void *state, const struct recording_totals *totals, struct error *error)
{
    struct prof *prof = state;
    int result = 0;

    if (totals) {
        prof_events_cover(&prof->events, &prof->source, totals->left_out > 0);
        result = write_tables(prof, error);
    }
    prof_events_free(&prof->events);
    intern_free(&prof->own.keys);
    intern_free(&prof->calls.keys);
    intern_free(&prof->processes);
    rows_free(&prof->own.rows);
    rows_free(&prof->calls.rows);
    rows_free(&prof->whole);
    free(prof->latest);
    free(prof);
    return result;
}

const struct output_format prof_format = {
    .name = "prof",
    .lists_idle = true,
    .begin = prof_begin,
    .sample = prof_sample,
    .finish = prof_finish,
};
