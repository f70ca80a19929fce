// SPDX-License-Identifier: Apache-2.0
#include "output/protobuf/wire_types.h"

#include <stdlib.h>

#include "profile/trace_text.h"
#include "util/alloc.h"
#include "util/number.h"

static const struct grouping grouping = {{GROUP_NAME, GROUP_STATUS, GROUP_SCHEDULER}};

void sample_groups_init(struct sample_groups *groups, const struct output_source *source,
                        bool has_times)
{
    *groups = (struct sample_groups){.source = *source, .has_times = has_times};
    groups->weight_count = weights_of_event(source, source->event, groups->weights, &groups->asked);
    intern_init(&groups->keys, sizeof(struct sample_group), sizeof(struct sample_group));
}

void sample_groups_free(struct sample_groups *groups)
{
    intern_free(&groups->keys);
    free(groups->sums);
}

static struct root_key who_of_sample(const struct sample_groups *groups,
                                     const struct sample *sample)
{
    const struct profile *profile = groups->source.profile;
    struct root_key who =
        root_key_of_sample(profile, &grouping, sample, root_frame_bottom(profile, sample->stack));

    if (groups->source.no_labels)
        who = (struct root_key){.target = who.target};
    return who;
}

void sample_groups_add(struct sample_groups *groups, const struct sample *sample)
{
    const struct sample_group group = {
        .time = groups->has_times ? sample->time : 0,
        .trace_span = groups->source.no_traces ? 0 : sample->trace_span,
        .stack = view_of_sample(groups->source.view, sample),
        .who = who_of_sample(groups, sample),
    };
    size_t count = groups->weight_count, index = intern_add(&groups->keys, &group) - 1;
    uint64_t *sums;

    groups->sums = xgrow(groups->sums, &groups->room, index, count * sizeof(*sums));
    sums = groups->sums + index * count;
    for (size_t i = 0; i < count; i++)
        sums[i] = saturating_sum(sums[i], sample_amount(&groups->weights[i], sample));
}

/* Round the sums of one weight, so that they add up to the total of each VM. `sums` is the first
 * group's. */
static void round_sums(const struct sample_groups *groups, const uint32_t *by_stack,
                       const struct weight *weight, uint64_t *sums)
{
    uint32_t targets = profile_counts(groups->source.profile).targets;
    struct weight_rounding *roundings = xcalloc(targets + 1, sizeof(*roundings));
    uint64_t *totals = xcalloc(targets + 1, sizeof(*totals));

    for (uint32_t id = 1; id <= groups->keys.count; id++) {
        uint64_t *total = &totals[sample_group_get(groups, id)->who.target];

        *total = saturating_sum(*total, sums[(id - 1) * groups->weight_count]);
    }
    for (target_id target = 0; target <= targets; target++)
        roundings[target] = weight_rounding_begin(weight, totals[target]);
    for (uint32_t i = 0; i < groups->keys.count; i++) {
        uint64_t *sum = &sums[(by_stack[i] - 1) * groups->weight_count];
        target_id target = sample_group_get(groups, by_stack[i])->who.target;

        *sum = weight_round(&roundings[target], weight, *sum);
    }
    free(roundings);
    free(totals);
}

void sample_groups_round(struct sample_groups *groups, const uint32_t *by_stack)
{
    for (size_t i = 0; groups->keys.count && i < groups->weight_count; i++)
        if (groups->weights[i].period)
            round_sums(groups, by_stack, &groups->weights[i], groups->sums + i);
}

static int compare_stacks(const void *a, const void *b, void *context)
{
    const struct sample_groups *groups = context;
    const uint32_t *x = a, *y = b;
    view_stack_id s = sample_group_get(groups, *x)->stack, t = sample_group_get(groups, *y)->stack;

    return s != t ? (s > t) - (s < t) : (*x > *y) - (*x < *y);
}

uint32_t *sample_groups_by_stack(const struct sample_groups *groups)
{
    uint32_t count = groups->keys.count, *ids = xcalloc(count + 1, sizeof(*ids));

    for (uint32_t i = 0; i < count; i++)
        ids[i] = i + 1;
    qsort_r(ids, count, sizeof(*ids), compare_stacks, (void *)groups);
    return ids;
}

void sample_group_labels(const struct sample_groups *groups, const struct root_key *who,
                         void (*each)(void *context, const char *key, const struct buffer *text),
                         void *context)
{
    const struct profile *profile = groups->source.profile;
    struct buffer text = {0};

    if (who->process) {
        buffer_text(&text, profile_text(profile, profile_get_process(profile, who->process)->pid));
        each(context, "pid", &text);
        text.size = 0;
        root_text(profile, GROUP_NAME, who, &text);
        if (text.size) /* else the stack shows it */
            each(context, "name", &text);
    }
    if (who->status) {
        text.size = 0;
        buffer_text(&text, profile_status_name(who->status));
        each(context, "status", &text);
    }
    if (who->thread) {
        text.size = 0;
        root_text(profile, GROUP_SCHEDULER, who, &text);
        each(context, "scheduler", &text);
    }
    buffer_free(&text);
}

void sample_group_trace(const struct sample_groups *groups, const struct sample_group *group,
                        void (*each)(void *context, const char *key, const struct buffer *text),
                        void *context)
{
    char trace[TRACE_ID_TEXT], span[SPAN_ID_TEXT];
    struct buffer text = {0};

    if (!group->trace_span)
        return;
    trace_id_text(profile_get_trace_span(groups->source.profile, (trace_span_id)group->trace_span),
                  trace);
    span_id_text(profile_get_trace_span(groups->source.profile, (trace_span_id)group->trace_span),
                 span);
    buffer_text(&text, trace);
    each(context, "trace_id", &text);
    text.size = 0;
    buffer_text(&text, span);
    each(context, "span_id", &text);
    buffer_free(&text);
}
