// SPDX-License-Identifier: Apache-2.0
#include "input/perf_internal.h"

#include "input/input_internal.h"

static const char NO_EVENT[] =
    "this is not the first line of an event (COMM PID [CPU] TIME: EVENT:)";
static const char TOO_LARGE[] = "a number of this event is too large";

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

static size_t size_of_word(struct span text)
{
    size_t size = 0;

    while (size < text.size && !is_blank(text.at[size]))
        size++;
    return size;
}

/* ---- the part from the CPU on ---- */

static const char *take_cpu(struct span *text, struct perf_event_line *event)
{
    struct span rest = *text;
    bool is_none;
    uint64_t cpu;

    if (!rest.size || *rest.at != '[')
        return NULL;
    rest = span_skip(rest, 1);
    is_none = span_begins(rest, "-"); /* a sample without a CPU has -1 here */
    rest = span_skip(rest, is_none);
    if (!rest.size || !is_digit(*rest.at))
        return NO_EVENT;
    if (!span_take_number(&rest, UINT16_MAX, &cpu))
        return TOO_LARGE;
    if (!span_begins(rest, "]"))
        return NO_EVENT;
    event->has_cpu = !is_none;
    event->cpu = is_none ? 0 : (uint16_t)cpu;
    *text = span_after_blank(span_skip(rest, 1));
    return NULL;
}

/* Read "12.345678:", with 6 or 9 digits after the point. */
static const char *take_time(struct span *text, struct perf_event_line *event)
{
    uint64_t seconds, ns = 0, unit = 1000000000;
    struct span rest = *text;

    if (!rest.size || !is_digit(*rest.at))
        return NO_EVENT;
    if (!span_take_number(&rest, UINT64_MAX / 1000000000 - 1, &seconds))
        return TOO_LARGE;
    if (!span_begins(rest, "."))
        return NO_EVENT;
    for (rest = span_skip(rest, 1); rest.size && is_digit(*rest.at); rest = span_skip(rest, 1))
        ns += (unsigned)(*rest.at - '0') * (unit /= 10);
    if (!span_begins(rest, ": ") || unit == 1000000000)
        return NO_EVENT;
    event->time = seconds * 1000000000 + ns;
    *text = span_after_blank(span_skip(rest, 1));
    return NULL;
}

/* Read "    10101010 cycles:u:", where the number is optional. */
static const char *take_event(struct span *text, struct perf_event_line *event)
{
    struct span rest = *text;
    size_t size = size_of_word(rest), digits = 0;

    while (digits < size && is_digit(rest.at[digits]))
        digits++;
    if (size && digits == size) {
        if (!span_take_number(&rest, WEIGHT_MOST, &event->period))
            return TOO_LARGE;
        event->has_period = true;
        rest = span_after_blank(rest);
        size = size_of_word(rest);
    }
    if (size < 2 || rest.at[size - 1] != ':')
        return NO_EVENT;
    event->event = (struct span){rest.at, size - 1};
    *text = span_skip(rest, size);
    return NULL;
}

static const char *take_rest(struct span text, struct perf_event_line *event)
{
    const char *problem = take_cpu(&text, event);

    if (!problem)
        problem = take_time(&text, event);
    if (!problem)
        problem = take_event(&text, event);
    event->rest = text;
    return problem;
}

/* ---- who ran ---- */

/* Read "100" or "100/102". *text becomes the rest. */
static const char *take_ids(struct span *text, struct perf_event_line *event)
{
    uint64_t pid = 0, tid;
    struct span rest = *text;

    if (!span_take_number(&rest, UINT32_MAX, &tid))
        return TOO_LARGE;
    if (span_begins(rest, "/")) {
        pid = tid;
        rest = span_skip(rest, 1);
        if (!rest.size || !is_digit(*rest.at))
            return NO_EVENT;
        if (!span_take_number(&rest, UINT32_MAX, &tid))
            return TOO_LARGE;
    }
    if (!rest.size || !is_blank(*rest.at))
        return NO_EVENT;
    event->pid = (uint32_t)pid;
    event->tid = (uint32_t)tid;
    *text = rest;
    return NULL;
}

/* A name may contain blanks and numbers. The first number after which the line is valid is an
 * id. */
static const char *named_event(struct span line, struct perf_event_line *event)
{
    const char *worst = NO_EVENT;

    for (size_t i = 1; i + 1 < line.size; i++) {
        struct perf_event_line tried = {.comm = {line.at, i}};
        struct span rest = span_skip(line, i + 1);
        const char *problem;

        if (!is_blank(line.at[i]) || !is_digit(line.at[i + 1]))
            continue;
        while (tried.comm.size && is_blank(tried.comm.at[tried.comm.size - 1]))
            tried.comm.size--;
        problem = take_ids(&rest, &tried);
        if (!problem) {
            tried.who = (struct span){line.at, line.size - rest.size};
            problem = take_rest(span_after_blank(rest), &tried);
        }
        if (!problem) {
            *event = tried;
            return NULL;
        }
        if (problem == TOO_LARGE)
            worst = problem;
    }
    return worst;
}

/* Parse "running<tab>0.123.0 [000] 12.345678: cpu-clock:". */
static const char *flame_prof_event(struct span line, struct perf_event_line *event)
{
    const char *tab = memchr(line.at, '\t', line.size);
    struct perf_event_line tried = {0};
    struct span rest;
    const char *problem;
    uint64_t part;

    if (!tab)
        return NO_EVENT;
    tried.comm = (struct span){line.at, (size_t)(tab - line.at)};
    rest = span_skip(line, tried.comm.size + 1);
    tried.erlang_pid = (struct span){rest.at, size_of_word(rest)};
    for (int i = 0; i < 3; i++) {
        if (i && !span_begins(rest, "."))
            return NO_EVENT;
        rest = i ? span_skip(rest, 1) : rest;
        if (!span_take_number(&rest, UINT64_MAX, &part))
            return NO_EVENT;
    }
    tried.who = (struct span){line.at, line.size - rest.size};
    problem = take_rest(span_after_blank(rest), &tried);
    if (!problem)
        *event = tried;
    return problem;
}

const char *perf_line_event(struct span line, struct perf_event_line *ret_event)
{
    struct span text = span_after_blank(line);
    const char *problem = named_event(text, ret_event);

    if (problem == NO_EVENT)
        problem = flame_prof_event(text, ret_event);
    if (!problem)
        ret_event->alone = text.size < line.size;
    return problem;
}

/* ---- frames ---- */

/* The text without " (MODULE)" at its end, and the module. The module may be a deleted file:
 * "foo (/usr/bin/foo (deleted))" (proc(5), /proc/PID/maps). */
static struct span split_module(struct span text, struct span *ret_module)
{
    static const char deleted[] = " (deleted))";
    struct span rest = text;

    *ret_module = (struct span){text.at + text.size, 0};
    if (!span_ends(text, ")"))
        return text;
    rest.size -= span_ends(text, deleted) ? strlen(deleted) : 1;
    for (size_t at = rest.size; at > 1;) {
        const char *open = memrchr(rest.at, '(', at);

        if (!open || open == rest.at)
            break;
        at = (size_t)(open - rest.at);
        if (is_blank(rest.at[at - 1])) {
            *ret_module = span_skip(rest, at + 1);
            return (struct span){rest.at, at - 1};
        }
    }
    return text;
}

bool perf_line_frame(struct span line, struct perf_frame_line *ret_frame)
{
    struct span text = span_after_blank(line);

    if (text.size == line.size || !span_take_hex(&text, &ret_frame->address) || !text.size ||
        !is_blank(*text.at))
        return false;
    ret_frame->symbol = split_module(span_skip(text, 1), &ret_frame->module);
    return ret_frame->symbol.size > 0;
}
