// SPDX-License-Identifier: Apache-2.0
/*
 * pprof's format (proto/pprof), for `go tool pprof` and services that accept it: stacks, with
 * labels that say who ran. It is written message by message, because all its large parts are
 * repeated fields (output/protobuf/protobuf_internal.h).
 */
#include "output/formats.h"

#include <inttypes.h>
#include <stdlib.h>

#include "output/code_table.h"
#include "output/output.h"
#include "output/protobuf/protobuf_internal.h"
#include "output/protobuf/wire_types.h"
#include "output/summary/summary_text.h"
#include "pprof/profile.pb-c.h"
#include "util/alloc.h"
#include "util/number.h"

enum { LABELS_MAX = 8 };

struct pprof {
    struct protobuf out;
    struct output_source source;
    struct sample_groups groups;
    struct code_table code;
};

static void *pprof_begin(FILE *file, const struct output_source *source, struct error *error)
{
    struct pprof *pprof = xcalloc(1, sizeof(*pprof));

    (void)error;
    pprof->out.file = file;
    pprof->source = *source;
    sample_groups_init(&pprof->groups, source, false);
    code_table_init(&pprof->code, source->profile);
    return pprof;
}

static int pprof_sample(void *state, const struct sample *sample, struct error *error)
{
    struct pprof *pprof = state;

    (void)error;
    sample_groups_add(&pprof->groups, sample);
    return 0;
}

static int64_t text_of(struct pprof *pprof, const char *text)
{
    return code_table_text(&pprof->code, text);
}

/* ---- samples ---- */

struct labels {
    struct pprof *pprof;
    Perftools__Profiles__Label list[LABELS_MAX], *pointers[LABELS_MAX];
    size_t count;
};

static void add_label(void *context, const char *key, const struct buffer *text)
{
    struct labels *labels = context;
    struct code_table *code = &labels->pprof->code;
    Perftools__Profiles__Label *label = &labels->list[labels->count];

    perftools__profiles__label__init(label);
    label->key = code_table_text(code, key);
    label->str = string_table_add(&code->texts, text->data, wire_text_size(text->data, text->size));
    labels->pointers[labels->count++] = label;
}

static void write_sample(struct pprof *pprof, uint32_t id, Perftools__Profiles__Sample *sample)
{
    const struct sample_group *group = sample_group_get(&pprof->groups, id);
    const uint64_t *sums = sample_group_sums(&pprof->groups, id);
    Perftools__Profiles__Profile profile = PERFTOOLS__PROFILES__PROFILE__INIT;
    struct labels labels = {.pprof = pprof};
    int64_t values[WEIGHTS_MAX];

    for (size_t i = 0; i < pprof->groups.weight_count; i++)
        values[i] = wire_value(&pprof->groups.weights[i], sums[i]);
    sample_group_labels(&pprof->groups, &group->who, add_label, &labels);
    sample_group_trace(&pprof->groups, group, add_label, &labels);
    sample->n_value = pprof->groups.weight_count;
    sample->value = values;
    sample->n_label = labels.count;
    sample->label = labels.pointers;
    profile.n_sample = 1;
    profile.sample = &sample;
    protobuf_put(&pprof->out, &profile.base);
}

/* Store the locations of a stack, leaf first. Return their number. */
static size_t take_locations(struct pprof *pprof, view_stack_id stack,
                             uint64_t locations[CODE_STACK_MAX])
{
    const struct view_frame *frames;
    size_t count = view_frames(pprof->source.view, stack, &frames);
    uint32_t stored[CODE_STACK_MAX];

    count = code_table_stack(&pprof->code, frames, count, stored);
    for (size_t i = 0; i < count; i++)
        locations[i] = stored[i];
    return count;
}

/* False if all values of the group are rounded to 0. */
static bool has_value(const struct sample_groups *groups, uint32_t id)
{
    const uint64_t *sums = sample_group_sums(groups, id);

    for (size_t i = 0; i < groups->weight_count; i++)
        if (sums[i])
            return true;
    return false;
}

static void write_samples(struct pprof *pprof)
{
    uint32_t count = pprof->groups.keys.count, *ids = sample_groups_by_stack(&pprof->groups);
    view_stack_id stack = 0;
    uint64_t locations[CODE_STACK_MAX];
    Perftools__Profiles__Sample sample = PERFTOOLS__PROFILES__SAMPLE__INIT;

    sample.location_id = locations;
    sample_groups_round(&pprof->groups, ids);
    for (uint32_t i = 0; i < count; i++) {
        const struct sample_group *group = sample_group_get(&pprof->groups, ids[i]);

        if (!has_value(&pprof->groups, ids[i]) || !output_source_takes_row(&pprof->source))
            continue;
        if (group->stack != stack) {
            stack = group->stack;
            sample.n_location_id = take_locations(pprof, stack, locations);
        }
        write_sample(pprof, ids[i], &sample);
    }
    free(ids);
}

/* ---- tables that samples refer to ---- */

static void write_locations(struct pprof *pprof)
{
    for (uint32_t id = 1; id <= pprof->code.locations.count; id++) {
        const struct code_location *known = intern_get(&pprof->code.locations, id);
        Perftools__Profiles__Profile profile = PERFTOOLS__PROFILES__PROFILE__INIT;
        Perftools__Profiles__Location location = PERFTOOLS__PROFILES__LOCATION__INIT;
        Perftools__Profiles__Line line = PERFTOOLS__PROFILES__LINE__INIT;

        line.function_id = known->function;
        line.line = known->line;
        location.id = id;
        location.mapping_id = known->mapping;
        location.address = known->address;
        location.n_line = 1;
        location.line = (Perftools__Profiles__Line *[]){&line};
        profile.n_location = 1;
        profile.location = (Perftools__Profiles__Location *[]){&location};
        protobuf_put(&pprof->out, &profile.base);
    }
}

static void write_functions(struct pprof *pprof)
{
    for (uint32_t id = 1; id <= pprof->code.functions.count; id++) {
        const struct code_function *known = intern_get(&pprof->code.functions, id);
        Perftools__Profiles__Profile profile = PERFTOOLS__PROFILES__PROFILE__INIT;
        Perftools__Profiles__Function function = PERFTOOLS__PROFILES__FUNCTION__INIT;

        function.id = id;
        function.name = function.system_name = known->name;
        function.filename = known->file;
        profile.n_function = 1;
        profile.function = (Perftools__Profiles__Function *[]){&function};
        protobuf_put(&pprof->out, &profile.base);
    }
}

/* Addresses of mappings are not recorded. `has_functions` keeps readers from naming functions by
 * files of their own host. */
static void write_mappings(struct pprof *pprof)
{
    const struct profile *known = pprof->source.profile;

    for (uint32_t id = 1; id <= pprof->code.mappings.count; id++) {
        const struct module *module = code_table_module(&pprof->code, id);
        Perftools__Profiles__Profile profile = PERFTOOLS__PROFILES__PROFILE__INIT;
        Perftools__Profiles__Mapping mapping = PERFTOOLS__PROFILES__MAPPING__INIT;

        mapping.id = id;
        mapping.filename = text_of(pprof, profile_text(known, module->path));
        mapping.build_id = text_of(pprof, profile_text(known, module->build_id));
        mapping.has_functions = true;
        profile.n_mapping = 1;
        profile.mapping = (Perftools__Profiles__Mapping *[]){&mapping};
        protobuf_put(&pprof->out, &profile.base);
    }
}

/* The empty text, which is number 0, comes first. */
static void write_texts(struct pprof *pprof)
{
    for (uint32_t id = 0; id <= pprof->code.texts.count; id++) {
        Perftools__Profiles__Profile profile = PERFTOOLS__PROFILES__PROFILE__INIT;

        profile.n_string_table = 1;
        profile.string_table = (char *[]){(char *)string_table_get(&pprof->code.texts, id)};
        protobuf_put(&pprof->out, &profile.base);
    }
}

/* ---- the profile itself ---- */

static Perftools__Profiles__ValueType type_of(struct pprof *pprof, const struct wire_type *wire)
{
    Perftools__Profiles__ValueType type = PERFTOOLS__PROFILES__VALUE_TYPE__INIT;

    type.type = text_of(pprof, wire->name);
    type.unit = text_of(pprof, wire->unit);
    return type;
}

static void write_types(struct pprof *pprof)
{
    const struct sample_groups *groups = &pprof->groups;
    Perftools__Profiles__Profile profile = PERFTOOLS__PROFILES__PROFILE__INIT;
    Perftools__Profiles__ValueType types[WEIGHTS_MAX], *pointers[WEIGHTS_MAX];

    for (size_t i = 0; i < groups->weight_count; i++) {
        struct wire_type wire = wire_type_of_weight(&pprof->source, &groups->weights[i]);

        types[i] = type_of(pprof, &wire);
        pointers[i] = &types[i];
        if (i == groups->asked)
            profile.default_sample_type = types[i].type;
    }
    profile.n_sample_type = groups->weight_count;
    profile.sample_type = pointers;
    protobuf_put(&pprof->out, &profile.base);
}

static void write_time(struct pprof *pprof, const struct recording_totals *totals)
{
    const struct output_source *source = &pprof->source;
    struct wire_type period = wire_type_of_period(source);
    Perftools__Profiles__ValueType type = type_of(pprof, &period);
    Perftools__Profiles__Profile profile = PERFTOOLS__PROFILES__PROFILE__INIT;

    profile.time_nanos = signed_number(output_source_start(source));
    profile.duration_nanos =
        signed_number(whole_part(output_source_event_seconds(source, source->event, totals) * 1e9));
    profile.period_type = &type;
    profile.period = wire_period(&pprof->groups, NULL);
    protobuf_put(&pprof->out, &profile.base);
}

static void write_comment(struct pprof *pprof, struct buffer *text)
{
    Perftools__Profiles__Profile profile = PERFTOOLS__PROFILES__PROFILE__INIT;
    int64_t comment = string_table_add(&pprof->code.texts, text->data, text->size);

    profile.n_comment = 1;
    profile.comment = &comment;
    protobuf_put(&pprof->out, &profile.base);
    text->size = 0;
}

/* Write how the recording was made, what was profiled, and what is missing. */
static void write_comments(struct pprof *pprof, const struct recording_totals *totals)
{
    const struct recording_header *header = pprof->source.header;
    struct buffer text = {0};

    buffer_format(&text, "beamflame %s on %s, Linux %s: %s", header->version, header->hostname,
                  header->kernel, header->command);
    write_comment(pprof, &text);
    for (target_id id = 1; id <= profile_counts(pprof->source.profile).targets; id++) {
        if (pprof->source.target && id != pprof->source.target)
            continue;
        summary_text_of_target(pprof->source.profile, id, &text);
        write_comment(pprof, &text);
    }
    for (int i = 0; i < LOSS_COUNT; i++) {
        if (!totals->losses[i])
            continue;
        buffer_format(&text, "%" PRIu64 " %s", totals->losses[i], profile_loss_sentence(i));
        write_comment(pprof, &text);
    }
    if (cpu_account_text(header, totals, &text))
        write_comment(pprof, &text);
    if (totals->left_out) {
        buffer_format(&text, "%" PRIu64 " samples left out that are not selected",
                      totals->left_out);
        write_comment(pprof, &text);
    }
    idle_text(&pprof->source, totals, &text);
    if (text.size)
        write_comment(pprof, &text);
    if (totals->unknown) {
        buffer_format(&text, "%" PRIu64 " samples whose %s is not known", totals->unknown,
                      pprof->source.value);
        write_comment(pprof, &text);
    }
    if (totals->cut) {
        buffer_text(&text, "the recording was cut");
        write_comment(pprof, &text);
    }
    buffer_free(&text);
}

static void write_all(struct pprof *pprof, const struct recording_totals *totals)
{
    if (profile_counts(pprof->source.profile).targets)
        code_table_begin_with(&pprof->code, 1);
    write_types(pprof);
    write_samples(pprof);
    write_locations(pprof);
    write_functions(pprof);
    write_mappings(pprof);
    write_time(pprof, totals);
    write_comments(pprof, totals);
    write_texts(pprof);
}

static int pprof_finish(void *state, const struct recording_totals *totals, struct error *error)
{
    struct pprof *pprof = state;

    (void)error;
    if (totals)
        write_all(pprof, totals);
    sample_groups_free(&pprof->groups);
    code_table_free(&pprof->code);
    free(pprof);
    return 0;
}

const struct output_format pprof_format = {
    .name = "pprof",
    .suffixes = {".pb.gz", ".pb"},
    .one_event = true,
    .begin = pprof_begin,
    .sample = pprof_sample,
    .finish = pprof_finish,
};
