// SPDX-License-Identifier: Apache-2.0
#include "output/protobuf/protobuf_internal.h"

#include <endian.h>
#include <stdlib.h>
#include <string.h>

#include "util/alloc.h"
#include "util/number.h"

struct attribute {
    uint64_t number;
    uint32_t key;   /* a text */
    uint32_t value; /* one of `values`; 0: `number` is the value */
};

void otlp_dictionary_init(struct otlp_dictionary *dictionary, const struct profile *profile)
{
    *dictionary = (struct otlp_dictionary){0};
    code_table_init(&dictionary->code, profile);
    intern_init(&dictionary->attributes, sizeof(struct attribute), sizeof(struct attribute));
    intern_init(&dictionary->links, sizeof(trace_span_id), sizeof(trace_span_id));
}

void otlp_dictionary_free(struct otlp_dictionary *dictionary)
{
    code_table_free(&dictionary->code);
    intern_free(&dictionary->attributes);
    intern_free(&dictionary->links);
    string_table_free(&dictionary->values);
    free(dictionary->stacked);
    free(dictionary->stack_ends);
}

int32_t otlp_dictionary_text(struct otlp_dictionary *dictionary, const char *text)
{
    return (int32_t)code_table_text(&dictionary->code, text);
}

int32_t otlp_dictionary_attribute(struct otlp_dictionary *dictionary, const char *key,
                                  const char *text)
{
    const struct attribute attribute = {
        .key = code_table_text(&dictionary->code, key),
        .value = string_table_add(&dictionary->values, text, strlen(text))};

    return (int32_t)intern_add(&dictionary->attributes, &attribute);
}

int32_t otlp_dictionary_attribute_number(struct otlp_dictionary *dictionary, const char *key,
                                         uint64_t number)
{
    const struct attribute attribute = {.key = code_table_text(&dictionary->code, key),
                                        .number = number};

    return (int32_t)intern_add(&dictionary->attributes, &attribute);
}

int32_t otlp_dictionary_link(struct otlp_dictionary *dictionary, trace_span_id span)
{
    return (int32_t)intern_add(&dictionary->links, &span);
}

int32_t otlp_dictionary_stack(struct otlp_dictionary *dictionary, const struct view_frame *frames,
                              size_t count)
{
    uint32_t locations[CODE_STACK_MAX];
    size_t end;

    count = code_table_stack(&dictionary->code, frames, count, locations);
    end = dictionary->stacked_count + count;
    dictionary->stacked =
        xgrow(dictionary->stacked, &dictionary->stacked_room, end, sizeof(*dictionary->stacked));
    for (size_t i = 0; i < count; i++)
        dictionary->stacked[dictionary->stacked_count++] = (int32_t)locations[i];
    dictionary->stack_ends = xgrow(dictionary->stack_ends, &dictionary->ends_room,
                                   dictionary->stacks, sizeof(*dictionary->stack_ends));
    dictionary->stack_ends[dictionary->stacks++] = end;
    return (int32_t)dictionary->stacks;
}

/* ---- writing ---- */

static void write_mappings(struct otlp_dictionary *dictionary, struct protobuf *out)
{
    const struct profile *profile = dictionary->code.profile;

    for (uint32_t id = 0; id <= dictionary->code.mappings.count; id++) {
        OTLP(ProfilesDictionary) part = OTLP_INIT(PROFILES_DICTIONARY);
        OTLP(Mapping) mapping = OTLP_INIT(MAPPING);
        int32_t build_id;

        if (id) {
            const struct module *module = code_table_module(&dictionary->code, id);

            mapping.filename_strindex =
                otlp_dictionary_text(dictionary, profile_text(profile, module->path));
            mapping.attribute_indices = &build_id;
            mapping.n_attribute_indices = module->build_id != 0;
            if (module->build_id)
                build_id = otlp_dictionary_attribute(dictionary, "process.executable.build_id.gnu",
                                                     profile_text(profile, module->build_id));
        }
        part.n_mapping_table = 1;
        part.mapping_table = (OTLP(Mapping) *[]){&mapping};
        protobuf_put(out, &part.base);
    }
}

/* The type of a frame by OpenTelemetry's semantic conventions. Root frames and notes have one, too:
 * Elastic's exporter refuses a profile if a location has none (serializeprofiles/transform.go:266
 * in opentelemetry-collector-contrib at 01d8b1c1f4c7). They stand for what the VM does. */
static const char *frame_type(enum frame_kind kind)
{
    switch (kind) {
    case FRAME_NATIVE:
        return "native";
    case FRAME_KERNEL:
        return "kernel";
    case FRAME_ERLANG:
    case FRAME_BIF:
    case FRAME_RUNTIME:
    case FRAME_MARK:
        break;
    }
    return "beam";
}

static void fill_location(struct otlp_dictionary *dictionary, uint32_t id,
                          OTLP(Location) * location, OTLP(Line) * line, int32_t *type)
{
    const struct code_location *known = intern_get(&dictionary->code.locations, id);

    line->function_index = (int32_t)known->function;
    line->line = known->line;
    location->mapping_index = (int32_t)known->mapping;
    location->address = known->address;
    location->n_lines = 1;
    location->n_attribute_indices = 1;
    *type = otlp_dictionary_attribute(dictionary, "profile.frame.type",
                                      frame_type((enum frame_kind)known->kind));
}

static void write_locations(struct otlp_dictionary *dictionary, struct protobuf *out)
{
    for (uint32_t id = 0; id <= dictionary->code.locations.count; id++) {
        OTLP(ProfilesDictionary) part = OTLP_INIT(PROFILES_DICTIONARY);
        OTLP(Location) location = OTLP_INIT(LOCATION);
        OTLP(Line) line = OTLP_INIT(LINE);
        int32_t type;

        location.lines = (OTLP(Line) *[]){&line};
        location.attribute_indices = &type;
        if (id)
            fill_location(dictionary, id, &location, &line, &type);
        part.n_location_table = 1;
        part.location_table = (OTLP(Location) *[]){&location};
        protobuf_put(out, &part.base);
    }
}

static void write_functions(const struct otlp_dictionary *dictionary, struct protobuf *out)
{
    static const struct code_function none = {0};

    for (uint32_t id = 0; id <= dictionary->code.functions.count; id++) {
        const struct code_function *known =
            id ? intern_get(&dictionary->code.functions, id) : &none;
        OTLP(ProfilesDictionary) part = OTLP_INIT(PROFILES_DICTIONARY);
        OTLP(Function) function = OTLP_INIT(FUNCTION);

        function.name_strindex = (int32_t)known->name;
        function.filename_strindex = (int32_t)known->file;
        part.n_function_table = 1;
        part.function_table = (OTLP(Function) *[]){&function};
        protobuf_put(out, &part.base);
    }
}

/* Ids of links are their bytes, the high one first. */
static void write_links(const struct otlp_dictionary *dictionary, struct protobuf *out)
{
    for (uint32_t id = 0; id <= dictionary->links.count; id++) {
        OTLP(ProfilesDictionary) part = OTLP_INIT(PROFILES_DICTIONARY);
        OTLP(Link) link = OTLP_INIT(LINK);
        uint64_t trace[2], span;

        if (id) {
            const trace_span_id *known = intern_get(&dictionary->links, id);
            const struct trace_span *ids = profile_get_trace_span(dictionary->code.profile, *known);

            trace[0] = htobe64(ids->trace_high);
            trace[1] = htobe64(ids->trace_low);
            span = htobe64(ids->span);
            link.trace_id = (ProtobufCBinaryData){sizeof(trace), (uint8_t *)trace};
            link.span_id = (ProtobufCBinaryData){sizeof(span), (uint8_t *)&span};
        }
        part.n_link_table = 1;
        part.link_table = (OTLP(Link) *[]){&link};
        protobuf_put(out, &part.base);
    }
}

static void write_stacks(const struct otlp_dictionary *dictionary, struct protobuf *out)
{
    size_t start = 0, end = 0;

    for (uint32_t id = 0; id <= dictionary->stacks; id++, start = end) {
        OTLP(ProfilesDictionary) part = OTLP_INIT(PROFILES_DICTIONARY);
        OTLP(Stack) stack = OTLP_INIT(STACK);

        end = id ? dictionary->stack_ends[id - 1] : 0;
        stack.n_location_indices = end - start;
        stack.location_indices = end > start ? dictionary->stacked + start : NULL;
        part.n_stack_table = 1;
        part.stack_table = (OTLP(Stack) *[]){&stack};
        protobuf_put(out, &part.base);
    }
}

static void fill_attribute(const struct otlp_dictionary *dictionary, uint32_t id,
                           OTLP(KeyValueAndUnit) * pair, OTLP_COMMON(AnyValue) * value)
{
    const struct attribute *known = intern_get(&dictionary->attributes, id);

    pair->key_strindex = (int32_t)known->key;
    pair->value = value;
    if (known->value) {
        value->value_case = OPENTELEMETRY__PROTO__COMMON__V1__ANY_VALUE__VALUE_STRING_VALUE;
        value->string_value = (char *)string_table_get(&dictionary->values, known->value);
    } else {
        value->value_case = OPENTELEMETRY__PROTO__COMMON__V1__ANY_VALUE__VALUE_INT_VALUE;
        value->int_value = signed_number(known->number);
    }
}

static void write_attributes(const struct otlp_dictionary *dictionary, struct protobuf *out)
{
    for (uint32_t id = 0; id <= dictionary->attributes.count; id++) {
        OTLP(ProfilesDictionary) part = OTLP_INIT(PROFILES_DICTIONARY);
        OTLP(KeyValueAndUnit) pair = OTLP_INIT(KEY_VALUE_AND_UNIT);
        OTLP_COMMON(AnyValue) value = OTLP_COMMON_INIT(ANY_VALUE);

        if (id)
            fill_attribute(dictionary, id, &pair, &value);
        part.n_attribute_table = 1;
        part.attribute_table = (OTLP(KeyValueAndUnit) *[]){&pair};
        protobuf_put(out, &part.base);
    }
}

static void write_texts(const struct otlp_dictionary *dictionary, struct protobuf *out)
{
    for (uint32_t id = 0; id <= dictionary->code.texts.count; id++) {
        OTLP(ProfilesDictionary) part = OTLP_INIT(PROFILES_DICTIONARY);

        part.n_string_table = 1;
        part.string_table = (char *[]){(char *)string_table_get(&dictionary->code.texts, id)};
        protobuf_put(out, &part.base);
    }
}

/* Attributes and texts come last: writing the other tables adds to them. */
void otlp_dictionary_write(struct protobuf *out, void *context)
{
    struct otlp_dictionary *dictionary = context;

    write_mappings(dictionary, out);
    write_locations(dictionary, out);
    write_functions(dictionary, out);
    write_links(dictionary, out);
    write_stacks(dictionary, out);
    write_attributes(dictionary, out);
    write_texts(dictionary, out);
}
