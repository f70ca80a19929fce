// SPDX-License-Identifier: Apache-2.0
#include "recording/recording_internal.h"

#include <stdlib.h>

#include "profile/limits.h"
#include "profile/microstates.h"
#include "recording/recording_format.h"
#include "profile/string_table.h"
#include "util/alloc.h"

#define SAMPLE_FLAGS                                                                               \
    (SAMPLE_ERLANG | SAMPLE_COMPLETE | SAMPLE_TRUNCATED | SAMPLE_NO_LEAF | SAMPLE_NAMED |          \
     SAMPLE_EXACT)

/* Fields are assigned one by one: an initializer list may be evaluated in any order. */

/* Check that an entry was new, and so got the next id, which later records use. */
static void check_new(struct cursor *cursor, uint32_t *count, uint32_t id)
{
    if (id == *count + 1)
        *count = id;
    else
        cursor_fail(cursor, "entry is there already");
}

/* Note the depth of a new entry below `parent`, which may be 0. More than `max` is the problem
 * `problem`. */
static void note_depth(struct cursor *cursor, struct depths *depths, uint32_t id, uint32_t parent,
                       uint32_t max, const char *problem)
{
    depths->of = xgrow(depths->of, &depths->room, id, sizeof(*depths->of));
    depths->of[id] = parent ? depths->of[parent] + 1 : 1;
    if (depths->of[id] > max)
        cursor_fail(cursor, problem);
}

static uint32_t depth_of(const struct depths *depths, uint32_t id)
{
    return id ? depths->of[id] : 0;
}

/* Note the id of an entry in the profile, which had `before` entries of this kind. Only late names
 * make an entry equal to another one. */
static void note_id(const struct record_decoder *decoder, struct cursor *cursor, struct id_map *ids,
                    uint32_t before, uint32_t id)
{
    if (id <= before && !decoder->names.count)
        cursor_fail(cursor, "entry is there already");
    else
        id_map_add(ids, id);
}

void record_decoder_free(struct record_decoder *decoder)
{
    record_base_reset(&decoder->base);
    late_names_free(&decoder->names);
    id_map_free(&decoder->ids.strings);
    id_map_free(&decoder->ids.frames);
    id_map_free(&decoder->ids.stacks);
    free(decoder->stacks.of);
    free(decoder->ancestors.of);
    free(decoder->late.of);
}

static string_id decode_string_id(const struct record_decoder *decoder, struct cursor *cursor)
{
    return id_map_decode(&decoder->ids.strings, cursor, "string is not defined");
}

static target_id decode_target_id(const struct record_decoder *decoder, struct cursor *cursor)
{
    return (target_id)cursor_varint(cursor, decoder->counts.targets, "target is not defined");
}

static uint32_t decode_u32(struct cursor *cursor)
{
    return (uint32_t)cursor_varint(cursor, UINT32_MAX, "number has more than 32 bits");
}

static uint32_t decode_unit(struct cursor *cursor)
{
    uint32_t unit = (uint32_t)cursor_varint(cursor, UNIT_END - 1, "unknown unit");

    if (!unit)
        cursor_fail(cursor, "unknown unit");
    return unit;
}

static uint64_t decode_u64(struct cursor *cursor)
{
    return cursor_varint(cursor, UINT64_MAX, "");
}

static void decode_string(struct record_decoder *decoder, struct cursor *cursor,
                          struct profile *profile)
{
    uint32_t before = profile_counts(profile).strings;
    size_t size = 0;
    const char *text = cursor_counted(cursor, STRING_MAX, &size);

    if (!cursor->problem)
        note_id(decoder, cursor, &decoder->ids.strings, before,
                profile_string(profile, text, size));
}

static void decode_module(struct record_decoder *decoder, struct cursor *cursor,
                          struct profile *profile)
{
    struct module module = {0};

    module.path = decode_string_id(decoder, cursor);
    module.build_id = decode_string_id(decoder, cursor);
    if (!cursor->problem)
        check_new(cursor, &decoder->counts.modules, profile_module(profile, &module));
}

static uint64_t decode_likeness(const struct frame *frame, struct cursor *cursor)
{
    uint64_t likeness = cursor_u64(cursor);

    if (!likeness)
        cursor_fail(cursor, "likeness is 0");
    if (frame->kind != FRAME_NATIVE || !frame->unresolved)
        cursor_fail(cursor, "likeness of a frame that has a name");
    return likeness;
}

static void decode_frame(struct record_decoder *decoder, struct cursor *cursor,
                         struct profile *profile, bool has_likeness)
{
    const struct late_name *late = late_names_find(&decoder->names, decoder->ids.frames.count + 1);
    uint32_t before = profile_counts(profile).frames;
    struct frame frame = {0};

    frame.address = cursor_delta(cursor, decoder->base.address, UINT64_MAX, "");
    frame.symbol = decode_string_id(decoder, cursor);
    frame.module =
        (module_id)cursor_varint(cursor, decoder->counts.modules, "module is not defined");
    frame.file = decode_string_id(decoder, cursor);
    frame.line = decode_u32(cursor);
    frame.kind = (uint8_t)cursor_varint(cursor, FRAME_MARK, "unknown kind of frame");
    frame.unresolved = (uint8_t)cursor_varint(cursor, 1, "flag is neither 0 nor 1");
    if (frame.kind < FRAME_ERLANG)
        cursor_fail(cursor, "unknown kind of frame");
    if (has_likeness)
        frame.likeness = decode_likeness(&frame, cursor);
    if (cursor->problem)
        return;
    decoder->base.address = frame.address;
    if (late) {
        frame.address -= late->before;
        frame.symbol = profile_string_z(profile, late->symbol);
        frame.unresolved = 0;
        frame.likeness = 0;
    }
    note_id(decoder, cursor, &decoder->ids.frames, before, profile_frame(profile, &frame));
}

/* Note how many frames of the stack `own` have late names. */
static void note_late(struct record_decoder *decoder, stack_id own, stack_id parent, frame_id frame)
{
    struct depths *late = &decoder->late;

    if (!decoder->names.count)
        return;
    late->of = xgrow(late->of, &late->room, own, sizeof(*late->of));
    late->of[own] = depth_of(late, parent) + (late_names_find(&decoder->names, frame) != NULL);
}

uint32_t record_decoder_late_frames(const struct record_decoder *decoder)
{
    return decoder->names.count ? depth_of(&decoder->late, decoder->base.sample.stack) : 0;
}

static void decode_stack(struct record_decoder *decoder, struct cursor *cursor,
                         struct profile *profile)
{
    const struct id_map *frames = &decoder->ids.frames;
    struct id_map *ids = &decoder->ids.stacks;
    stack_id own = ids->count + 1, before = profile_counts(profile).stacks;
    uint32_t up = (uint32_t)cursor_varint(cursor, own, "parent of stack is not defined");
    frame_id frame = (frame_id)cursor_varint(cursor, frames->count, "frame is not defined");

    if (!up)
        cursor_fail(cursor, "stack is its own parent");
    if (!frame)
        cursor_fail(cursor, "stack without a frame");
    if (!cursor->problem)
        note_depth(cursor, &decoder->stacks, own, own - up, STACK_FRAMES_MAX, "stack is too deep");
    if (cursor->problem)
        return;
    note_late(decoder, own, own - up, frame);
    note_id(decoder, cursor, ids, before,
            profile_stack(profile, id_map_get(ids, own - up), id_map_get(frames, frame)));
}

static void decode_event(struct record_decoder *decoder, struct cursor *cursor,
                         struct profile *profile)
{
    struct event_entry event = {0};

    if (decoder->sampled)
        cursor_fail(cursor, "event after the first sample");
    event.name = decode_string_id(decoder, cursor);
    event.value_count = (uint32_t)cursor_varint(cursor, EVENT_VALUES, "event has too many values");
    for (uint32_t i = 0; i < event.value_count; i++) {
        event.values[i].name = decode_string_id(decoder, cursor);
        event.values[i].unit = decode_unit(cursor);
    }
    if (!event.name || !event.value_count)
        cursor_fail(cursor, "event without name or values");
    if (!cursor->problem)
        check_new(cursor, &decoder->counts.events, profile_event(profile, &event));
}

static void decode_ancestor(struct record_decoder *decoder, struct cursor *cursor,
                            struct profile *profile)
{
    ancestor_id own = decoder->counts.ancestors + 1;
    uint32_t up = (uint32_t)cursor_varint(cursor, own, "ancestor is not defined");
    string_id name = decode_string_id(decoder, cursor);

    if (!up)
        cursor_fail(cursor, "process is its own ancestor");
    if (!cursor->problem)
        note_depth(cursor, &decoder->ancestors, own, own - up, ANCESTORS_MAX_DEPTH,
                   "process has too many ancestors");
    if (!cursor->problem)
        check_new(cursor, &decoder->counts.ancestors, profile_ancestor(profile, own - up, name));
}

static void decode_process(struct record_decoder *decoder, struct cursor *cursor,
                           struct profile *profile, bool label_is_detail)
{
    struct process_entry process = {.label_is_detail = label_is_detail};

    process.identity = decode_u64(cursor);
    process.target = decode_target_id(decoder, cursor);
    process.pid = decode_string_id(decoder, cursor);
    process.name = decode_string_id(decoder, cursor);
    process.label = decode_string_id(decoder, cursor);
    process.initial_call = decode_string_id(decoder, cursor);
    process.application = decode_string_id(decoder, cursor);
    process.parent =
        (process_id)cursor_varint(cursor, decoder->counts.processes, "parent is not defined");
    process.ancestors =
        (ancestor_id)cursor_varint(cursor, decoder->counts.ancestors, "ancestor is not defined");
    if (!cursor->problem)
        check_new(cursor, &decoder->counts.processes, profile_process(profile, &process));
}

static void decode_thread(struct record_decoder *decoder, struct cursor *cursor,
                          struct profile *profile)
{
    struct thread_entry thread = {0};

    thread.target = decode_target_id(decoder, cursor);
    thread.tid = decode_u32(cursor);
    thread.name = decode_string_id(decoder, cursor);
    thread.scheduler_kind =
        (uint16_t)cursor_varint(cursor, SCHEDULER_DIRTY_IO, "unknown kind of scheduler");
    thread.scheduler_number =
        (uint16_t)cursor_varint(cursor, UINT16_MAX, "number of scheduler is too large");
    if (!cursor->problem)
        check_new(cursor, &decoder->counts.threads, profile_thread(profile, &thread));
}

static void decode_target(struct record_decoder *decoder, struct cursor *cursor,
                          struct profile *profile, bool has_host)
{
    struct target_entry target = {0};

    if (decoder->counts.targets == TARGETS_MAX)
        cursor_fail(cursor, "too many targets");
    target.pid = decode_u32(cursor);
    target.schedulers = decode_u32(cursor);
    target.dirty_cpu_schedulers = decode_u32(cursor);
    target.dirty_io_schedulers = decode_u32(cursor);
    target.processes = decode_u32(cursor);
    target.node = decode_string_id(decoder, cursor);
    target.otp_release = decode_string_id(decoder, cursor);
    target.erts = decode_string_id(decoder, cursor);
    target.flavor = decode_string_id(decoder, cursor);
    target.executable = decode_string_id(decoder, cursor);
    target.container = decode_string_id(decoder, cursor);
    target.layout = decode_string_id(decoder, cursor);
    target.attributes = decode_string_id(decoder, cursor);
    if (has_host)
        target.host = decode_string_id(decoder, cursor);
    if (!cursor->problem)
        check_new(cursor, &decoder->counts.targets, profile_target(profile, &target));
}

static void decode_trace_span(struct record_decoder *decoder, struct cursor *cursor,
                              struct profile *profile)
{
    struct trace_span span = {0};

    span.trace_high = cursor_u64(cursor);
    span.trace_low = cursor_u64(cursor);
    span.span = cursor_u64(cursor);
    if (!(span.trace_high | span.trace_low) || !span.span)
        cursor_fail(cursor, "span without an id");
    if (!cursor->problem)
        check_new(cursor, &decoder->counts.trace_spans, profile_trace_span(profile, &span));
}

/* Decode the event of a sample, and as many values as the event has. */
static void decode_values(struct record_decoder *decoder, struct cursor *cursor,
                          const struct profile *profile, struct sample *sample)
{
    sample->event = (event_id)cursor_varint(cursor, decoder->counts.events, "event is not defined");
    if (!sample->event)
        cursor_fail(cursor, "sample without an event");
    for (uint32_t i = 0;
         !cursor->problem && i < profile_get_event(profile, sample->event)->value_count; i++)
        sample->values[i] = cursor_delta(
            cursor, record_base_value(&decoder->base, sample->event, i), UINT64_MAX, "");
}

static void decode_metrics(struct record_decoder *decoder, struct cursor *cursor,
                           struct sample *sample)
{
    struct metrics *base = record_base_metrics(&decoder->base, sample->process);
    struct metrics *metrics = &sample->metrics;
    uint32_t changed;

    metrics->known = (uint32_t)cursor_varint(cursor, METRICS_ALL, "unknown metrics") ^ base->known;
    changed = (uint32_t)cursor_varint(cursor, METRICS_ALL, "unknown metrics");
    if (changed & ~metrics->known)
        cursor_fail(cursor, "metric changes that is not known");
    for (int i = 0; i < METRICS; i++) {
        if (metrics_know(metrics, (enum metric)i))
            metrics->values[i] = base->values[i];
        if (changed >> i & 1)
            metrics->values[i] = cursor_delta(cursor, base->values[i], UINT64_MAX, "");
    }
    if (!cursor->problem)
        record_base_set_metrics(base, metrics);
}

static trace_span_id decode_trace_span_id(const struct record_decoder *decoder,
                                          struct cursor *cursor, bool may_be_none)
{
    trace_span_id id =
        (trace_span_id)cursor_delta(cursor, decoder->base.sample.trace_span,
                                    decoder->counts.trace_spans, "span is not defined");

    if (!id && !may_be_none)
        cursor_fail(cursor, "sample of no span");
    return id;
}

static bool decode_sample(struct record_decoder *decoder, struct cursor *cursor,
                          const struct profile *profile, uint64_t type, struct sample *ret_sample)
{
    const struct profile_counts *counts = &decoder->counts;
    const struct id_map *stacks = &decoder->ids.stacks;
    const struct sample *base = &decoder->base.sample;
    uint64_t since = cursor_varint(cursor, UINT64_MAX - base->time, "time is too large");
    struct sample sample = {0};

    sample.time = base->time + since;
    decode_values(decoder, cursor, profile, &sample);
    sample.stack =
        (stack_id)cursor_delta(cursor, base->stack, stacks->count, "stack is not defined");
    sample.process = (process_id)cursor_delta(cursor, base->process, counts->processes,
                                              "process is not defined");
    sample.thread =
        (thread_id)cursor_delta(cursor, base->thread, counts->threads, "thread is not defined");
    sample.peer = (process_id)cursor_varint(cursor, counts->processes, "process is not defined");
    sample.detail = decode_string_id(decoder, cursor);
    sample.cpu = (uint16_t)cursor_varint(cursor, UINT16_MAX, "number of CPU is too large");
    sample.status = (uint8_t)cursor_varint(cursor, STATUS_COUNT - 1, "unknown status");
    sample.activity = (uint8_t)cursor_varint(cursor, ACTIVITY_COUNT - 1, "unknown activity");
    sample.microstate = (uint8_t)cursor_varint(cursor, MICROSTATE_COUNT - 1, "unknown microstate");
    sample.flags = (uint8_t)cursor_varint(cursor, SAMPLE_FLAGS, "unknown flags");
    if (type != RECORD_SAMPLE)
        sample.trace_span = decode_trace_span_id(decoder, cursor, type == RECORD_SAMPLE_OF_SLICE);
    if (type == RECORD_SAMPLE_OF_SLICE)
        sample.slice = cursor_varint(cursor, UINT64_MAX, "");
    if (sample.process && !cursor->problem)
        decode_metrics(decoder, cursor, &sample);
    if (sample.time < decoder->last)
        cursor_fail(cursor, "time goes back");
    if (cursor->problem)
        return false;
    decoder->sampled = true;
    decoder->last = sample.time;
    decoder->frames += depth_of(&decoder->stacks, sample.stack);
    decoder->base.sample = sample;
    *ret_sample = sample;
    ret_sample->stack = id_map_get(stacks, sample.stack);
    return true;
}

bool record_decode(struct record_decoder *decoder, struct cursor *cursor, struct profile *profile,
                   struct sample *ret_sample)
{
    uint64_t type = cursor_varint(cursor, UINT64_MAX, "");

    switch (type) {
    case RECORD_SAMPLE:
    case RECORD_SAMPLE_OF_TRACE:
    case RECORD_SAMPLE_OF_SLICE:
        return decode_sample(decoder, cursor, profile, type, ret_sample);
    case RECORD_TRACE_SPAN:
        decode_trace_span(decoder, cursor, profile);
        break;
    case RECORD_STRING:
        decode_string(decoder, cursor, profile);
        break;
    case RECORD_MODULE:
        decode_module(decoder, cursor, profile);
        break;
    case RECORD_FRAME:
    case RECORD_FRAME_OF_LIKENESS:
        decode_frame(decoder, cursor, profile, type == RECORD_FRAME_OF_LIKENESS);
        break;
    case RECORD_STACK:
        decode_stack(decoder, cursor, profile);
        break;
    case RECORD_EVENT:
        decode_event(decoder, cursor, profile);
        break;
    case RECORD_ANCESTOR:
        decode_ancestor(decoder, cursor, profile);
        break;
    case RECORD_PROCESS:
    case RECORD_PROCESS_OF_DETAIL:
        decode_process(decoder, cursor, profile, type == RECORD_PROCESS_OF_DETAIL);
        break;
    case RECORD_THREAD:
        decode_thread(decoder, cursor, profile);
        break;
    case RECORD_TARGET:
    case RECORD_TARGET_OF_HOST:
        decode_target(decoder, cursor, profile, type == RECORD_TARGET_OF_HOST);
        break;
    default:
        cursor_fail(cursor, "unknown kind of record");
    }
    return false;
}
