// SPDX-License-Identifier: Apache-2.0
#include "output/summary/summary_internal.h"

#include <stdlib.h>
#include <string.h>

#include "output/number_text.h"
#include "profile/events.h"
#include "view/root_frame.h"
#include "util/alloc.h"
#include "util/buffer.h"

enum { CALLERS_MAX = 4 }; /* shown of a stack */

/* The greatest gap between samples of one slice, in ns: the clock is read anew for each. */
static const uint64_t GAP_MAX = 1000000;

void long_schedules_free(struct long_schedules *slices)
{
    free(slices->open);
}

static void keep(struct long_schedules *slices, struct long_schedule *slice)
{
    uint32_t at = slices->count;

    slices->slices++;
    while (at && slices->longest[at - 1].ns < slice->ns)
        at--;
    if (at < LONG_SLICES_MAX) {
        if (slices->count < LONG_SLICES_MAX)
            slices->count++;
        memmove(&slices->longest[at + 1], &slices->longest[at],
                (slices->count - at - 1) * sizeof(*slice));
        slices->longest[at] = *slice;
    }
    *slice = (struct long_schedule){0};
}

static struct long_schedule *open_on(struct long_schedules *slices, thread_id thread)
{
    slices->open = xgrow(slices->open, &slices->open_count, thread, sizeof(*slices->open));
    return &slices->open[thread];
}

void long_schedules_add(struct long_schedules *slices, const struct sample *sample)
{
    struct long_schedule *slice = open_on(slices, sample->thread);
    uint64_t ns = sample->slice, start = sample->time - ns;

    if (!sample->process)
        return;
    if (slice->ns && (slice->process != sample->process || start > slice->end + GAP_MAX))
        keep(slices, slice);
    slice->process = sample->process;
    slice->end = sample->time;
    slice->ns += ns;
    if (ns > slice->stack_ns) {
        slice->stack_ns = ns;
        slice->stack = sample->stack;
    }
    if (sample->status != STATUS_RUNNING)
        keep(slices, slice);
}

void long_schedules_finish(struct long_schedules *slices)
{
    for (size_t i = 0; i < slices->open_count; i++)
        if (slices->open[i].ns)
            keep(slices, &slices->open[i]);
}

/* ---- text ---- */

static bool is_of_erlang(const struct frame *frame)
{
    return frame->kind == FRAME_ERLANG || frame->kind == FRAME_BIF;
}

/* Return the first node of an Erlang function, BIF or NIF, from `stack` on towards the root; 0 if
 * there is none. */
static stack_id next_place(const struct profile *profile, stack_id stack)
{
    while (stack) {
        const struct stack_node *node = profile_get_stack(profile, stack);

        if (is_of_erlang(profile_get_frame(profile, node->frame)))
            break;
        stack = node->parent;
    }
    return stack;
}

static const char *text_of(const struct profile *profile, stack_id stack)
{
    if (!stack)
        return "[unknown]";
    return profile_text(
        profile, profile_get_frame(profile, profile_get_stack(profile, stack)->frame)->symbol);
}

/* Write "in lists:keyfind/3" and, on the next line, "called by a:b/1, a:c/2, ...". A function that
 * calls itself is named once. */
static void write_stack(FILE *file, const struct profile *profile, stack_id stack)
{
    stack_id place = next_place(profile, stack);
    const char *last = text_of(profile, place ? place : stack);
    int callers = 0;

    fprintf(file, "in %s\n", last);
    while (place && callers <= CALLERS_MAX) {
        place = next_place(profile, profile_get_stack(profile, place)->parent);
        if (!place || !strcmp(text_of(profile, place), last))
            continue;
        last = text_of(profile, place);
        fprintf(file, "%s%s", callers ? ", " : "                    called by ",
                callers < CALLERS_MAX ? last : "...");
        callers++;
    }
    if (callers)
        putc('\n', file);
}

static void write_slice(FILE *file, const struct profile *profile,
                        const struct long_schedule *slice, uint64_t start_monotonic)
{
    const struct process_entry *process = profile_get_process(profile, slice->process);
    struct root_key root = root_key_of_process(profile, slice->process, slice->stack);
    struct buffer name = {0};

    root_process_text(profile, &root, &name);
    fprintf(file, "  %16s  until %9.3f s  %s  %.*s  ", number_text_amount(slice->ns, UNIT_NS).text,
            (double)(slice->end - start_monotonic) / 1e9, profile_text(profile, process->pid),
            (int)name.size, name.data);
    buffer_free(&name);
    write_stack(file, profile, slice->stack);
}

void long_schedules_write(FILE *file, const struct profile *profile,
                          const struct long_schedules *slices, size_t rows,
                          uint64_t start_monotonic)
{
    size_t count = slices->count < rows ? slices->count : rows;

    if (count)
        fprintf(file, "\nlong schedules: %s seen%s\n", number_text(slices->slices).text,
                slices->slices > count ? ", the longest" : "");
    for (size_t i = 0; i < count; i++)
        write_slice(file, profile, &slices->longest[i], start_monotonic);
}
