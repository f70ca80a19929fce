// SPDX-License-Identifier: Apache-2.0
/* Reads folded stacks: "root;...;leaf COUNT". They have no time, so all samples are at 0. */
#include "input/input_internal.h"

#include <stdlib.h>

#include "input/perf_internal.h"
#include "util/alloc.h"
#include "util/buffer.h"
#include "util/encode.h"

/* The only event. */
#define EVENT "stacks"

/* Bytes of frame texts to cache. */
#define FRAME_TEXT_MAX ((size_t)16 << 20)

enum { INNER, OUTERMOST }; /* the root frame says who ran */

/* A frame of the previous line. Lines are usually sorted, so neighbours begin alike. */
struct previous_frame {
    size_t end; /* of the frame, in bytes of the line: the place of its ';' */
    stack_id stack;
};

struct folded_text {
    struct input_text *text;
    struct import import;
    struct text_cache *frames;
    struct buffer scratch;
    event_id event;
    struct buffer before;          /* the stack of the previous line... */
    struct previous_frame *levels; /* ...and its frames, root first */
    size_t depth, room;
};

/* The place of " COUNT" at the end of the line, or 0 if there is none. */
static size_t find_count(struct span line)
{
    size_t at = line.size;

    while (at && is_digit(line.at[at - 1]))
        at--;
    return at < line.size && at > 1 && line.at[at - 1] == ' ' ? at - 1 : 0;
}

bool folded_text_line(struct span line)
{
    return find_count(line) > 0;
}

static frame_id make_frame(struct folded_text *folded, struct span text, uint32_t place)
{
    struct profile *profile = folded->import.profile;
    enum frame_kind kind = perf_stack_kind_of_text(text);

    folded->scratch.size = 0;
    encode_undo_escapes(&folded->scratch, text.at, text.size);
    return profile_frame(
        profile, &(struct frame){
                     .symbol = profile_string(profile, folded->scratch.data, folded->scratch.size),
                     .kind = (uint8_t)(place == OUTERMOST ? FRAME_MARK : kind),
                 });
}

static frame_id take_frame(struct folded_text *folded, struct span text, uint32_t place)
{
    frame_id id = input_text_cache_get(folded->frames, place, text);

    if (!id) {
        id = make_frame(folded, text, place);
        input_text_cache_put(folded->frames, place, text, id);
    }
    return id;
}

/* The size of the common beginning. It compares eight bytes at a time, because most of a sorted
 * file is only read here. */
static size_t size_of_same(struct span text, const struct buffer *other)
{
    size_t most = text.size < other->size ? text.size : other->size, size = 0;
    uint64_t a, b;

    for (; most - size >= sizeof(a); size += sizeof(a)) {
        memcpy(&a, text.at + size, sizeof(a));
        memcpy(&b, other->data + size, sizeof(b));
        if (a != b)
            break;
    }
    while (size < most && text.at[size] == other->data[size])
        size++;
    return size;
}

/* Keep only those frames of the previous line with which this line begins, but does not end. The
 * last frame of a line may be its only frame, which has another kind. */
static void keep_same_levels(struct folded_text *folded, struct span text)
{
    size_t same = size_of_same(text, &folded->before);

    while (folded->depth && folded->levels[folded->depth - 1].end >= same)
        folded->depth--;
}

static void push_level(struct folded_text *folded, size_t end, stack_id stack)
{
    folded->levels =
        xgrow(folded->levels, &folded->room, folded->depth, sizeof(struct previous_frame));
    folded->levels[folded->depth++] = (struct previous_frame){end, stack};
}

static stack_id take_stack(struct folded_text *folded, struct span text)
{
    stack_id stack = 0;
    size_t at = 0;

    keep_same_levels(folded, text);
    if (folded->depth) {
        at = folded->levels[folded->depth - 1].end + 1;
        stack = folded->levels[folded->depth - 1].stack;
    }
    for (size_t end; at <= text.size; at = end + 1) {
        const char *separator = memchr(text.at + at, ';', text.size - at);

        end = separator ? (size_t)(separator - text.at) : text.size;
        /* The only frame of a stack may be any function. */
        stack = profile_stack(folded->import.profile, stack,
                              take_frame(folded, (struct span){text.at + at, end - at},
                                         separator && !folded->depth ? OUTERMOST : INNER));
        push_level(folded, end, stack);
    }
    folded->before.size = 0;
    buffer_put(&folded->before, text.at, text.size);
    return stack;
}

static int take_line(struct folded_text *folded, struct span line, struct error *error)
{
    struct sample sample = {.event = folded->event, .flags = SAMPLE_NAMED};
    size_t end = find_count(line);
    struct span count = span_skip(line, end + 1);

    if (!end)
        return input_text_fail(
            folded->text, 0, error,
            "this is not a folded stack: it does not end in a space and a whole number");
    if (!span_take_number(&count, WEIGHT_MOST, &sample.values[0]))
        return input_text_fail(folded->text, 0, error, "the count is too large");
    line.size = end;
    if (!span_is(line, NO_STACK)) {
        sample.stack = take_stack(folded, line);
        if (import_frames(&folded->import, folded->text, folded->depth, error))
            return -1;
    }
    return import_sample(&folded->import, &sample, input_text_bytes(folded->text), error);
}

static int read_lines(struct folded_text *folded, struct error *error)
{
    struct span line;
    int got = 0, failed = 0;

    if (input_text_rewind(folded->text, error))
        return -1;
    while (!failed && (got = input_text_line(folded->text, &line, error)) > 0)
        if (line.size && !span_begins(line, "# "))
            failed = take_line(folded, line, error);
    return failed || got < 0 ? -1 : 0;
}

static event_id define_event(struct profile *profile)
{
    struct event_entry event = {.name = profile_string_z(profile, EVENT), .value_count = 1};

    event.values[0].name = profile_string_z(profile, "samples");
    event.values[0].unit = UNIT_COUNT;
    return profile_event(profile, &event);
}

int folded_text_import(struct input_text *text, const char *directory, struct error *error)
{
    struct folded_text folded = {
        .text = text,
        .import = import_new(directory, input_text_name(text)),
        .frames = input_text_cache_new(FRAME_TEXT_MAX),
    };
    int fd = -1;

    folded.event = define_event(folded.import.profile);
    if (!read_lines(&folded, error))
        fd = import_finish(&folded.import, error);
    import_free(&folded.import);
    input_text_cache_free(folded.frames);
    buffer_free(&folded.scratch);
    buffer_free(&folded.before);
    free(folded.levels);
    return fd;
}
