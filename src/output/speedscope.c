// SPDX-License-Identifier: Apache-2.0
/*
 * speedscope's own format (https://www.speedscope.app/file-format-schema.json): a profile for each
 * thread, and for each process if processes are selected. Samples are in order of time; neighbours
 * with the same stack are merged.
 *
 * With events cpu and wall the axis is the time that passed: a sample stands for the time that ends
 * with it, and an empty stack for the time without samples.
 */
#include "output/formats.h"

#include <stdlib.h>
#include <string.h>

#include "output/json/json.h"
#include "output/summary/summary_text.h"
#include "output/weight.h"
#include "profile/events.h"
#include "util/alloc.h"
#include "util/buffer.h"
#include "util/intern.h"
#include "util/number.h"

struct sample_run {
    view_stack_id stack; /* 0: no sample in this time */
    uint64_t weight;
};

/* The samples of one thread or one process. */
struct track {
    thread_id thread;   /* 0: none */
    process_id process; /* 0: the track is of a thread */
    struct sample_run *runs;
    size_t count, room;
    uint64_t begin, total; /* ns, CLOCK_MONOTONIC, if the axis is time; sum of the weights */
};

/* Numbers of tracks, from 1, by thread id or process id. */
struct track_index {
    uint32_t *of;
    size_t size;
};

struct speedscope_frame {
    const char *text, *file; /* equal texts of one view are the same pointer */
    uint64_t line;
};

struct speedscope {
    FILE *file;
    struct output_source source;
    struct weight weight;
    bool of_processes;
    bool is_timed;  /* the axis is the time that passed */
    uint64_t begin; /* the earliest of all tracks */
    struct track *tracks;
    size_t count;
    struct track_index by_thread, by_process;
    struct intern frames, processes; /* struct speedscope_frame, struct speedscope_process_key */
    struct track_index of_key;       /* by id in `processes` */
};

/* A process, which can have several entries. */
struct speedscope_process_key {
    uint64_t identity;
    target_id target;
};

/* True if the weight of a sample of one thread or process is the time that it stands for. */
static bool is_time_that_passed(const struct output_source *source, const struct weight *weight)
{
    const struct profile *profile = source->profile;
    const char *event = profile_text(profile, profile_get_event(profile, source->event)->name);

    return (!strcmp(event, EVENT_CPU) || !strcmp(event, EVENT_WALL)) && weight->unit == UNIT_NS &&
           !weight->is_metric && !weight->is_one;
}

static void *speedscope_begin(FILE *file, const struct output_source *source, struct error *error)
{
    struct speedscope *speedscope = xcalloc(1, sizeof(*speedscope));
    const struct selection_options *selection = source->selection;

    (void)error;
    speedscope->file = file;
    speedscope->source = *source;
    speedscope->weight = weight_with_unit(source, source->event);
    speedscope->is_timed = is_time_that_passed(source, &speedscope->weight);
    speedscope->begin = UINT64_MAX;
    speedscope->of_processes =
        selection && (selection->processes.count || selection->children_of.count ||
                      selection->descendants_of.count);
    intern_init(&speedscope->frames, sizeof(struct speedscope_frame),
                sizeof(struct speedscope_frame));
    intern_init(&speedscope->processes, sizeof(struct speedscope_process_key),
                offsetof(struct speedscope_process_key, target) + sizeof(target_id));
    return speedscope;
}

/* ---- samples ---- */

static uint32_t *index_at(struct track_index *index, uint32_t id)
{
    index->of = xgrow(index->of, &index->size, id, sizeof(*index->of));
    return &index->of[id];
}

static uint32_t new_track(struct speedscope *speedscope, thread_id thread, process_id process)
{
    speedscope->tracks =
        xreallocarray(speedscope->tracks, speedscope->count + 1, sizeof(*speedscope->tracks));
    speedscope->tracks[speedscope->count++] = (struct track){.thread = thread, .process = process};
    return (uint32_t)speedscope->count;
}

/* Return the track of a process, which can have another entry for an earlier name. */
static uint32_t track_of_process(struct speedscope *speedscope, process_id id)
{
    const struct process_entry *process = profile_get_process(speedscope->source.profile, id);
    const struct speedscope_process_key key = {process->identity, process->target};
    uint32_t *track = index_at(&speedscope->of_key, intern_add(&speedscope->processes, &key));

    if (*track)
        speedscope->tracks[*track - 1].process = id;
    else
        *track = new_track(speedscope, 0, id);
    return *track;
}

static void add_run(struct track *track, view_stack_id stack, uint64_t weight)
{
    struct sample_run *last = track->count ? &track->runs[track->count - 1] : NULL;

    track->total = saturating_sum(track->total, weight);
    if (last && last->stack == stack) {
        last->weight = saturating_sum(last->weight, weight);
        return;
    }
    track->runs = xgrow(track->runs, &track->room, track->count, sizeof(*track->runs));
    track->runs[track->count++] = (struct sample_run){stack, weight};
}

/* Add the time without samples between the last sample of the track and one of this weight. Weights
 * are scaled, so samples can overlap. Then they push later ones along the axis. */
static void add_gap(struct speedscope *speedscope, struct track *track, uint64_t time,
                    uint64_t weight)
{
    uint64_t begin = time > weight ? time - weight : 0,
             end = saturating_sum(track->begin, track->total);

    if (!track->count)
        track->begin = begin;
    else if (begin > end)
        add_run(track, 0, begin - end);
    if (begin < speedscope->begin)
        speedscope->begin = begin;
}

static void add_to_track(struct speedscope *speedscope, uint32_t number, view_stack_id stack,
                         const struct sample *sample, uint64_t weight)
{
    struct track *track = &speedscope->tracks[number - 1];

    if (speedscope->is_timed && (track->thread || track->process))
        add_gap(speedscope, track, sample->time, weight);
    add_run(track, stack, weight);
}

static int speedscope_sample(void *state, const struct sample *sample, struct error *error)
{
    struct speedscope *speedscope = state;
    uint64_t weight = sample_weight(&speedscope->weight, sample);
    view_stack_id stack = view_of_sample(speedscope->source.view, sample);
    uint32_t *track;

    (void)error;
    if (!weight)
        return 0;
    track = index_at(&speedscope->by_thread, sample->thread);
    if (!*track)
        *track = new_track(speedscope, sample->thread, 0);
    add_to_track(speedscope, *track, stack, sample, weight);
    if (!speedscope->of_processes || !sample->process)
        return 0;
    track = index_at(&speedscope->by_process, sample->process);
    if (!*track)
        *track = track_of_process(speedscope, sample->process);
    add_to_track(speedscope, *track, stack, sample, weight);
    return 0;
}

/* ---- writing ---- */

static void thread_text(const struct profile *profile, thread_id id, struct buffer *text)
{
    static const char *const kinds[] = {
        [SCHEDULER_NORMAL] = "scheduler",
        [SCHEDULER_DIRTY_CPU] = "dirty CPU scheduler",
        [SCHEDULER_DIRTY_IO] = "dirty IO scheduler",
    };
    const struct thread_entry *thread;

    if (!id) {
        buffer_text(text, "on no scheduler");
        return;
    }
    thread = profile_get_thread(profile, id);
    if (thread->scheduler_kind == SCHEDULER_NONE)
        buffer_format(text, "thread %s (%u)", profile_text(profile, thread->name), thread->tid);
    else
        buffer_format(text, "%s %u", kinds[thread->scheduler_kind], thread->scheduler_number);
    if (profile_counts(profile).targets > 1 && thread->target)
        buffer_format(text, " of process %u", profile_get_target(profile, thread->target)->pid);
}

static void put_name(struct json *json, const struct profile *profile, const struct track *track)
{
    struct buffer text = {0};

    if (track->process)
        summary_text_of_process(profile, track->process, &text);
    else
        thread_text(profile, track->thread, &text);
    buffer_byte(&text, '\0');
    json_text(json, "name", text.data);
    buffer_free(&text);
}

static const char *unit_of(const struct weight *weight)
{
    if (weight->unit == UNIT_NS)
        return "nanoseconds";
    return weight->unit == UNIT_BYTES ? "bytes" : "none";
}

static void put_stack(struct json *json, struct speedscope *speedscope, view_stack_id stack)
{
    static const struct view_frame no_stack = {.text = "[no stack]", .file = ""};
    const struct view_frame *frames = NULL;
    size_t count = stack ? view_frames(speedscope->source.view, stack, &frames) : 0;

    if (stack && !count) {
        frames = &no_stack;
        count = 1;
    }
    json_open(json, NULL, '[');
    for (size_t i = 0; i < count; i++) {
        const struct speedscope_frame frame = {frames[i].text, frames[i].file, frames[i].line};

        json_number(json, NULL, intern_add(&speedscope->frames, &frame) - 1);
    }
    json_close(json, ']');
}

/* The time before the first sample of a track, so that all tracks begin at the same time. */
static uint64_t time_before(const struct speedscope *speedscope, const struct track *track)
{
    return track->begin ? track->begin - speedscope->begin : 0;
}

static void put_track(struct json *json, struct speedscope *speedscope, const struct track *track)
{
    uint64_t before = time_before(speedscope, track);

    json_open_lines(json, NULL, '{');
    json_text(json, "type", "sampled");
    put_name(json, speedscope->source.profile, track);
    json_text(json, "unit", unit_of(&speedscope->weight));
    json_number(json, "startValue", 0);
    json_number(json, "endValue", saturating_sum(before, track->total));
    json_open_lines(json, "samples", '[');
    if (before)
        put_stack(json, speedscope, 0);
    for (size_t i = 0; i < track->count; i++)
        put_stack(json, speedscope, track->runs[i].stack);
    json_close(json, ']');
    json_open(json, "weights", '[');
    if (before)
        json_number(json, NULL, before);
    for (size_t i = 0; i < track->count; i++)
        json_number(json, NULL, track->runs[i].weight);
    json_close(json, ']');
    json_close(json, '}');
}

/* Threads of each target before processes: schedulers by kind and number, then other threads.
 * Processes by id. */
static int compare_tracks(const void *a, const void *b, void *context)
{
    const struct track *x = a, *y = b;
    const struct profile *profile = context;
    static const struct thread_entry none = {.target = UINT32_MAX};
    const struct thread_entry *s = x->thread ? profile_get_thread(profile, x->thread) : &none;
    const struct thread_entry *t = y->thread ? profile_get_thread(profile, y->thread) : &none;
    int kind_s = s->scheduler_kind ? s->scheduler_kind : SCHEDULER_DIRTY_IO + 1;
    int kind_t = t->scheduler_kind ? t->scheduler_kind : SCHEDULER_DIRTY_IO + 1;

    if (!x->process != !y->process)
        return x->process ? 1 : -1;
    if (x->process)
        return (x->process > y->process) - (x->process < y->process);
    if (s->target != t->target)
        return (s->target > t->target) - (s->target < t->target);
    if (kind_s != kind_t)
        return kind_s - kind_t;
    if (s->scheduler_number != t->scheduler_number)
        return s->scheduler_number - t->scheduler_number;
    return (s->tid > t->tid) - (s->tid < t->tid);
}

static void put_frames(struct json *json, const struct intern *frames)
{
    json_open_lines(json, "frames", '[');
    for (uint32_t id = 1; id <= frames->count; id++) {
        const struct speedscope_frame *frame = intern_get(frames, id);

        json_open(json, NULL, '{');
        json_text(json, "name", frame->text);
        if (frame->file[0])
            json_text(json, "file", frame->file);
        json_number_if(json, "line", frame->line);
        json_close(json, '}');
    }
    json_close(json, ']');
}

static void put_exporter(struct json *json, const char *version)
{
    char *exporter = xasprintf("beamflame %s", version);

    json_text(json, "exporter", exporter);
    free(exporter);
}

static void write_all(struct speedscope *speedscope)
{
    const struct output_source *source = &speedscope->source;
    struct json json = {speedscope->file, .compact = true};

    if (speedscope->count)
        qsort_r(speedscope->tracks, speedscope->count, sizeof(*speedscope->tracks), compare_tracks,
                (void *)source->profile);
    json_open_lines(&json, NULL, '{');
    json_text(&json, "$schema", "https://www.speedscope.app/file-format-schema.json");
    put_exporter(&json, source->header->version);
    json_text(&json, "name", source->header->command);
    json_open_lines(&json, "profiles", '[');
    for (size_t i = 0; i < speedscope->count; i++)
        put_track(&json, speedscope, &speedscope->tracks[i]);
    json_close(&json, ']');
    json_open(&json, "shared", '{');
    put_frames(&json, &speedscope->frames);
    json_close(&json, '}');
    json_close(&json, '}');
    putc('\n', speedscope->file);
}

static int speedscope_finish(void *state, const struct recording_totals *totals,
                             struct error *error)
{
    struct speedscope *speedscope = state;

    (void)error;
    if (totals)
        write_all(speedscope);
    for (size_t i = 0; i < speedscope->count; i++)
        free(speedscope->tracks[i].runs);
    free(speedscope->tracks);
    free(speedscope->by_thread.of);
    free(speedscope->by_process.of);
    free(speedscope->of_key.of);
    intern_free(&speedscope->frames);
    intern_free(&speedscope->processes);
    free(speedscope);
    return 0;
}

const struct output_format speedscope_format = {
    .name = "speedscope",
    .suffixes = {".speedscope.json", ".speedscope.json.gz"},
    .one_event = true,
    .begin = speedscope_begin,
    .sample = speedscope_sample,
    .finish = speedscope_finish,
};
