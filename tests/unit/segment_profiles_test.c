// SPDX-License-Identifier: Apache-2.0
/* The profiles of a recording, some of which are too large for a service. */
#include "large_recording.h"

#include <sys/resource.h>

#include "agent/segment_profiles.h"
#include "opentelemetry/proto/profiles/v1development/profiles.pb-c.h"
#include "pprof/profile.pb-c.h"

enum {
    BYTES_MOST = 768 << 10,
    ROWS_MOST = 16000,
    PROFILES_MOST = 200,
};

typedef Opentelemetry__Proto__Profiles__V1development__ProfilesData otlp_data;
typedef Opentelemetry__Proto__Profiles__V1development__Profile otlp_profile;
typedef Opentelemetry__Proto__Profiles__V1development__Sample otlp_sample;

static const struct push_service pyroscope = {.protocol = PUSH_PYROSCOPE};

/* The sum of all profiles. */
struct sums {
    size_t profiles, samples;
    size_t traced, timed; /* samples with a trace and a span; samples with a time */
    int64_t count, time;  /* of the first two values */
    int64_t starts[PROFILES_MOST];
    char services[PROFILES_MOST][8]; /* "shop0"; "" for OpenTelemetry */
    uint8_t ids[PROFILES_MOST][16];
    size_t sizes[PROFILES_MOST];
};

/* The labels "trace_id" and "span_id" of a sample are both there, or neither is. */
static bool is_traced(const Perftools__Profiles__Profile *profile,
                      const Perftools__Profiles__Sample *sample)
{
    int found = 0;

    for (size_t i = 0; i < sample->n_label; i++) {
        const char *key = profile->string_table[sample->label[i]->key];
        const char *text = profile->string_table[sample->label[i]->str];

        if (!strcmp(key, "trace_id"))
            found |= !strcmp(text, "4bf92f3577b34da6a3ce929d0e0e4736") ? 1 : 4;
        else if (!strcmp(key, "span_id"))
            found |= !strcmp(text, "00f067aa0ba902b7") ? 2 : 4;
    }
    assert_true(!found || found == 3);
    return found;
}

static void add_pprof(struct sums *sums, const struct push_profile *pushed)
{
    Perftools__Profiles__Profile *profile =
        perftools__profiles__profile__unpack(NULL, pushed->size, pushed->data);

    assert_non_null(profile);
    assert_in_range(profile->n_sample, 1, ROWS_MOST);
    for (size_t i = 0; i < profile->n_sample; i++) {
        sums->count += profile->sample[i]->value[0];
        sums->time += profile->sample[i]->value[1];
        sums->traced += is_traced(profile, profile->sample[i]);
        assert_in_range(profile->sample[i]->location_id[0], 1, profile->n_location);
    }
    sums->samples += profile->n_sample;
    sums->starts[sums->profiles] = profile->time_nanos;
    perftools__profiles__profile__free_unpacked(profile, NULL);
}

/* Link 0 is none. */
static bool is_linked(const otlp_data *data, const otlp_sample *sample)
{
    static const uint8_t span[] = {0x00, 0xf0, 0x67, 0xaa, 0x0b, 0xa9, 0x02, 0xb7};
    size_t link = (size_t)sample->link_index;

    assert_in_range(link, 0, data->dictionary->n_link_table - 1);
    if (link)
        assert_memory_equal(data->dictionary->link_table[link]->span_id.data, span, sizeof(span));
    return link;
}

static void add_otlp_profile(struct sums *sums, const otlp_data *data, const otlp_profile *profile)
{
    assert_in_range(profile->n_samples, 1, ROWS_MOST);
    for (size_t i = 0; i < profile->n_samples; i++)
        sums->count += profile->samples[i]->values[0];
    for (size_t i = 0; i < profile->n_samples; i++)
        sums->traced += is_linked(data, profile->samples[i]);
    for (size_t i = 0; i < profile->n_samples; i++)
        sums->timed += profile->samples[i]->n_timestamps_unix_nano == 1;
    sums->samples += profile->n_samples;
    sums->starts[sums->profiles] = (int64_t)profile->time_unix_nano;
}

static void add_otlp(struct sums *sums, const struct push_profile *pushed)
{
    otlp_data *data = opentelemetry__proto__profiles__v1development__profiles_data__unpack(
        NULL, pushed->size, pushed->data);

    assert_non_null(data);
    assert_true(data->n_resource_profiles > 0);
    for (size_t i = 0; i < data->n_resource_profiles; i++)
        add_otlp_profile(sums, data, data->resource_profiles[i]->scope_profiles[0]->profiles[0]);
    opentelemetry__proto__profiles__v1development__profiles_data__free_unpacked(data, NULL);
}

static const char *service_of(const struct push_profile *pushed)
{
    for (size_t i = 0; i < pushed->label_count; i++)
        if (!strcmp(pushed->labels[i].name, "service_name"))
            return pushed->labels[i].value;
    return "";
}

static struct sums *make(int fd, const struct push_service *service)
{
    struct sums *sums = xcalloc(1, sizeof(*sums));
    struct error error = {0};
    struct segment_profiles *profiles = segment_profiles_make(fd, service, &error);
    struct push_profile pushed;

    if (!profiles)
        fail_msg("%s", error.text);
    for (; segment_profiles_next(profiles, &pushed); sums->profiles++) {
        assert_in_range(sums->profiles, 0, PROFILES_MOST - 1);
        assert_in_range(pushed.size, 1, BYTES_MOST);
        (service->protocol == PUSH_OTLP ? add_otlp : add_pprof)(sums, &pushed);
        snprintf(sums->services[sums->profiles], 8, "%s", service_of(&pushed));
        memcpy(sums->ids[sums->profiles], pushed.id, sizeof(pushed.id));
        sums->sizes[sums->profiles] = pushed.size;
    }
    segment_profiles_free(profiles);
    return sums;
}

/* A profile with the id of another one, or with the labels and the time, may be taken for it. */
static void assert_distinct(const struct sums *sums)
{
    for (size_t i = 0; i < sums->profiles; i++)
        for (size_t other = 0; other < i; other++) {
            assert_memory_not_equal(sums->ids[i], sums->ids[other], 16);
            if (!strcmp(sums->services[i], sums->services[other]))
                assert_true(sums->starts[i] != sums->starts[other]);
        }
}

static void test_large_profiles_are_divided_and_nothing_is_lost(void **state)
{
    int fd = large_recording(small_header.start_realtime);

    (void)state;
    for (int protocol = 0; protocol < PUSH_PROTOCOLS; protocol++) {
        struct sums *sums =
            make(fd, &(struct push_service){.protocol = (enum push_protocol)protocol});

        assert_true(sums->profiles > SMALL_SAMPLES);
        assert_int_equal(sums->samples, LARGE_VMS * LARGE_STACKS);
        assert_int_equal(sums->count, LARGE_VMS * LARGE_STACKS);
        if (protocol != PUSH_OTLP)
            assert_int_equal(sums->time, (int64_t)LARGE_VMS * LARGE_STACKS * 10000000);
        assert_distinct(sums);
        free(sums);
    }
    close(fd);
}

/* Each piece has the times and the spans of its samples. */
static void test_large_profiles_with_times_are_divided(void **state)
{
    int fd = large_recording(small_header.start_realtime);
    struct sums *sums =
        make(fd, &(struct push_service){.protocol = PUSH_OTLP, .timestamps = true, .traces = true});

    (void)state;
    assert_true(sums->profiles > SMALL_SAMPLES);
    assert_int_equal(sums->samples, LARGE_VMS * LARGE_STACKS);
    assert_int_equal(sums->timed, LARGE_VMS * LARGE_STACKS);
    free(sums);
    close(fd);
}

#ifndef __SANITIZE_ADDRESS__
/* Pieces are made few at a time: each has all rows of its profile in memory. All at once took 175
 * MB. */
static void test_pieces_take_little_memory(void **state)
{
    int fd = large_recording(small_header.start_realtime);
    struct rusage usage;

    (void)state;
    free(make(fd, &pyroscope));
    assert_int_equal(getrusage(RUSAGE_CHILDREN, &usage), 0);
    assert_in_range(usage.ru_maxrss, 1000, 120000);
    close(fd);
}
#endif

/* Senders note how many profiles a service has: the others must be the same ones again. */
static void test_profiles_are_the_same_each_time(void **state)
{
    int fd = large_recording(small_header.start_realtime);
    struct sums *once = make(fd, &pyroscope), *again = make(fd, &pyroscope);

    (void)state;
    assert_memory_equal(once, again, sizeof(*once));
    free(once);
    free(again);
    close(fd);
}

static void test_small_profiles_are_whole(void **state)
{
    struct small_profile small;
    struct sums *sums;
    int fd;

    (void)state;
    small_profile_make(&small);
    fd = small_recording(&small);
    sums = make(fd, &pyroscope);
    assert_int_equal(sums->profiles, 1);
    assert_int_equal(sums->starts[0], small_header.start_realtime);
    free(sums);
    close(fd);
    profile_free(small.profile);
}

/* Samples 0 and 3 have one stack. Sample 0 works for a span, which only matters where traces are
 * sent. */
static void test_traces_are_sent_if_the_service_wants_them(void **state)
{
    const struct trace_span span = {0x4bf92f3577b34da6, 0xa3ce929d0e0e4736, 0xf067aa0ba902b7};
    struct small_profile small;
    int fd;

    (void)state;
    small_profile_make(&small);
    small.samples[0].trace_span = profile_trace_span(small.profile, &span);
    fd = small_recording(&small);
    for (int protocol = 0; protocol < PUSH_PROTOCOLS; protocol++) {
        struct push_service service = {.protocol = (enum push_protocol)protocol};
        struct sums *without = make(fd, &service), *with;

        service.traces = true;
        with = make(fd, &service);
        assert_int_equal(without->traced, 0);
        assert_int_equal(with->traced, 1);
        assert_int_equal(with->samples, without->samples + 1);
        assert_int_equal(with->count, without->count);
        free(without);
        free(with);
    }
    close(fd);
    profile_free(small.profile);
}

/* As Elastic needs it: a sample for each time. Samples 0 and 3 have one stack. */
static void test_samples_have_times_if_the_service_wants_them(void **state)
{
    struct push_service service = {.protocol = PUSH_OTLP};
    struct small_profile small;
    struct sums *without, *with;
    int fd;

    (void)state;
    small_profile_make(&small);
    fd = small_recording(&small);
    without = make(fd, &service);
    service.timestamps = true;
    with = make(fd, &service);
    assert_int_equal(without->timed, 0);
    assert_int_equal(without->samples, SMALL_SAMPLES - 1);
    assert_int_equal(with->timed, SMALL_SAMPLES);
    assert_int_equal(with->samples, SMALL_SAMPLES);
    assert_int_equal(with->count, without->count);
    free(without);
    free(with);
    close(fd);
    profile_free(small.profile);
}

/* The profile has two events with samples. */
static void test_service_gets_its_events(void **state)
{
    static const struct {
        char *events;
        size_t profiles;
    } cases[] = {{NULL, 2}, {"cpu", 1}, {"gc", 1}, {"gc,cpu", 2}, {"msg,gcs,cp", 0}};
    struct small_profile small;
    int fd;

    (void)state;
    small_profile_make(&small);
    small_profile_add_events(&small);
    fd = small_recording(&small);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        for (int protocol = 0; protocol < PUSH_PROTOCOLS; protocol++) {
            struct push_service service = {(enum push_protocol)protocol, .events = cases[i].events};
            struct sums *sums = make(fd, &service);

            assert_int_equal(sums->profiles, cases[i].profiles);
            free(sums);
        }
    close(fd);
    profile_free(small.profile);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_large_profiles_are_divided_and_nothing_is_lost),
        cmocka_unit_test(test_large_profiles_with_times_are_divided),
#ifndef __SANITIZE_ADDRESS__
        cmocka_unit_test(test_pieces_take_little_memory),
#endif
        cmocka_unit_test(test_profiles_are_the_same_each_time),
        cmocka_unit_test(test_small_profiles_are_whole),
        cmocka_unit_test(test_samples_have_times_if_the_service_wants_them),
        cmocka_unit_test(test_service_gets_its_events),
        cmocka_unit_test(test_traces_are_sent_if_the_service_wants_them),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
