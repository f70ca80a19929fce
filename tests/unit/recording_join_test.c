// SPDX-License-Identifier: Apache-2.0
/* Consecutive recordings, read as one. */
#include "small_profile.h"

#include "recording/recording_join.h"

enum { SPAN = 3000000000u }; /* ns, from one recording to the next */

/* Make a recording whose samples are `number` spans later, with another order of strings and
 * threads. */
static int recording_of(const struct recording_header *header, int number)
{
    struct small_profile small;
    struct recording_writer *writer;
    struct thread_times threads = {0};
    struct error error;
    int fd = -1;

    small_profile_make(&small);
    small_profile_add_events(&small);
    if (number)
        profile_string_z(small.profile, "only in later ones");
    writer = recording_create(NULL, "/tmp", header, &error);
    for (int i = 0; i < SMALL_SAMPLES; i++) {
        small.samples[i].time += (uint64_t)number * SPAN;
        assert_int_equal(recording_append(writer, small.profile, &small.samples[i], &error), 0);
    }
    small.totals.end_monotonic += (uint64_t)number * SPAN;
    small.summary.errors[1] = number ? EVENT_ERROR_UNKNOWN : 100;
    assert_int_equal(recording_put_summary(writer, small.profile, &small.summary, &error), 0);
    thread_times_add(&threads, &(struct thread_time){.thread = 1,
                                                     .from = (uint64_t)number * SPAN,
                                                     .to = (uint64_t)(number + 1) * SPAN,
                                                     .cpu_ns = 1000,
                                                     .wait_ns = 10,
                                                     .sampled_ns = 900});
    assert_int_equal(recording_put_threads(writer, small.profile, &threads, &error), 0);
    assert_int_equal(recording_finish(writer, small.profile, &small.totals, &fd, &error), 0);
    thread_times_free(&threads);
    profile_free(small.profile);
    return fd;
}

static int recording_number(int number)
{
    return recording_of(&small_header, number);
}

struct seen {
    struct profile *profile;
    struct sample samples[8 * SMALL_SAMPLES];
    size_t count;
};

static int see(void *context, const struct sample *sample, struct error *error)
{
    struct seen *seen = context;

    (void)error;
    seen->samples[seen->count++] = *sample;
    return 0;
}

static struct recording *read_joined(int fd, struct seen *seen)
{
    struct error error;
    struct recording *recording = recording_open(fd, "joined.bfr", &error);
    bool cut;

    assert_non_null(recording);
    *seen = (struct seen){.profile = profile_new()};
    assert_int_equal(recording_read(recording, seen->profile, see, seen, &cut, &error), 0);
    assert_false(cut);
    return recording;
}

static int join(const int *fds, size_t count, const struct join_options *options, int *ret_fd,
                struct error *error)
{
    static const char *const names[] = {"one", "two", "three"};
    struct join_part parts[3];

    for (size_t i = 0; i < count; i++)
        parts[i] = (struct join_part){fds[i], names[i]};
    return recording_join(parts, count, options, memory_file(), ret_fd, error);
}

static const struct join_options triggered = {.trigger = "msgq>5: 6"};

static int joined(size_t count)
{
    int fds[3], fd;
    struct error error;

    for (size_t i = 0; i < count; i++)
        fds[i] = recording_number((int)i);
    assert_int_equal(join(fds, count, &triggered, &fd, &error), 0);
    return fd;
}

/* All samples are there in order, and equal entries are merged. */
static void test_joined_samples_are_in_order_and_entries_merged(void **state)
{
    struct seen seen;
    struct recording *recording = read_joined(joined(3), &seen);
    struct profile_counts counts = profile_counts(seen.profile);

    (void)state;
    assert_int_equal(seen.count, 3 * SMALL_SAMPLES);
    for (size_t i = 0; i < seen.count; i++) {
        const struct sample *first = &seen.samples[i % SMALL_SAMPLES], *own = &seen.samples[i];

        assert_int_equal(own->time, first->time + i / SMALL_SAMPLES * SPAN);
        assert_int_equal(own->stack, first->stack);
        assert_int_equal(own->process, first->process);
        assert_int_equal(own->thread, first->thread);
        assert_int_equal(own->event, first->event);
        assert_memory_equal(own->values, first->values, sizeof(own->values));
        assert_int_equal(own->metrics.known, first->metrics.known);
    }
    assert_int_equal(counts.events, 3);
    assert_int_equal(counts.processes, 1);
    assert_int_equal(counts.threads, 1);
    assert_string_equal(recording_get_header(recording)->trigger, "msgq>5: 6");
    assert_string_equal(recording_get_header(recording)->command, small_header.command);
    assert_int_equal(recording_get_header(recording)->start_monotonic,
                     small_header.start_monotonic);
    recording_close(recording);
    profile_free(seen.profile);
}

static void test_counts_of_recordings_are_added_up(void **state)
{
    struct seen seen;
    struct recording *recording = read_joined(joined(3), &seen);
    const struct recording_totals *totals = recording_get_totals(recording);
    const struct event_summary *summary = recording_get_summary(recording, 2);
    const struct thread_times *threads = recording_get_threads(recording);

    (void)state;
    assert_int_equal(totals->samples, 3 * SMALL_SAMPLES);
    assert_int_equal(totals->losses[LOSS_RING_FULL], 6);
    assert_int_equal(totals->end_monotonic, 3500000000 + 2ull * SPAN);
    assert_int_equal(totals->attach_ns, 12345678);
    assert_int_equal(totals->peak_rss_kb, 4096);
    assert_int_equal(summary->hits, 3 * 1234);
    assert_int_equal(summary->span_ns, 3 * 2500000000ull);
    assert_int_equal(summary->sums[1], 3 * 3085);
    assert_int_equal(summary->errors[0], 173205); /* 100000 * sqrt(3) */
    assert_true(summary->errors[1] == EVENT_ERROR_UNKNOWN);
    assert_int_equal(summary->histogram_count, 1);
    assert_int_equal(histogram_count(&summary->histograms[0].histogram), 12);
    assert_int_equal(summary->histograms[0].seen, 6);
    assert_int_equal(summary->histograms[0].histogram.max, 500000);
    assert_int_equal(summary->tally_count, 1);
    assert_int_equal(summary->tallies[0].count, 15);
    assert_int_equal(summary->tallies[0].seen, 9);
    assert_null(recording_get_summary(recording, 1));
    assert_int_equal(threads->count, 1);
    assert_int_equal(threads->list[0].from, 0);
    assert_int_equal(threads->list[0].to, 3ull * SPAN);
    assert_int_equal(threads->list[0].cpu_ns, 3000);
    assert_int_equal(threads->list[0].wait_ns, 30);
    assert_int_equal(threads->list[0].sampled_ns, 2700);
    recording_close(recording);
    profile_free(seen.profile);
}

/* If one recording is damaged, an error says so, and the data before it is valid. */
static void test_data_before_the_damage_is_joined(void **state)
{
    int fds[2] = {recording_number(0), recording_number(1)}, fd;
    off_t size = lseek(fds[1], 0, SEEK_END);
    struct recording *recording;
    struct error error;
    struct seen seen;

    (void)state;
    assert_int_equal(pwrite(fds[1], "x", 1, size / 2), 1);
    lseek(fds[1], 0, SEEK_SET);
    assert_int_equal(join(fds, 2, &triggered, &fd, &error), -1);
    assert_true(fd >= 0);
    recording = read_joined(fd, &seen);
    assert_in_range(seen.count, SMALL_SAMPLES, 2 * SMALL_SAMPLES);
    recording_close(recording);
    profile_free(seen.profile);
}

static void test_file_that_is_no_recording_leaves_nothing(void **state)
{
    int fds[2] = {recording_number(0), memory_file_of("nothing", 7)}, fd;
    struct error error;

    (void)state;
    assert_int_equal(join(fds, 2, &triggered, &fd, &error), -1);
    assert_int_equal(fd, -1);
}

/* A caller that takes what it can get is given the others, and the number of those left out. */
static void test_unreadable_parts_are_left_out_and_counted_on_request(void **state)
{
    int fds[3] = {memory_file_of("nothing", 7), recording_number(0), memory_file_of("", 0)}, fd;
    unsigned unreadable = 0;
    const struct join_options options = {.order = JOIN_BY_TIME, .unreadable = &unreadable};
    struct recording *recording;
    struct error error;
    struct seen seen;

    (void)state;
    assert_int_equal(join(fds, 3, &options, &fd, &error), 0);
    assert_int_equal(unreadable, 2);
    recording = read_joined(fd, &seen);
    assert_int_equal(seen.count, SMALL_SAMPLES);
    recording_close(recording);
    profile_free(seen.profile);

    fds[0] = memory_file_of("nothing", 7);
    assert_int_equal(join(fds, 1, &options, &fd, &error), -1);
    assert_int_equal(fd, -1);
    assert_non_null(strstr(error.text, "one"));
}

static struct recording *join_two(int one, int other, const struct join_options *options,
                                  struct seen *seen)
{
    int fds[2] = {one, other}, fd;
    struct error error = {0};

    if (join(fds, 2, options, &fd, &error))
        fail_msg("%s", error.text);
    return read_joined(fd, seen);
}

static const struct join_options by_time = {.order = JOIN_BY_TIME};

static void assert_times(const struct seen *seen, const uint64_t *times, size_t count)
{
    assert_int_equal(seen->count, count);
    for (size_t i = 0; i < count; i++)
        assert_int_equal(seen->samples[i].time, times[i]);
}

/* Each of two hosts has its own targets, and samples are in order of real time, whichever host is
 * named first. */
static void test_samples_of_two_hosts_are_in_order_of_real_time(void **state)
{
    static const uint64_t SECOND = 1000000000;
    struct recording_header other = small_header;
    struct recording *recording;
    struct seen seen;

    (void)state;
    other.hostname = "web-2";
    other.start_monotonic += 100 * SECOND;
    other.start_realtime += 100 * SECOND + 5000000;
    other.trigger = "exit";
    recording = join_two(recording_of(&other, 0), recording_number(0), &by_time, &seen);
    /* The monotonic clock of web-2 is 99.995 s ahead. */
    assert_times(&seen,
                 (const uint64_t[]){2000000000, 2005000000, 2010000000, 2015000000, 2020000000,
                                    2025000000, 3000000000, 3005000000},
                 8);
    assert_int_equal(profile_counts(seen.profile).targets, 2);
    assert_int_equal(profile_counts(seen.profile).processes, 2);
    assert_int_equal(profile_counts(seen.profile).threads, 2);
    assert_int_equal(profile_counts(seen.profile).stacks, 5); /* as in one recording */
    assert_string_equal(recording_get_header(recording)->hostname, "web-2, web-1");
    assert_string_equal(recording_get_header(recording)->command, small_header.command);
    assert_string_equal(recording_get_header(recording)->trigger, "exit");
    assert_int_equal(recording_get_header(recording)->cpus, 4);
    assert_int_equal(recording_get_header(recording)->start_realtime, small_header.start_realtime);
    assert_int_equal(recording_get_header(recording)->start_monotonic,
                     small_header.start_monotonic);
    assert_string_equal(profile_text(seen.profile, profile_get_target(seen.profile, 1)->host),
                        "web-1");
    recording_close(recording);
    profile_free(seen.profile);
}

/* A restarted host has another clock; its VM is the same if all of its fields are equal. */
static void test_vm_of_a_restarted_host_is_the_same(void **state)
{
    struct recording_header other = small_header;
    struct recording *recording;
    struct seen seen;

    (void)state;
    other.start_monotonic = 500000000;
    other.start_realtime += 1500000000;
    recording = join_two(recording_number(0), recording_of(&other, 0), &by_time, &seen);
    assert_times(&seen,
                 (const uint64_t[]){2000000000, 2010000000, 2020000000, 3000000000, 4000000000,
                                    4010000000, 4020000000, 5000000000},
                 8);
    assert_int_equal(profile_counts(seen.profile).targets, 1);
    recording_close(recording);
    profile_free(seen.profile);
}

/* JOIN_IN_TURN puts recordings one after the other with a gap, whatever their times. */
static void test_recordings_joined_in_turn_follow_each_other(void **state)
{
    uint64_t starts[2];
    struct join_options options = {.order = JOIN_IN_TURN, .gap_ns = 1000000000, .starts = starts};
    struct recording *recording;
    struct seen seen;

    (void)state;
    recording = join_two(recording_number(1), recording_number(0), &options, &seen);
    assert_times(&seen,
                 (const uint64_t[]){5000000000, 5010000000, 5020000000, 6000000000, 8500000000,
                                    8510000000, 8520000000, 9500000000},
                 8);
    assert_int_equal(starts[0], 1000000000);
    assert_int_equal(starts[1], 7500000000);
    assert_int_equal(recording_get_totals(recording)->end_monotonic, 10000000000);
    assert_int_equal(recording_get_header(recording)->start_monotonic, 1000000000);
    assert_int_equal(recording_get_threads(recording)->list[0].cpu_ns, 2000);
    recording_close(recording);
    profile_free(seen.profile);
}

/* Recordings that cannot be added up are refused. */
static void test_recordings_of_different_clocks_are_refused(void **state)
{
    struct recording_header other = small_header;
    int fds[2], fd;
    struct error error;

    (void)state;
    other.frequency = 0; /* its values are no times */
    fds[0] = recording_number(0);
    fds[1] = recording_of(&other, 0);
    assert_int_equal(join(fds, 2, &by_time, &fd, &error), -1);
    assert_int_equal(fd, -1);
    assert_string_equal(error.text, "one has CPU samples by cpu-clock at 100 Hz, and two by "
                                    "cpu-clock at 0 Hz: such files can't be joined");
    other = small_header;
    other.event = "cycles";
    fds[0] = recording_number(0);
    fds[1] = recording_of(&other, 0);
    assert_int_equal(join(fds, 2, &by_time, &fd, &error), -1);
    assert_non_null(strstr(error.text, "by cycles at 100 Hz"));
}

/* Recordings of different frequencies are joined. The result has the highest frequency. */
static void test_frequencies_may_differ(void **state)
{
    static const uint32_t frequencies[] = {199, 50};

    (void)state;
    for (int i = 0; i < 2; i++) {
        struct recording_header other = small_header;
        struct recording *recording;
        struct seen seen;

        other.frequency = frequencies[i];
        recording = join_two(recording_number(0), recording_of(&other, 1), &by_time, &seen);
        assert_int_equal(recording_get_header(recording)->frequency, i ? 100 : 199);
        recording_close(recording);
        profile_free(seen.profile);
    }
}

/* Make a recording of one sample, with one event and one value. */
static int recording_counting(const char *event, const char *value)
{
    struct profile *profile = profile_new();
    struct event_entry entry = {.name = profile_string_z(profile, event), .value_count = 1};
    struct sample sample = {.time = 1, .values = {7}};
    struct recording_totals totals = {.samples = 1};
    struct recording_writer *writer;
    struct error error;
    int fd;

    entry.values[0] = (struct event_value){profile_string_z(profile, value), UNIT_COUNT};
    sample.event = profile_event(profile, &entry);
    writer = recording_create(NULL, "/tmp", &small_header, &error);
    assert_int_equal(recording_append(writer, profile, &sample, &error), 0);
    assert_int_equal(recording_finish(writer, profile, &totals, &fd, &error), 0);
    profile_free(profile);
    return fd;
}

/* Events of one name must have the same values; other events are added. */
static void test_events_of_one_name_need_the_same_values(void **state)
{
    int fds[2] = {recording_counting("gc", "bytes"), recording_counting("gc", "words")}, fd;
    struct recording *recording;
    struct error error;
    struct seen seen;

    (void)state;
    assert_int_equal(join(fds, 2, &by_time, &fd, &error), -1);
    assert_string_equal(error.text, "two: event gc has other values than in the file before");
    recording =
        join_two(recording_counting("misses", "count"), recording_number(0), &by_time, &seen);
    assert_int_equal(seen.count, SMALL_SAMPLES + 1);
    assert_int_equal(profile_counts(seen.profile).events, 4);
    assert_int_equal(seen.samples[0].event, 1);
    assert_int_equal(seen.samples[0].values[0], 7);
    assert_int_equal(seen.samples[1].event, 2);
    assert_non_null(recording_get_summary(recording, 3)); /* gc */
    recording_close(recording);
    profile_free(seen.profile);
}

/* A recording from `start` to `end` with event cpu, and gc if `has_gc`. */
static int recording_of_events(bool has_gc, uint64_t start, uint64_t end)
{
    struct recording_header header = small_header;
    struct recording_totals totals = {.end_monotonic = end};
    struct profile *profile = profile_new();
    struct sample sample = {.event = event_define(profile, EVENT_CPU), .time = start};
    struct recording_writer *writer;
    struct error error;
    int fd;

    header.start_realtime += start - header.start_monotonic;
    header.start_monotonic = start;
    if (has_gc)
        event_define(profile, EVENT_GC);
    writer = recording_create_fd(memory_file(), &header, &error);
    assert_non_null(writer);
    assert_int_equal(recording_append(writer, profile, &sample, &error), 0);
    assert_int_equal(recording_finish(writer, profile, &totals, &fd, &error), 0);
    profile_free(profile);
    return fd;
}

/* An event that some recordings do not have was recorded in the others' times; also when the joined
 * recording is joined again. An event of all recordings was recorded all of the time. */
static void test_an_event_is_recorded_where_recordings_have_it(void **state)
{
    static const struct time_span expected = {2000, 2900};
    int fds[3] = {recording_of_events(false, 1000, 1900), recording_of_events(true, 2000, 2900),
                  recording_of_events(false, 3000, 3900)};
    const struct event_spans *recorded;
    const struct spans *gc;
    struct recording *recording;
    struct error error;
    struct seen seen;
    int again[2], fd;

    (void)state;
    assert_int_equal(join(fds, 3, &by_time, &again[0], &error), 0);
    again[1] = recording_of_events(false, 5000, 5900);
    assert_int_equal(join(again, 2, &by_time, &fd, &error), 0);
    recording = read_joined(fd, &seen);
    recorded = recording_get_recorded(recording);
    gc = event_spans_get(recorded, event_find(seen.profile, EVENT_GC));
    assert_null(event_spans_get(recorded, event_find(seen.profile, EVENT_CPU)));
    assert_non_null(gc);
    assert_int_equal(gc->count, 1);
    assert_memory_equal(gc->list, &expected, sizeof(expected));
    recording_close(recording);
    profile_free(seen.profile);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_joined_samples_are_in_order_and_entries_merged),
        cmocka_unit_test(test_counts_of_recordings_are_added_up),
        cmocka_unit_test(test_data_before_the_damage_is_joined),
        cmocka_unit_test(test_file_that_is_no_recording_leaves_nothing),
        cmocka_unit_test(test_unreadable_parts_are_left_out_and_counted_on_request),
        cmocka_unit_test(test_samples_of_two_hosts_are_in_order_of_real_time),
        cmocka_unit_test(test_vm_of_a_restarted_host_is_the_same),
        cmocka_unit_test(test_recordings_joined_in_turn_follow_each_other),
        cmocka_unit_test(test_recordings_of_different_clocks_are_refused),
        cmocka_unit_test(test_frequencies_may_differ),
        cmocka_unit_test(test_events_of_one_name_need_the_same_values),
        cmocka_unit_test(test_an_event_is_recorded_where_recordings_have_it),
    };

    return cmocka_run_group_tests_name("recording_join", tests, NULL, NULL);
}
