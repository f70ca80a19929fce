// SPDX-License-Identifier: Apache-2.0
/* Finds the traces and spans that options name. */
#include <stdlib.h>

#include "profile/trace_text.h"
#include "util/alloc.h"
#include "view/selection.h"

static void add(struct selection_traces *traces, const struct trace_span *span)
{
    traces->list = xreallocarray(traces->list, traces->count + 1, sizeof(*traces->list));
    traces->list[traces->count++] = *span;
}

int selection_add_trace(struct selection_options *options, const char *id, struct error *error)
{
    struct trace_span span = {0};

    if (!trace_id_parse(id, &span))
        return error_set(error, ERROR_USAGE,
                         "a trace has an id of 32 hexadecimal digits, which '%s' is not", id);
    add(&options->traces, &span);
    return 0;
}

int selection_add_span(struct selection_options *options, const char *id, struct error *error)
{
    struct trace_span span = {0};

    if (!span_id_parse(id, &span))
        return error_set(error, ERROR_USAGE,
                         "a span has an id of 16 hexadecimal digits, which '%s' is not", id);
    add(&options->spans, &span);
    return 0;
}

static bool has_trace(const struct selection_traces *traces, const struct trace_span *span)
{
    for (size_t i = 0; i < traces->count; i++)
        if (traces->list[i].trace_high == span->trace_high &&
            traces->list[i].trace_low == span->trace_low)
            return true;
    return !traces->count;
}

static bool has_span(const struct selection_traces *spans, const struct trace_span *span)
{
    for (size_t i = 0; i < spans->count; i++)
        if (spans->list[i].span == span->span)
            return true;
    return !spans->count;
}

bool selection_is_trace(const struct selection_options *options, const struct profile *profile,
                        trace_span_id id)
{
    const struct trace_span *span;

    if (!options->traces.count && !options->spans.count)
        return true;
    if (!id)
        return false;
    span = profile_get_trace_span(profile, id);
    return has_trace(&options->traces, span) && has_span(&options->spans, span);
}
