// SPDX-License-Identifier: Apache-2.0
/* OpenTelemetry's profiles, read back with the code generated from their schema. */
#include "small_output.h"

#include "output/protobuf/protobuf_internal.h"
#include "util/buffer.h"

static const OTLP(ProfilesDictionary) * dictionary;

static OTLP(ProfilesData) *
    data_of(struct small_profile *small, const struct output_settings *settings)
{
    size_t size;
    char *bytes = small_output_bytes(small, &otlp_format, settings, &size);
    OTLP(ProfilesData) *data = opentelemetry__proto__profiles__v1development__profiles_data__unpack(
        NULL, size, (uint8_t *)bytes);

    assert_non_null(data);
    dictionary = data->dictionary;
    free(bytes);
    return data;
}

static void free_data(OTLP(ProfilesData) * data)
{
    opentelemetry__proto__profiles__v1development__profiles_data__free_unpacked(data, NULL);
}

static void assert_text(struct buffer *text, const char *expected)
{
    buffer_byte(text, '\0');
    assert_string_equal(text->data, expected);
    text->size = 0;
}

static void put_value(const OTLP_COMMON(AnyValue) * value, struct buffer *text)
{
    if (value->value_case == OPENTELEMETRY__PROTO__COMMON__V1__ANY_VALUE__VALUE_STRING_VALUE)
        buffer_text(text, value->string_value);
    else
        buffer_format(text, "%lld", (long long)value->int_value);
}

static void put_attributes(const int32_t *indices, size_t count, struct buffer *text)
{
    for (size_t i = 0; i < count; i++) {
        const OTLP(KeyValueAndUnit) *pair = dictionary->attribute_table[indices[i]];

        buffer_format(text, " %s=", dictionary->string_table[pair->key_strindex]);
        put_value(pair->value, text);
    }
}

/* " symbol@line(path build id type)", leaf first. */
static void put_stack(int32_t index, struct buffer *text)
{
    const OTLP(Stack) *stack = dictionary->stack_table[index];

    for (size_t i = 0; i < stack->n_location_indices; i++) {
        const OTLP(Location) *location = dictionary->location_table[stack->location_indices[i]];
        const OTLP(Mapping) *mapping = dictionary->mapping_table[location->mapping_index];
        const OTLP(Function) *function =
            dictionary->function_table[location->lines[0]->function_index];

        buffer_format(text, " %s(%s", dictionary->string_table[function->name_strindex],
                      dictionary->string_table[mapping->filename_strindex]);
        put_attributes(mapping->attribute_indices, mapping->n_attribute_indices, text);
        put_attributes(location->attribute_indices, location->n_attribute_indices, text);
        buffer_byte(text, ')');
    }
}

static void put_type(const OTLP(ValueType) * type, struct buffer *text)
{
    assert_non_null(type);
    buffer_format(text, "%s/%s", dictionary->string_table[type->type_strindex],
                  dictionary->string_table[type->unit_strindex]);
}

static void put_profile(const OTLP(Profile) * profile, struct buffer *text)
{
    put_type(profile->sample_type, text);
    buffer_byte(text, ' ');
    put_type(profile->period_type, text);
    buffer_byte(text, '\n');
    for (size_t i = 0; i < profile->n_samples; i++) {
        const OTLP(Sample) *sample = profile->samples[i];

        assert_int_equal(sample->n_values, 1);
        buffer_format(text, "%lld", (long long)sample->values[0]);
        put_attributes(sample->attribute_indices, sample->n_attribute_indices, text);
        buffer_text(text, " :");
        put_stack(sample->stack_index, text);
        buffer_byte(text, '\n');
    }
}

#define CART                                                                                       \
    " beam.process.pid=<0.85.0> beam.process.name=cart beam.process.status=running "               \
    "beam.scheduler=[scheduler 1] :"
#define INIT " proc_lib:init_p/5( profile.frame.type=beam) cart( profile.frame.type=beam)\n"

/* The VM is the resource. CPU time is the number of samples times the period. */
static void test_resource_is_the_vm_with_a_profile_of_samples(void **state)
{
    const struct output_settings settings = {.view.grouping = {{GROUP_NAME}}};
    struct small_profile small;
    struct buffer text = {0};
    OTLP(ProfilesData) * data;
    const OTLP(ResourceProfiles) * resource;
    const OTLP(ScopeProfiles) * scope;

    (void)state;
    small_profile_make(&small);
    data = data_of(&small, &settings);
    assert_int_equal(data->n_resource_profiles, 1);
    resource = data->resource_profiles[0];
    for (size_t i = 0; i < resource->resource->n_attributes; i++) {
        buffer_format(&text, "%s=", resource->resource->attributes[i]->key);
        put_value(resource->resource->attributes[i]->value, &text);
        buffer_byte(&text, '\n');
    }
    assert_text(&text, "service.name=shop\nservice.instance.id=shop@\"web\"\nhost.name=web-1\n"
                       "host.arch=amd64\nos.type=linux\nprocess.pid=100\n"
                       "process.runtime.name=BEAM\ntelemetry.distro.name=beamflame\n"
                       "telemetry.distro.version=0.1.0\n");
    assert_int_equal(resource->n_scope_profiles, 1);
    scope = resource->scope_profiles[0];
    assert_string_equal(scope->scope->name, "beamflame");
    assert_int_equal(scope->n_profiles, 1);
    put_profile(scope->profiles[0], &text);
    assert_text(&text, "samples/count cpu/nanoseconds\n"
                       "2" CART " erlang:+/2( profile.frame.type=beam)" INIT "1" CART
                       " do_syscall_64([kernel.kallsyms] profile.frame.type=kernel)"
                       " memcpy(/opt/my lib/libc.so.6 (deleted) profile.frame.type=native)" INIT
                       "1 beam.scheduler=[scheduler 1] : spin(" SMALL_FILE
                       " process.executable.build_id.gnu=" SMALL_BUILD_ID
                       " profile.frame.type=native) [scheduler] busy-wait("
                       " profile.frame.type=beam)\n");
    assert_int_equal(scope->profiles[0]->time_unix_nano, small_header.start_realtime);
    assert_int_equal(scope->profiles[0]->duration_nano, 2500000000);
    assert_int_equal(scope->profiles[0]->period, 10000000);
    put_attributes(scope->profiles[0]->attribute_indices, scope->profiles[0]->n_attribute_indices,
                   &text);
    assert_text(&text, " beamflame.losses.ring_full=2 beamflame.losses.unknown_native=1");
    free_data(data);
    buffer_free(&text);
}

/* Element 0 of each table is the zero value, and no element is there twice. */
static void test_tables_begin_with_zero_and_have_no_duplicates(void **state)
{
    const struct output_settings settings = {.view.grouping = {{GROUP_NAME}}};
    struct small_profile small;
    OTLP(ProfilesData) * data;

    (void)state;
    small_profile_make(&small);
    data = data_of(&small, &settings);
    assert_string_equal(dictionary->string_table[0], "");
    assert_int_equal(dictionary->mapping_table[0]->filename_strindex, 0);
    assert_int_equal(dictionary->mapping_table[0]->n_attribute_indices, 0);
    assert_int_equal(dictionary->location_table[0]->n_lines, 0);
    assert_int_equal(dictionary->location_table[0]->n_attribute_indices, 0);
    assert_int_equal(dictionary->function_table[0]->name_strindex, 0);
    assert_int_equal(dictionary->stack_table[0]->n_location_indices, 0);
    assert_int_equal(dictionary->attribute_table[0]->key_strindex, 0);
    assert_null(dictionary->attribute_table[0]->value);
    assert_int_equal(dictionary->n_link_table, 1);
    assert_int_equal(dictionary->link_table[0]->trace_id.len, 0);
    assert_int_equal(dictionary->link_table[0]->span_id.len, 0);
    for (size_t i = 0; i < dictionary->n_string_table; i++)
        for (size_t j = 0; j < i; j++)
            assert_string_not_equal(dictionary->string_table[i], dictionary->string_table[j]);
    free_data(data);
}

/* Each VM has its own samples; samples whose value in a profile is 0 are not in it, and a profile
 * without samples is not written. */
static void test_each_vm_has_its_own_samples(void **state)
{
    const struct output_settings settings = {.view.grouping = {{GROUP_NONE}}, .event = "gc"};
    struct small_profile small;
    struct process_entry other;
    struct buffer text = {0};
    OTLP(ProfilesData) * data;

    (void)state;
    small_profile_make(&small);
    small_profile_add_events(&small);
    other = *profile_get_process(small.profile, 1);
    other.target = profile_target(small.profile, &(struct target_entry){.pid = 200});
    small.samples[3].process = profile_process(small.profile, &other);
    data = data_of(&small, &settings);
    assert_int_equal(data->n_resource_profiles, 2);
    for (size_t i = 0; i < 2; i++) {
        const OTLP(ScopeProfiles) *scope = data->resource_profiles[i]->scope_profiles[0];

        for (size_t j = 0; j < scope->n_profiles; j++) {
            const OTLP(Profile) *profile = scope->profiles[j];

            buffer_format(&text, "%s",
                          dictionary->string_table[profile->sample_type->type_strindex]);
            for (size_t k = 0; k < profile->n_samples; k++)
                buffer_format(&text, " %lld", (long long)profile->samples[k]->values[0]);
            buffer_text(&text, "; ");
        }
    }
    assert_text(&text, "time 12300; samples 1; count 3; reclaimed 8000; "
                       "time 4567890; samples 1; count 1; binaries 1500; ");
    free_data(data);
    buffer_free(&text);
}

/* The selected CPU time comes first. */
static void test_selected_cpu_time_is_a_profile(void **state)
{
    const struct output_settings settings = {.view.grouping = {{GROUP_NAME}}, .value = "cpu"};
    struct small_profile small;
    struct buffer text = {0};
    OTLP(ProfilesData) * data;
    const OTLP(ScopeProfiles) * scope;

    (void)state;
    small_profile_make(&small);
    data = data_of(&small, &settings);
    scope = data->resource_profiles[0]->scope_profiles[0];
    for (size_t i = 0; i < scope->n_profiles; i++) {
        put_type(scope->profiles[i]->sample_type, &text);
        buffer_byte(&text, ' ');
    }
    assert_text(&text, "cpu/nanoseconds samples/count ");
    free_data(data);
    buffer_free(&text);
}

/* Samples without labels are summed up by stack; the VM is known. */
static void test_labels_can_be_left_out(void **state)
{
    const struct output_settings settings = {.view.grouping = {{GROUP_NONE}}, .no_labels = true};
    struct small_profile small;
    struct buffer text = {0};
    OTLP(ProfilesData) * data;

    (void)state;
    small_profile_make(&small);
    small.samples[3].status = STATUS_RUNNABLE; /* another label */
    data = data_of(&small, &settings);
    assert_int_equal(data->resource_profiles[0]->resource->attributes[5]->value->int_value, 100);
    put_profile(data->resource_profiles[0]->scope_profiles[0]->profiles[0], &text);
    buffer_byte(&text, '\0');
    assert_null(strstr(text.data, "beam.process"));
    assert_non_null(strstr(text.data, "\n2 : erlang:+/2("));
    free_data(data);
    buffer_free(&text);
}

/* With times, each sample has its time, inside the profile's range. */
static void test_samples_can_have_times(void **state)
{
    const struct output_settings settings = {.view.grouping = {{GROUP_NAME}}, .timestamps = true};
    static const uint64_t expected[] = {1000000000, 2000000000, 1010000000, 2499999999};
    struct small_profile small;
    OTLP(ProfilesData) * data;
    const OTLP(Profile) * profile;

    (void)state;
    small_profile_make(&small);
    small.samples[2].time = small.totals.end_monotonic; /* the range is without its end */
    small.samples[3].time = 3000000000;
    data = data_of(&small, &settings);
    profile = data->resource_profiles[0]->scope_profiles[0]->profiles[0];
    assert_int_equal(profile->n_samples, SMALL_SAMPLES);
    for (size_t i = 0; i < SMALL_SAMPLES; i++) {
        assert_int_equal(profile->samples[i]->n_values, 1);
        assert_int_equal(profile->samples[i]->n_timestamps_unix_nano, 1);
        assert_int_equal(profile->samples[i]->timestamps_unix_nano[0] - profile->time_unix_nano,
                         expected[i]);
    }
    free_data(data);
}

/* Where all processes are idle, graphs leave out all samples: there is no resource, but a
 * dictionary. */
static void test_idle_processes_alone_give_no_resource(void **state)
{
    const struct output_settings settings = {.view.grouping = {{GROUP_NAME}}, .event = "wall"};
    struct small_profile small;
    OTLP(ProfilesData) * data;
    event_id wall;

    (void)state;
    small_profile_make(&small);
    wall = event_define(small.profile, EVENT_WALL);
    for (int i = 0; i < SMALL_SAMPLES; i++) {
        small.samples[i].event = wall;
        small.samples[i].status = STATUS_IDLE;
    }
    data = data_of(&small, &settings);
    assert_int_equal(data->n_resource_profiles, 0);
    assert_int_equal(dictionary->n_string_table, 1);
    free_data(data);
}

/* The text of a label has the size that services take. */
static void test_long_label_is_cut(void **state)
{
    const struct output_settings settings = {.view.grouping = {{GROUP_NONE}}};
    struct small_profile small;
    OTLP(ProfilesData) * data;
    struct process_entry process;
    char name[3001];
    size_t found = 0;

    (void)state;
    memset(name, 'a', 3000);
    name[3000] = '\0';
    small_profile_make(&small);
    process = *profile_get_process(small.profile, 1);
    process.name = profile_string_z(small.profile, name);
    small.samples[0].process = profile_process(small.profile, &process);
    data = data_of(&small, &settings);
    for (size_t i = 1; i < dictionary->n_attribute_table; i++) {
        const OTLP_COMMON(AnyValue) *value = dictionary->attribute_table[i]->value;
        const char *text = value->string_value;

        if (value->value_case != OPENTELEMETRY__PROTO__COMMON__V1__ANY_VALUE__VALUE_STRING_VALUE)
            continue;
        found += *text == 'a' && strlen(text) == 2048;
        assert_true(strlen(text) <= 2048);
    }
    assert_int_equal(found, 1);
    free_data(data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_resource_is_the_vm_with_a_profile_of_samples),
        cmocka_unit_test(test_tables_begin_with_zero_and_have_no_duplicates),
        cmocka_unit_test(test_each_vm_has_its_own_samples),
        cmocka_unit_test(test_selected_cpu_time_is_a_profile),
        cmocka_unit_test(test_labels_can_be_left_out),
        cmocka_unit_test(test_samples_can_have_times),
        cmocka_unit_test(test_idle_processes_alone_give_no_resource),
        cmocka_unit_test(test_long_label_is_cut),
    };

    return cmocka_run_group_tests_name("output_otlp", tests, NULL, NULL);
}
