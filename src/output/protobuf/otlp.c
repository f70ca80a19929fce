// SPDX-License-Identifier: Apache-2.0
/*
 * The profiles of OpenTelemetry (proto/opentelemetry): a ProfilesData, whose bytes are also those
 * of the ExportProfilesServiceRequest that its services take. It has a resource for each VM with
 * samples. A resource has a profile for each weight of the event, the selected weight first.
 */
#include "output/formats.h"

#include <stdlib.h>
#include <string.h>

#include "output/idle.h"
#include "output/protobuf/otlp_dictionary.h"
#include "output/sample_groups.h"
#include "profile/events.h"
#include "util/alloc.h"
#include "util/number.h"

enum { LABELS_MAX = 4, NOTES_MAX = LOSS_COUNT + 4, RESOURCE_MAX = 8 };

/* A sample group, and the indices of its parts in the dictionary. */
struct otlp_row {
    uint32_t group;
    target_id target;
    int32_t stack, labels[LABELS_MAX], label_count;
};

struct otlp {
    FILE *file;
    struct output_source source;
    struct sample_groups groups;
    struct otlp_dictionary dictionary;
    struct otlp_row *rows; /* one for each group */
    const struct recording_totals *totals;
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
    sample_groups_init(&otlp->groups, source);
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
    char *value = xstrndup(text->data, text->size);

    labelling->row->labels[labelling->row->label_count++] =
        otlp_attribute(labelling->dictionary, name, value);
    free(name);
    free(value);
}

static void make_rows(struct otlp *otlp)
{
    uint32_t count = otlp->groups.keys.count, *ids = sample_groups_by_stack(&otlp->groups);
    view_stack_id stack = 0;
    int32_t number = 0;

    otlp->rows = xcalloc(count + 1, sizeof(*otlp->rows));
    for (uint32_t i = 0; i < count; i++) {
        const struct sample_group *group = sample_group_get(&otlp->groups, ids[i]);
        struct labelling labelling = {&otlp->dictionary, &otlp->rows[i]};

        if (group->stack != stack) {
            const struct view_frame *frames;
            size_t frame_count = view_frames(otlp->source.view, group->stack, &frames);

            stack = group->stack;
            number = frame_count ? otlp_stack(&otlp->dictionary, frames, frame_count) : 0;
        }
        otlp->rows[i] =
            (struct otlp_row){.group = ids[i], .target = group->who.target, .stack = number};
        sample_group_labels(&otlp->groups, &group->who, add_label, &labelling);
    }
    free(ids);
}

static void write_samples(struct otlp *otlp, struct protobuf *out)
{
    for (uint32_t i = 0; i < otlp->groups.keys.count; i++) {
        struct otlp_row *row = &otlp->rows[i];
        int64_t value = signed_number(sample_group_sums(&otlp->groups, row->group)[otlp->weight]);
        OTLP(Profile) part = OTLP_INIT(PROFILE);
        OTLP(Sample) sample = OTLP_INIT(SAMPLE);

        if (row->target != otlp->target || !value)
            continue;
        sample.stack_index = row->stack;
        sample.n_attribute_indices = (size_t)row->label_count;
        sample.attribute_indices = row->labels;
        sample.n_values = 1;
        sample.values = &value;
        part.n_samples = 1;
        part.samples = (OTLP(Sample) *[]){&sample};
        protobuf_put(out, &part.base);
    }
}

/* ---- profiles ---- */

static OTLP(ValueType) type_of(struct otlp *otlp, const struct weight *weight)
{
    OTLP(ValueType) type = OTLP_INIT(VALUE_TYPE);

    type.type_strindex =
        otlp_text(&otlp->dictionary, weight_type_name(&otlp->source, otlp->source.event, weight));
    type.unit_strindex = otlp_text(&otlp->dictionary, weight_type_unit(weight));
    return type;
}

static int32_t note(struct otlp *otlp, const char *key, uint64_t number)
{
    char *name = xasprintf("beamflame.%s", key);
    int32_t id = otlp_attribute_number(&otlp->dictionary, name, number);

    free(name);
    return id;
}

/* Make attributes for what the profile lacks. Returns their number. */
static size_t make_notes(struct otlp *otlp, int32_t notes[NOTES_MAX])
{
    const struct recording_totals *totals = otlp->totals;
    size_t count = 0;

    for (int i = 0; i < LOSS_COUNT; i++) {
        char *key = xasprintf("losses.%s", loss_name(i));

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
    const struct recording_header *header = otlp->source.header;
    OTLP(Profile) part = OTLP_INIT(PROFILE);
    OTLP(ValueType) type = type_of(otlp, &otlp->groups.weights[otlp->weight]), period;
    int32_t notes[NOTES_MAX];

    part.sample_type = &type;
    part.time_unix_nano = output_start(&otlp->source);
    part.duration_nano = whole_part(output_seconds(&otlp->source, otlp->totals) * 1e9);
    if (event_is_cpu(otlp->source.profile, otlp->source.event) && header->frequency) {
        period = type_of(otlp, &otlp->groups.weights[1 + CPU_TIME]);
        part.period_type = &period;
        part.period = 1000000000 / header->frequency;
    }
    part.attribute_indices = notes;
    part.n_attribute_indices = make_notes(otlp, notes);
    protobuf_put(out, &part.base);
    write_samples(otlp, out);
}

static void write_one_profile(struct otlp *otlp, struct protobuf *out, size_t weight)
{
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

struct attributes {
    OTLP_COMMON(KeyValue) pairs[RESOURCE_MAX], *pointers[RESOURCE_MAX];
    OTLP_COMMON(AnyValue) values[RESOURCE_MAX];
    size_t count;
};

static OTLP_COMMON(AnyValue) * add_pair(struct attributes *attributes, const char *key)
{
    size_t at = attributes->count++;

    attributes->pairs[at] = (OTLP_COMMON(KeyValue))OTLP_COMMON_INIT(KEY_VALUE);
    attributes->values[at] = (OTLP_COMMON(AnyValue))OTLP_COMMON_INIT(ANY_VALUE);
    attributes->pairs[at].key = (char *)key;
    attributes->pairs[at].value = &attributes->values[at];
    attributes->pointers[at] = &attributes->pairs[at];
    return &attributes->values[at];
}

static void add_text(struct attributes *attributes, const char *key, const char *text)
{
    OTLP_COMMON(AnyValue) * value;

    if (!*text)
        return;
    value = add_pair(attributes, key);
    value->value_case = OPENTELEMETRY__PROTO__COMMON__V1__ANY_VALUE__VALUE_STRING_VALUE;
    value->string_value = (char *)text;
}

/* The names are those of OpenTelemetry's semantic conventions. */
static void add_target(struct attributes *attributes, const struct profile *profile,
                       target_id target)
{
    const struct target_entry *known = profile_get_target(profile, target);
    OTLP_COMMON(AnyValue) *pid = add_pair(attributes, "process.pid");

    pid->value_case = OPENTELEMETRY__PROTO__COMMON__V1__ANY_VALUE__VALUE_INT_VALUE;
    pid->int_value = known->pid;
    add_text(attributes, "service.name", profile_text(profile, known->node));
    add_text(attributes, "process.executable.path", profile_text(profile, known->executable));
    add_text(attributes, "process.runtime.name", "BEAM");
    add_text(attributes, "process.runtime.version", profile_text(profile, known->erts));
    add_text(attributes, "container.id", profile_text(profile, known->container));
}

/* Return the target's own host if the recording has several hosts, else the recording's host. */
static const char *host_of(const struct otlp *otlp)
{
    const struct profile *profile = otlp->source.profile;
    string_id host = otlp->target ? profile_get_target(profile, otlp->target)->host : 0;

    return host ? profile_text(profile, host) : otlp->source.header->hostname;
}

static void write_resource(struct protobuf *out, void *context)
{
    struct otlp *otlp = context;
    OTLP(ResourceProfiles) part = OTLP_INIT(RESOURCE_PROFILES);
    Opentelemetry__Proto__Resource__V1__Resource resource =
        OPENTELEMETRY__PROTO__RESOURCE__V1__RESOURCE__INIT;
    struct attributes attributes = {.count = 0};

    add_text(&attributes, "host.name", host_of(otlp));
    if (otlp->target)
        add_target(&attributes, otlp->source.profile, otlp->target);
    resource.n_attributes = attributes.count;
    resource.attributes = attributes.pointers;
    part.resource = &resource;
    protobuf_put(out, &part.base);
    protobuf_nested(out,
                    &opentelemetry__proto__profiles__v1development__resource_profiles__descriptor,
                    "scope_profiles", write_scope, otlp);
}

static bool has_samples(const struct otlp *otlp, target_id target)
{
    for (uint32_t i = 0; i < otlp->groups.keys.count; i++)
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

    if (targets)
        code_table_begin_with(&otlp->dictionary.code, 1);
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
