// SPDX-License-Identifier: Apache-2.0
/*
 * The profiles of OpenTelemetry (proto/opentelemetry): a ProfilesData. An
 * ExportProfilesServiceRequest, which services take, has the same bytes. A ProfilesData has a
 * resource for each VM with samples. A resource has a profile for each weight of the event with
 * values, the selected weight first. Each profile has a type of its own; receivers make a series of
 * each type.
 */
#include "output/formats.h"

#include <stdlib.h>
#include <string.h>

#include "output/output.h"
#include "output/protobuf/protobuf_internal.h"
#include "output/protobuf/wire_types.h"
#include "profile/events.h"
#include "util/alloc.h"
#include "util/number.h"

enum { LABELS_MAX = 4, NOTES_MAX = LOSS_COUNT + 4 };

/* A sample group, and the indices of its parts in the dictionary. */
struct otlp_row {
    uint32_t group;
    target_id target;
    int32_t stack, link, labels[LABELS_MAX], label_count;
};

struct otlp {
    FILE *file;
    struct output_source source;
    struct sample_groups groups;
    struct otlp_dictionary dictionary;
    struct otlp_row *rows; /* one for each group that is shown */
    uint32_t row_count;
    const struct recording_totals *totals;
    uint64_t duration; /* ns, at least 1 */
    /* The profile that is being written: */
    target_id target;
    size_t weight;
};

static void *otlp_begin(FILE *file, const struct output_source *source, struct error *error)
{
    struct otlp *otlp = xcalloc(1, sizeof(*otlp));

    (void)error;
    otlp->file = file;
    otlp->source = *source;
    sample_groups_init(&otlp->groups, source, source->timestamps);
    otlp_dictionary_init(&otlp->dictionary, source->profile);
    return otlp;
}

static int otlp_sample(void *state, const struct sample *sample, struct error *error)
{
    struct otlp *otlp = state;

    (void)error;
    sample_groups_add(&otlp->groups, sample);
    return 0;
}

/* ---- samples ---- */

struct labelling {
    struct otlp_dictionary *dictionary;
    struct otlp_row *row;
};

static void add_label(void *context, const char *key, const struct buffer *text)
{
    struct labelling *labelling = context;
    char *name = xasprintf("beam.%s%s", strcmp(key, "scheduler") ? "process." : "", key);
    char *value = xstrndup(text->data, wire_text_size(text->data, text->size));

    labelling->row->labels[labelling->row->label_count++] =
        otlp_dictionary_attribute(labelling->dictionary, name, value);
    free(name);
    free(value);
}

/* True for CPU time that the user did not select. The number of samples and the period have it
 * already: receivers multiply them, and would show a second profile of the same time. */
static bool is_repeated(const struct otlp *otlp, size_t weight)
{
    const struct weight *known = &otlp->groups.weights[weight];
    bool selected = otlp->source.value && weight == otlp->groups.asked;

    return event_is_cpu(otlp->source.profile, otlp->source.event) && weight && !known->is_metric &&
           !selected;
}

/* True if a profile that is written has a value of the group. On a node that is hardly busy, the
 * number of samples of a group can be rounded to 0. */
static bool is_shown(const struct otlp *otlp, uint32_t group)
{
    const uint64_t *sums = sample_group_sums(&otlp->groups, group);

    for (size_t i = 0; i < otlp->groups.weight_count; i++)
        if (sums[i] && !is_repeated(otlp, i))
            return true;
    return false;
}

static void make_rows(struct otlp *otlp)
{
    uint32_t count = otlp->groups.keys.count, *ids = sample_groups_by_stack(&otlp->groups);
    view_stack_id stack = 0;
    int32_t number = 0;

    sample_groups_round(&otlp->groups, ids);
    otlp->rows = xcalloc(count + 1, sizeof(*otlp->rows));
    for (uint32_t i = 0; i < count; i++) {
        const struct sample_group *group = sample_group_get(&otlp->groups, ids[i]);
        struct otlp_row *row = &otlp->rows[otlp->row_count];
        struct labelling labelling = {&otlp->dictionary, row};

        if (!is_shown(otlp, ids[i]) || !output_source_takes_row(&otlp->source))
            continue;
        if (group->stack != stack) {
            const struct view_frame *frames;
            size_t frame_count = view_frames(otlp->source.view, group->stack, &frames);

            stack = group->stack;
            number =
                frame_count ? otlp_dictionary_stack(&otlp->dictionary, frames, frame_count) : 0;
        }
        *row = (struct otlp_row){.group = ids[i], .target = group->who.target, .stack = number};
        otlp->row_count++;
        if (group->trace_span)
            row->link = otlp_dictionary_link(&otlp->dictionary, (trace_span_id)group->trace_span);
        sample_group_labels(&otlp->groups, &group->who, add_label, &labelling);
    }
    free(ids);
}

/* Return the time of a group's samples in ns since 1970, inside the profile's range: profcheck asks
 * for that (profcheck/check.go:168 in open-telemetry/sig-profiling at d2ab6d5). */
static uint64_t time_of(const struct otlp *otlp, uint32_t group)
{
    const struct recording_header *header = otlp->source.header;
    uint64_t time = sample_group_get(&otlp->groups, group)->time;
    uint64_t start = output_source_start(&otlp->source), last = start + otlp->duration - 1;

    time = header->start_realtime +
           (time > header->start_monotonic ? time - header->start_monotonic : 0);
    return time < start ? start : time > last ? last : time;
}

/* With times, each time is a sample of its own, though OpenTelemetry prefers one sample with many
 * times: Pyroscope refuses a sample with several values (pkg/ingester/otlp/convert.go:340, v2.2.0).
 */
static void write_samples(struct otlp *otlp, struct protobuf *out)
{
    for (uint32_t i = 0; i < otlp->row_count; i++) {
        struct otlp_row *row = &otlp->rows[i];
        int64_t value = wire_value(&otlp->groups.weights[otlp->weight],
                                   sample_group_sums(&otlp->groups, row->group)[otlp->weight]);
        uint64_t time = time_of(otlp, row->group);
        OTLP(Profile) part = OTLP_INIT(PROFILE);
        OTLP(Sample) sample = OTLP_INIT(SAMPLE);

        if (row->target != otlp->target || !value)
            continue;
        sample.stack_index = row->stack;
        sample.link_index = row->link;
        sample.n_attribute_indices = (size_t)row->label_count;
        sample.attribute_indices = row->labels;
        sample.n_values = 1;
        sample.values = &value;
        sample.n_timestamps_unix_nano = otlp->groups.has_times;
        sample.timestamps_unix_nano = &time;
        part.n_samples = 1;
        part.samples = (OTLP(Sample) *[]){&sample};
        protobuf_put(out, &part.base);
    }
}

/* ---- profiles ---- */

static OTLP(ValueType) type_of(struct otlp *otlp, struct wire_type wire)
{
    OTLP(ValueType) type = OTLP_INIT(VALUE_TYPE);

    type.type_strindex = otlp_dictionary_text(&otlp->dictionary, wire.name);
    type.unit_strindex = otlp_dictionary_text(&otlp->dictionary, wire.unit);
    return type;
}

static int32_t note(struct otlp *otlp, const char *key, uint64_t number)
{
    char *name = xasprintf("beamflame.%s", key);
    int32_t id = otlp_dictionary_attribute_number(&otlp->dictionary, name, number);

    free(name);
    return id;
}

/* Make attributes for what the profile lacks. Returns their number. */
static size_t make_notes(struct otlp *otlp, int32_t notes[NOTES_MAX])
{
    const struct recording_totals *totals = otlp->totals;
    size_t count = 0;

    for (int i = 0; i < LOSS_COUNT; i++) {
        char *key = xasprintf("losses.%s", profile_loss_name(i));

        if (totals->losses[i])
            notes[count++] = note(otlp, key, totals->losses[i]);
        free(key);
    }
    if (totals->left_out)
        notes[count++] = note(otlp, "left_out", totals->left_out);
    if (totals->idle.samples && otlp->source.event == otlp->source.idle_event)
        notes[count++] = note(otlp, "idle", totals->idle.samples);
    if (totals->unknown)
        notes[count++] = note(otlp, "unknown_weight", totals->unknown);
    if (totals->cut)
        notes[count++] = note(otlp, "cut", 1);
    return count;
}

static void write_profile(struct protobuf *out, void *context)
{
    struct otlp *otlp = context;
    const struct weight *weight = &otlp->groups.weights[otlp->weight];
    OTLP(Profile) part = OTLP_INIT(PROFILE);
    OTLP(ValueType) type = type_of(otlp, wire_type_of_weight(&otlp->source, weight));
    OTLP(ValueType) period = type_of(otlp, wire_type_of_period(&otlp->source));
    int32_t notes[NOTES_MAX];

    part.sample_type = &type;
    part.period_type = &period;
    part.period = wire_period(&otlp->groups, &otlp->target);
    part.time_unix_nano = output_source_start(&otlp->source);
    part.duration_nano = otlp->duration;
    part.attribute_indices = notes;
    part.n_attribute_indices = make_notes(otlp, notes);
    protobuf_put(out, &part.base);
    write_samples(otlp, out);
}

/* True if a sample of the target has a value: Parca refuses a request with a profile without
 * samples (pkg/normalizer/otel.go:602, v0.28.0). */
static bool has_values(const struct otlp *otlp, size_t weight)
{
    for (uint32_t i = 0; i < otlp->row_count; i++)
        if (otlp->rows[i].target == otlp->target &&
            sample_group_sums(&otlp->groups, otlp->rows[i].group)[weight])
            return true;
    return false;
}

static void write_one_profile(struct otlp *otlp, struct protobuf *out, size_t weight)
{
    if (is_repeated(otlp, weight) || !has_values(otlp, weight))
        return;
    otlp->weight = weight;
    protobuf_nested(out, &opentelemetry__proto__profiles__v1development__scope_profiles__descriptor,
                    "profiles", write_profile, otlp);
}

static void write_scope(struct protobuf *out, void *context)
{
    struct otlp *otlp = context;
    OTLP(ScopeProfiles) part = OTLP_INIT(SCOPE_PROFILES);
    OTLP_COMMON(InstrumentationScope) scope = OTLP_COMMON_INIT(INSTRUMENTATION_SCOPE);

    scope.name = "beamflame";
    scope.version = (char *)otlp->source.header->version;
    part.scope = &scope;
    protobuf_put(out, &part.base);
    write_one_profile(otlp, out, otlp->groups.asked);
    for (size_t i = 0; i < otlp->groups.weight_count; i++)
        if (i != otlp->groups.asked)
            write_one_profile(otlp, out, i);
}

/* ---- resources ---- */

static void write_resource(struct protobuf *out, void *context)
{
    struct otlp *otlp = context;

    otlp_resource_write(out, &otlp->source, otlp->target);
    protobuf_nested(out,
                    &opentelemetry__proto__profiles__v1development__resource_profiles__descriptor,
                    "scope_profiles", write_scope, otlp);
}

static bool has_samples(const struct otlp *otlp, target_id target)
{
    for (uint32_t i = 0; i < otlp->row_count; i++)
        if (otlp->rows[i].target == target)
            return true;
    return false;
}

static void write_all(struct otlp *otlp)
{
    const ProtobufCMessageDescriptor *data =
        &opentelemetry__proto__profiles__v1development__profiles_data__descriptor;
    uint32_t targets = profile_counts(otlp->source.profile).targets;
    struct protobuf out = {.file = otlp->file};
    struct output_range range = output_source_range(&otlp->source, otlp->totals);

    otlp->duration = range.to > range.from ? range.to - range.from : 1;
    make_rows(otlp);
    for (target_id target = 0; target <= targets; target++) {
        otlp->target = target;
        if (has_samples(otlp, target))
            protobuf_nested(&out, data, "resource_profiles", write_resource, otlp);
    }
    protobuf_nested(&out, data, "dictionary", otlp_dictionary_write, &otlp->dictionary);
}

static int otlp_finish(void *state, const struct recording_totals *totals, struct error *error)
{
    struct otlp *otlp = state;

    (void)error;
    otlp->totals = totals;
    if (totals)
        write_all(otlp);
    sample_groups_free(&otlp->groups);
    otlp_dictionary_free(&otlp->dictionary);
    free(otlp->rows);
    free(otlp);
    return 0;
}

const struct output_format otlp_format = {
    .name = "otlp",
    .suffixes = {".otlp", ".otlp.gz"},
    .one_event = true,
    .begin = otlp_begin,
    .sample = otlp_sample,
    .finish = otlp_finish,
};
