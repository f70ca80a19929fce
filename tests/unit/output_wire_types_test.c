// SPDX-License-Identifier: Apache-2.0
/* The names, units and periods of events in pprof's format and OpenTelemetry's profiles. */
#include "small_output.h"

#include "output/protobuf/wire_types.h"
#include "util/buffer.h"

static const char *const events[] = {
    "cpu", "wall", "gc", "alloc", "sched", "msg", "bif:lists:member/2", "probe:f.cold+7"};

/* One sample of `event`, whose values are 1, 2, 3... */
static struct recording *recording_of(const char *event)
{
    struct small_profile small;
    struct sample sample;
    struct recording *recording;
    struct error error = {0};

    small_profile_make(&small);
    sample = small.samples[0];
    sample.event = event_define(small.profile, event);
    for (int i = 0; i < EVENT_VALUES; i++)
        sample.values[i] = (uint64_t)i + 1;
    for (int i = 0; i < SMALL_SAMPLES; i++) {
        sample.time = small.samples[i].time;
        small.samples[i] = sample;
    }
    recording = recording_open(small_recording(&small), "test", &error);
    assert_non_null(recording);
    profile_free(small.profile);
    return recording;
}

static void round_groups(struct sample_groups *groups)
{
    uint32_t *ids = sample_groups_by_stack(groups);

    sample_groups_round(groups, ids);
    free(ids);
}

/* Append "event: type/unit=value ...; type/unit period" for four samples of the event. */
static void put_types(const char *name, const char *value, struct buffer *text)
{
    struct error error = {0};
    struct profile *profile = profile_new();
    struct view *view = view_new(profile, &(struct view_options){.grouping = {{GROUP_NONE}}});
    struct recording *recording = recording_of(name);
    struct output_source source = {
        .header = &small_header, .profile = profile, .view = view, .value = value};
    struct sample_groups groups;
    struct sample sample;
    struct wire_type period;
    bool cut, begun = false;

    while (recording_next(recording, profile, &sample, &cut, &error) == 1) {
        source.event = sample.event;
        if (!begun)
            sample_groups_init(&groups, &source, false);
        begun = true;
        sample_groups_add(&groups, &sample);
    }
    round_groups(&groups);
    buffer_format(text, "%s:", name);
    for (size_t i = 0; i < groups.weight_count; i++) {
        struct wire_type type = wire_type_of_weight(&source, &groups.weights[i]);

        buffer_format(text, " %s/%s=%lld", type.name, type.unit,
                      (long long)wire_value(&groups.weights[i], sample_group_sums(&groups, 1)[i]));
    }
    period = wire_type_of_period(&source);
    buffer_format(text, "; %s/%s %lld\n", period.name, period.unit,
                  (long long)wire_period(&groups, NULL));
    sample_groups_free(&groups);
    recording_close(recording);
    view_free(view);
    profile_free(profile);
}

static void assert_text(struct buffer *text, const char *expected)
{
    buffer_byte(text, '\0');
    assert_string_equal(text->data, expected);
    buffer_free(text);
}

/* Time, allocation and waiting have the names that services know; words are bytes; every event has
 * a period. */
static void test_each_event_has_names_that_services_know(void **state)
{
    struct buffer text = {0};

    (void)state;
    for (size_t i = 0; i < sizeof(events) / sizeof(events[0]); i++)
        put_types(events[i], NULL, &text);
    assert_text(&text,
                "cpu: samples/count=1 cpu/nanoseconds=4; cpu/nanoseconds 4\n"
                "wall: samples/count=4 wall/nanoseconds=4 count/count=8; wall/nanoseconds 1\n"
                "gc: samples/count=4 time/nanoseconds=4 count/count=8 reclaimed/bytes=96 "
                "binaries/bytes=16; gc/count 1\n"
                "alloc: samples/count=4 alloc_space/bytes=32 count/count=8 binaries/bytes=12; "
                "space/bytes 1\n"
                "sched: samples/count=4 delay/nanoseconds=4 run_queue/nanoseconds=8 count/count=12 "
                "long/nanoseconds=16; contentions/count 1\n"
                "msg: samples/count=4 count/count=4 copied/bytes=64 delay/nanoseconds=12 "
                "received/count=16 signals/count=20; msg/count 1\n"
                "bif:lists:member/2: samples/count=4 time/nanoseconds=4 count/count=8; "
                "bif_lists_member_2/count 1\n"
                "probe:f.cold+7: samples/count=4 count/count=4; probe_f_cold_7/count 1\n");
}

/* A selected level or metric has a name without '-', and words of it are bytes, too. */
static void test_selected_weights_have_valid_names(void **state)
{
    struct buffer text = {0};

    (void)state;
    put_types("gc", "heap-before", &text);
    put_types("cpu", "heap", &text);
    assert_text(&text,
                "gc: samples/count=4 time/nanoseconds=4 count/count=8 reclaimed/bytes=96 "
                "binaries/bytes=16 heap_before/bytes=160; gc/count 1\n"
                "cpu: samples/count=1 cpu/nanoseconds=4 heap/bytes=64000; cpu/nanoseconds 4\n");
}

/* A sample that stands for 3 periods counts as 3, and three of 0.6 periods as 2, as in outputs
 * without units, unless samples that weigh 1 are selected. Samples times the period are the time,
 * also if no sample is a whole number of periods. */
static void test_samples_times_the_period_are_the_time(void **state)
{
    static const uint64_t times[] = {30000000, 6000000, 6000000, 6000000};
    static const struct {
        const char *value;
        uint64_t samples;
    } cases[] = {{NULL, 5}, {"samples", 4}};

    (void)state;
    for (size_t i = 0; i < 2; i++) {
        struct profile *profile = profile_new();
        struct view *view = view_new(profile, &(struct view_options){.grouping = {{GROUP_NONE}}});
        struct output_source source = {.header = &small_header,
                                       .profile = profile,
                                       .view = view,
                                       .event = event_define(profile, EVENT_CPU),
                                       .value = cases[i].value};
        struct sample_groups groups;
        target_id target = 1;

        sample_groups_init(&groups, &source, false);
        for (int j = 0; j < 4; j++)
            sample_groups_add(&groups,
                              &(struct sample){.event = source.event, .values[0] = times[j]});
        round_groups(&groups);
        assert_int_equal(sample_group_sums(&groups, 1)[0], cases[i].samples);
        assert_int_equal(wire_period(&groups, NULL), 48000000 / cases[i].samples);
        assert_int_equal(wire_period(&groups, &target), 1); /* it has no sample */
        sample_groups_free(&groups);
        view_free(view);
        profile_free(profile);
    }
}

/* A label's text is cut between characters. */
static void test_label_is_cut_between_characters(void **state)
{
    char text[WIRE_TEXT_MAX + 3];

    (void)state;
    memset(text, 'a', sizeof(text));
    assert_int_equal(wire_text_size(text, WIRE_TEXT_MAX), WIRE_TEXT_MAX);
    assert_int_equal(wire_text_size(text, sizeof(text)), WIRE_TEXT_MAX);
    memcpy(text + WIRE_TEXT_MAX - 1, "\xc3\xa9", 2);
    assert_int_equal(wire_text_size(text, sizeof(text)), WIRE_TEXT_MAX - 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_event_has_names_that_services_know),
        cmocka_unit_test(test_selected_weights_have_valid_names),
        cmocka_unit_test(test_samples_times_the_period_are_the_time),
        cmocka_unit_test(test_label_is_cut_between_characters),
    };

    return cmocka_run_group_tests_name("output_wire_types", tests, NULL, NULL);
}
