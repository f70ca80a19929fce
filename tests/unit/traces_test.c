// SPDX-License-Identifier: Apache-2.0
/* The traces that samples are of: in recordings, formats and selections. */
#include "seen_recording.h"
#include "small_output.h"

#include "opentelemetry/proto/profiles/v1development/profiles.pb-c.h"
#include "pprof/profile.pb-c.h"
#include "profile/trace_text.h"
#include "view/selection.h"

#define TRACE      "00000000000000070123456789abcdef"
#define OTHER      "fedcba98765432100000000000000001"
#define SPAN       "00000000000000ff"
#define OTHER_SPAN "8000000000000000"

/* Samples 0 and 3 have the same stack: they are of two spans. Sample 1 is of the span of 0. */
static void make(struct small_profile *small)
{
    trace_span_id one, other;

    small_profile_make(small);
    one = profile_trace_span(small->profile, &(struct trace_span){7, 0x0123456789abcdef, 0xff});
    other = profile_trace_span(small->profile,
                               &(struct trace_span){0xfedcba9876543210, 1, 0x8000000000000000});
    small->samples[0].trace_span = small->samples[1].trace_span = one;
    small->samples[3].trace_span = other;
}

static void test_recordings_have_the_spans_of_samples(void **state)
{
    static const trace_span_id expected[] = {1, 1, 0, 2};
    struct small_profile small;
    struct seen seen;
    struct error error;
    char trace[TRACE_ID_TEXT], span[SPAN_ID_TEXT];

    (void)state;
    make(&small);
    assert_int_equal(read_fd(small_recording(&small), &seen, &error), 0);
    for (size_t i = 0; i < SMALL_SAMPLES; i++)
        assert_int_equal(seen.samples[i].trace_span, expected[i]);
    trace_id_text(profile_get_trace_span(seen.profile, 2), trace);
    span_id_text(profile_get_trace_span(seen.profile, 2), span);
    assert_string_equal(trace, OTHER);
    assert_string_equal(span, OTHER_SPAN);
    seen_free(&seen);
    profile_free(small.profile);
}

/* Version 11 is the same without traces. */
static void test_recordings_of_version_11_are_read(void **state)
{
    const uint8_t version = 11;
    struct small_profile small;
    struct seen seen;
    struct error error;
    int fd;

    (void)state;
    small_profile_make(&small);
    fd = small_recording(&small);
    assert_int_equal(pwrite(fd, &version, 1, 8), 1);
    assert_int_equal(read_fd(fd, &seen, &error), 0);
    assert_int_equal(seen.count, SMALL_SAMPLES);
    seen_free(&seen);
    profile_free(small.profile);
}

static Perftools__Profiles__Profile *pprof_of(struct small_profile *small, bool no_traces)
{
    const struct output_settings settings = {
        .view.grouping = {{GROUP_NONE}}, .no_labels = true, .no_traces = no_traces};
    size_t size;
    char *bytes = small_output_bytes(small, &pprof_format, &settings, &size);
    Perftools__Profiles__Profile *profile =
        perftools__profiles__profile__unpack(NULL, size, (uint8_t *)bytes);

    assert_non_null(profile);
    free(bytes);
    return profile;
}

/* "trace_id=... span_id=... \n" for each sample. */
static void assert_labels(struct small_profile *small, bool no_traces, const char *expected)
{
    Perftools__Profiles__Profile *profile = pprof_of(small, no_traces);
    struct buffer text = {0};

    for (size_t i = 0; i < profile->n_sample; i++) {
        for (size_t j = 0; j < profile->sample[i]->n_label; j++)
            buffer_format(&text, "%s=%s ", profile->string_table[profile->sample[i]->label[j]->key],
                          profile->string_table[profile->sample[i]->label[j]->str]);
        buffer_byte(&text, '\n');
    }
    buffer_byte(&text, '\0');
    assert_string_equal(text.data, expected);
    buffer_free(&text);
    perftools__profiles__profile__free_unpacked(profile, NULL);
}

/* Samples of one stack are merged, but for their spans. */
static void test_pprof_has_labels_of_spans(void **state)
{
    struct small_profile small;

    (void)state;
    make(&small);
    assert_labels(&small, false,
                  "trace_id=" TRACE " span_id=" SPAN " \ntrace_id=" OTHER " span_id=" OTHER_SPAN
                  " \ntrace_id=" TRACE " span_id=" SPAN " \n\n");
    make(&small);
    assert_labels(&small, true, "\n\n\n");
}

static void test_opentelemetry_has_links_to_spans(void **state)
{
    static const uint8_t trace[] = {0, 0,    0,    0,    0,    0,    0,    7,
                                    1, 0x23, 0x45, 0x67, 0x89, 0xab, 0xcd, 0xef},
                         span[] = {0, 0, 0, 0, 0, 0, 0, 0xff};
    static const int32_t expected[] = {1, 2, 1, 0};
    const struct output_settings settings = {.view.grouping = {{GROUP_NONE}}};
    struct small_profile small;
    size_t size;
    char *bytes;
    Opentelemetry__Proto__Profiles__V1development__ProfilesData *data;
    Opentelemetry__Proto__Profiles__V1development__ProfilesDictionary *dictionary;
    Opentelemetry__Proto__Profiles__V1development__Profile *profile;

    (void)state;
    make(&small);
    bytes = small_output_bytes(&small, &otlp_format, &settings, &size);
    data = opentelemetry__proto__profiles__v1development__profiles_data__unpack(NULL, size,
                                                                                (uint8_t *)bytes);
    assert_non_null(data);
    dictionary = data->dictionary;
    assert_int_equal(dictionary->n_link_table, 3);
    assert_int_equal(dictionary->link_table[0]->trace_id.len, 0);
    assert_int_equal(dictionary->link_table[1]->trace_id.len, sizeof(trace));
    assert_memory_equal(dictionary->link_table[1]->trace_id.data, trace, sizeof(trace));
    assert_int_equal(dictionary->link_table[1]->span_id.len, sizeof(span));
    assert_memory_equal(dictionary->link_table[1]->span_id.data, span, sizeof(span));
    profile = data->resource_profiles[0]->scope_profiles[0]->profiles[0];
    assert_int_equal(profile->n_samples, 4);
    for (size_t i = 0; i < profile->n_samples; i++)
        assert_int_equal(profile->samples[i]->link_index, expected[i]);
    opentelemetry__proto__profiles__v1development__profiles_data__free_unpacked(data, NULL);
    free(bytes);
}

static void assert_selected(const struct small_profile *small, const char *trace, const char *span,
                            const char *expected)
{
    struct selection_options options = {.statuses = 0};
    char selected[SMALL_SAMPLES + 1] = "";
    struct error error;

    if (trace)
        assert_int_equal(selection_add_trace(&options, trace, &error), 0);
    if (span)
        assert_int_equal(selection_add_span(&options, span, &error), 0);
    for (size_t i = 0, at = 0; i < SMALL_SAMPLES; i++)
        if (selection_is_trace(&options, small->profile, small->samples[i].trace_span))
            selected[at++] = (char)('0' + i);
    assert_string_equal(selected, expected);
    selection_options_free(&options);
}

static void test_samples_are_selected_by_trace_and_span(void **state)
{
    static const char *const bad[] = {
        "",  "7", TRACE "0", "0x000000000000070123456789abcdef", "g0000000000000070123456789abcdef",
        SPAN};
    struct selection_options options = {.statuses = 0};
    struct small_profile small;
    struct error error;

    (void)state;
    make(&small);
    assert_selected(&small, NULL, NULL, "0123");
    assert_selected(&small, TRACE, NULL, "01");
    assert_selected(&small, "FEDCBA98765432100000000000000001", NULL, "3");
    assert_selected(&small, NULL, OTHER_SPAN, "3");
    assert_selected(&small, TRACE, OTHER_SPAN, "");
    for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
        assert_int_equal(selection_add_trace(&options, bad[i], &error), -1);
    assert_int_equal(error.code, ERROR_USAGE);
    assert_int_equal(selection_add_span(&options, TRACE, &error), -1);
    profile_free(small.profile);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_recordings_have_the_spans_of_samples),
        cmocka_unit_test(test_recordings_of_version_11_are_read),
        cmocka_unit_test(test_pprof_has_labels_of_spans),
        cmocka_unit_test(test_opentelemetry_has_links_to_spans),
        cmocka_unit_test(test_samples_are_selected_by_trace_and_span),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
