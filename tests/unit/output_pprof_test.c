// SPDX-License-Identifier: Apache-2.0
/* pprof's format, read back with the code generated from its schema. */
#include "small_output.h"

#include "pprof/profile.pb-c.h"
#include "util/buffer.h"

static Perftools__Profiles__Profile *profile_of(struct small_profile *small,
                                                const struct output_settings *settings)
{
    size_t size;
    char *bytes = small_output_bytes(small, &pprof_format, settings, &size);
    Perftools__Profiles__Profile *profile =
        perftools__profiles__profile__unpack(NULL, size, (uint8_t *)bytes);

    assert_non_null(profile);
    free(bytes);
    return profile;
}

static const char *text_of(const Perftools__Profiles__Profile *profile, int64_t id)
{
    assert_in_range(id, 0, profile->n_string_table - 1);
    return profile->string_table[id];
}

static void put_type(const Perftools__Profiles__Profile *profile,
                     const Perftools__Profiles__ValueType *type, struct buffer *text)
{
    buffer_format(text, "%s/%s ", text_of(profile, type->type), text_of(profile, type->unit));
}

/* "symbol@file:line(mapping)" */
static void put_location(const Perftools__Profiles__Profile *profile, uint64_t id,
                         struct buffer *text)
{
    const Perftools__Profiles__Location *location = profile->location[id - 1];
    const Perftools__Profiles__Function *function =
        profile->function[location->line[0]->function_id - 1];

    assert_int_equal(location->id, id);
    assert_int_equal(function->id, location->line[0]->function_id);
    buffer_format(text, " %s", text_of(profile, function->name));
    if (function->filename)
        buffer_format(text, "@%s:%d", text_of(profile, function->filename),
                      (int)location->line[0]->line);
    if (location->mapping_id)
        buffer_format(text, "(%d)", (int)location->mapping_id);
}

static void put_samples(const Perftools__Profiles__Profile *profile, struct buffer *text)
{
    for (size_t i = 0; i < profile->n_sample; i++) {
        const Perftools__Profiles__Sample *sample = profile->sample[i];

        assert_int_equal(sample->n_value, profile->n_sample_type);
        for (size_t j = 0; j < sample->n_value; j++)
            buffer_format(text, "%lld ", (long long)sample->value[j]);
        for (size_t j = 0; j < sample->n_label; j++)
            buffer_format(text, "%s=%s ", text_of(profile, sample->label[j]->key),
                          text_of(profile, sample->label[j]->str));
        buffer_text(text, ":");
        for (size_t j = 0; j < sample->n_location_id; j++)
            put_location(profile, sample->location_id[j], text);
        buffer_byte(text, '\n');
    }
}

static void assert_text(struct buffer *text, const char *expected)
{
    buffer_byte(text, '\0');
    assert_string_equal(text->data, expected);
    text->size = 0;
}

/* Equal samples are merged; the profile has types, mappings, time and comments. */
static void test_equal_samples_are_merged(void **state)
{
    const struct output_settings settings = {.view.grouping = {{GROUP_NAME}}};
    struct small_profile small;
    Perftools__Profiles__Profile *profile;
    struct buffer text = {0};

    (void)state;
    small_profile_make(&small);
    profile = profile_of(&small, &settings);
    put_samples(profile, &text);
    assert_text(&text, "2 20000000 pid=<0.85.0> name=cart status=running scheduler=[scheduler 1] : "
                       "erlang:+/2 proc_lib:init_p/5 cart\n"
                       "1 10000000 pid=<0.85.0> name=cart status=running scheduler=[scheduler 1] : "
                       "do_syscall_64(1) memcpy(2) proc_lib:init_p/5 cart\n"
                       "1 10000000 scheduler=[scheduler 1] : spin(3) [scheduler] busy-wait\n");
    for (size_t i = 0; i < profile->n_sample_type; i++)
        put_type(profile, profile->sample_type[i], &text);
    put_type(profile, profile->period_type, &text);
    assert_text(&text, "samples/count cpu/nanoseconds cpu/nanoseconds ");
    assert_string_equal(text_of(profile, profile->default_sample_type), "cpu");
    assert_int_equal(profile->period, 10000000);
    assert_int_equal(profile->time_nanos, small_header.start_realtime);
    assert_int_equal(profile->duration_nanos, 2500000000);
    for (size_t i = 0; i < profile->n_mapping; i++)
        buffer_format(&text, "%s %s\n", text_of(profile, profile->mapping[i]->filename),
                      text_of(profile, profile->mapping[i]->build_id));
    assert_text(&text, "[kernel.kallsyms] \n/opt/my lib/libc.so.6 (deleted) \n" SMALL_FILE
                       " " SMALL_BUILD_ID "\n");
    for (size_t i = 0; i < profile->n_comment; i++)
        buffer_format(&text, "%s\n", text_of(profile, profile->comment[i]));
    assert_text(&text, "beamflame 0.1.0 on web-1, Linux 6.18.0: beamflame -p 100\n"
                       "shop@\"web\", pid 100, OTP 27\n"
                       "2 samples dropped because the ring buffer was full\n"
                       "1 native frames without a symbol, shown as file and offset\n");
    assert_string_equal(profile->string_table[0], "");
    perftools__profiles__profile__free_unpacked(profile, NULL);
    buffer_free(&text);
}

/* Let the last sample be of a process of another VM. */
static void add_another_vm(struct small_profile *small)
{
    struct profile *p = small->profile;
    const struct thread_entry *first = profile_get_thread(p, small->samples[0].thread);
    target_id target = profile_target(p, &(struct target_entry){.pid = 200,
                                                                .schedulers = 2,
                                                                .node = profile_string_z(p, "till"),
                                                                .layout = profile_string_z(p, "")});
    struct thread_entry thread = *first;

    thread.target = target;
    thread.tid = 202;
    small->samples[3].thread = profile_thread(p, &thread);
    small->samples[3].process = profile_process(
        p, &(struct process_entry){
               .identity = 0x553, .target = target, .pid = profile_string_z(p, "<0.85.0>")});
}

/* "samples; comments" */
static void put_parts(const char *bytes, size_t size, struct buffer *text)
{
    Perftools__Profiles__Profile *profile =
        perftools__profiles__profile__unpack(NULL, size, (const uint8_t *)bytes);
    long long samples = 0;

    assert_non_null(profile);
    for (size_t i = 0; i < profile->n_sample; i++)
        samples += profile->sample[i]->value[0];
    buffer_format(text, "%lld", samples);
    for (size_t i = 0; i < profile->n_comment; i++)
        if (strstr(text_of(profile, profile->comment[i]), "pid"))
            buffer_format(text, "; %s", text_of(profile, profile->comment[i]));
    buffer_byte(text, '\n');
    perftools__profiles__profile__free_unpacked(profile, NULL);
}

/* A profile of one VM has the samples of that VM, and describes no other one. */
static void test_profile_of_one_vm_has_nothing_of_others(void **state)
{
    const struct output_settings settings = {.view.grouping = {{GROUP_NAME}}};
    struct output_request requests[3];
    char *bytes[3];
    size_t sizes[3];
    struct small_profile small;
    struct output_result result;
    struct recording *recording;
    struct buffer text = {0};
    struct error error;

    (void)state;
    small_profile_make(&small);
    add_another_vm(&small);
    recording = recording_open(small_recording(&small), "test", &error);
    assert_non_null(recording);
    for (target_id i = 0; i < 3; i++)
        requests[i] = (struct output_request){.path = "-",
                                              .format = &pprof_format,
                                              .file = open_memstream(&bytes[i], &sizes[i]),
                                              .target = i};
    assert_int_equal(output_write(recording, &settings, requests, 3, &result, &error), 0);
    for (int i = 0; i < 3; i++) {
        fclose(requests[i].file);
        put_parts(bytes[i], sizes[i], &text);
        free(bytes[i]);
    }
    assert_text(&text, "4; shop@\"web\", pid 100, OTP 27; till, pid 200\n"
                       "3; shop@\"web\", pid 100, OTP 27\n"
                       "1; till, pid 200\n");
    output_result_free(&result);
    recording_close(recording);
    profile_free(small.profile);
    buffer_free(&text);
}

/* Samples of a node that is half idle stand for less than a period each. Their numbers add up to
 * the time, rounded: 1.2, 0.6 and 0.6 periods are 2. */
static void test_numbers_of_samples_add_up_to_the_time(void **state)
{
    const struct output_settings settings = {.view.grouping = {{GROUP_NAME}}};
    struct small_profile small;
    Perftools__Profiles__Profile *profile;
    static const int64_t expected[][2] = {{1, 12000000}, {1, 6000000}, {0, 6000000}};

    (void)state;
    small_profile_make(&small);
    for (int i = 0; i < SMALL_SAMPLES; i++)
        small.samples[i].values[CPU_TIME] = 6000000;
    profile = profile_of(&small, &settings);
    assert_int_equal(profile->n_sample, 3);
    for (size_t i = 0; i < profile->n_sample; i++)
        for (size_t j = 0; j < 2; j++)
            assert_int_equal(profile->sample[i]->value[j], expected[i][j]);
    assert_int_equal(profile->period, 12000000);
    perftools__profiles__profile__free_unpacked(profile, NULL);
}

/* Check the sums and types of a file with event gc and this value; NULL: the default value. */
static void assert_sums(const char *value, const char *expected)
{
    const struct output_settings settings = {
        .view.grouping = {{GROUP_NAME}}, .event = "gc", .value = value};
    struct small_profile small;
    Perftools__Profiles__Profile *profile;
    struct buffer text = {0};

    small_profile_make(&small);
    small_profile_add_events(&small);
    profile = profile_of(&small, &settings);
    for (size_t i = 0; i < profile->n_sample_type; i++) {
        int64_t sum = 0;

        for (size_t j = 0; j < profile->n_sample; j++)
            sum += profile->sample[j]->value[i];
        put_type(profile, profile->sample_type[i], &text);
        buffer_format(&text, "%lld; ", (long long)sum);
    }
    buffer_text(&text, text_of(profile, profile->default_sample_type));
    assert_string_equal(text_of(profile, profile->period_type->type), "gc");
    assert_int_equal(profile->period, 1);
    assert_text(&text, expected);
    perftools__profiles__profile__free_unpacked(profile, NULL);
    buffer_free(&text);
}

/* The file has all values of an event except levels, and the selected metric. */
static void test_file_has_all_values_of_an_event_except_levels(void **state)
{
    (void)state;
    assert_sums(NULL, "samples/count 2; time/nanoseconds 4580190; count/count 4; "
                      "reclaimed/bytes 8000; binaries/bytes 1500; time");
    assert_sums("reclaimed", "samples/count 1; time/nanoseconds 12300; count/count 3; "
                             "reclaimed/bytes 8000; binaries/bytes 0; reclaimed");
    assert_sums("reductions",
                "samples/count 2; time/nanoseconds 4580190; count/count 4; "
                "reclaimed/bytes 8000; binaries/bytes 1500; reductions/count 5500; reductions");
    assert_sums("samples", "samples/count 2; time/nanoseconds 4580190; count/count 4; "
                           "reclaimed/bytes 8000; binaries/bytes 1500; samples");
}

/* Files and lines are there; a sum beyond the format's range becomes its largest number. */
static void test_sum_beyond_the_range_becomes_the_largest_number(void **state)
{
    const struct output_settings settings = {.view.grouping = {{GROUP_NONE}}};
    struct small_profile small;
    Perftools__Profiles__Profile *profile;
    struct buffer text = {0};
    struct frame frame;

    (void)state;
    small_profile_make(&small);
    frame = (struct frame){.symbol = profile_string_z(small.profile, "a:f/1"),
                           .file = profile_string_z(small.profile, "a.erl"),
                           .line = 12,
                           .kind = FRAME_ERLANG};
    for (int i = 0; i < SMALL_SAMPLES; i++) {
        small.samples[i] = small.samples[2];
        small.samples[i].time += (uint64_t)i;
        small.samples[i].values[0] = INT64_MAX / 2;
        small.samples[i].thread = 0;
        small.samples[i].stack =
            profile_stack(small.profile, 0, profile_frame(small.profile, &frame));
    }
    profile = profile_of(&small, &settings);
    put_samples(profile, &text);
    assert_text(&text,
                "1844674407371 9223372036854775807 : a:f/1@a.erl:12 [scheduler] busy-wait\n");
    perftools__profiles__profile__free_unpacked(profile, NULL);
    buffer_free(&text);
}

/* Check the stack of `depth` frames f0, f1... at the root: its depth in the file, its leaf, and the
 * frame in the middle if frames are left out. */
static void assert_deep(int depth, size_t written, const char *middle)
{
    const struct output_settings settings = {.view.grouping = {{GROUP_NONE}}, .no_labels = true};
    struct small_profile small;
    Perftools__Profiles__Profile *profile;
    const Perftools__Profiles__Sample *sample;
    struct buffer text = {0};
    char name[16], leaf[16];
    stack_id stack = 0;

    small_profile_make(&small);
    for (int i = 0; i < depth; i++) {
        snprintf(name, sizeof(name), "f%d", i);
        stack = profile_stack(small.profile, stack,
                              small_frame(small.profile, name, "", FRAME_ERLANG, 1));
    }
    for (int i = 0; i < SMALL_SAMPLES; i++) {
        small.samples[i] = small.samples[0];
        small.samples[i].stack = stack;
    }
    profile = profile_of(&small, &settings);
    assert_int_equal(profile->n_sample, 1);
    sample = profile->sample[0];
    assert_int_equal(sample->n_location_id, written);
    put_location(profile, sample->location_id[0], &text);
    snprintf(leaf, sizeof(leaf), " f%d", depth - 1);
    assert_text(&text, leaf);
    put_location(profile, sample->location_id[written - 1], &text);
    assert_text(&text, " f0");
    for (size_t i = written - 501; middle && i < written - 499; i++)
        put_location(profile, sample->location_id[i], &text);
    if (middle)
        assert_text(&text, middle);
    perftools__profiles__profile__free_unpacked(profile, NULL);
    buffer_free(&text);
}

/* A stack of more than 1,000 frames keeps its root and its leaf. One frame in the middle says how
 * many are left out. */
static void test_deep_stack_is_cut_in_the_middle(void **state)
{
    (void)state;
    assert_deep(1000, 1000, NULL);
    assert_deep(1001, 746, " [256 frames truncated] f499");
    assert_deep(1255, 1000, " [256 frames truncated] f499");
    assert_deep(1256, 745, " [512 frames truncated] f499");
    assert_deep(5000, 905, " [4096 frames truncated] f499");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_equal_samples_are_merged),
        cmocka_unit_test(test_profile_of_one_vm_has_nothing_of_others),
        cmocka_unit_test(test_numbers_of_samples_add_up_to_the_time),
        cmocka_unit_test(test_file_has_all_values_of_an_event_except_levels),
        cmocka_unit_test(test_deep_stack_is_cut_in_the_middle),
        cmocka_unit_test(test_sum_beyond_the_range_becomes_the_largest_number),
    };

    return cmocka_run_group_tests_name("output_pprof", tests, NULL, NULL);
}
