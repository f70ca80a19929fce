// SPDX-License-Identifier: Apache-2.0
#include "seen_recording.h"

#include <signal.h>
#include <sys/resource.h>

/* Add a process with a parent, ancestors, and a label that is a detail. */
static process_id add_family(struct profile *p)
{
    struct process_entry sup = {.identity = 5, .target = 1, .pid = profile_string_z(p, "<0.7.0>")};
    struct process_entry worker = {.identity = 6, .target = 1};
    ancestor_id above = profile_ancestor(p, 0, profile_string_z(p, "shop_sup"));

    worker.label = profile_string_z(p, "peer");
    worker.label_is_detail = 1;
    worker.application = profile_string_z(p, "shop");
    worker.parent = profile_process(p, &sup);
    worker.ancestors = profile_ancestor(p, above, sup.pid);
    return profile_process(p, &worker);
}

/* The reader returns what was written: header, tables with the same ids, samples, totals. */
static void test_recording_is_read_as_it_was_written(void **state)
{
    struct small_profile small;
    struct profile_counts a, b;
    struct recording *recording;
    struct seen seen;
    struct error error;
    int fd;

    (void)state;
    small_profile_make(&small);
    small.samples[3].process = add_family(small.profile);
    small.totals.left_out = 77;
    fd = small_recording(&small);
    recording = recording_open(dup(fd), "test.bfr", &error);
    assert_non_null(recording);
    assert_string_equal(recording_get_header(recording)->command, small_header.command);
    assert_string_equal(recording_get_header(recording)->event, "cpu-clock");
    assert_int_equal(recording_get_header(recording)->start_realtime, small_header.start_realtime);
    assert_int_equal(recording_get_header(recording)->frequency, 100);
    recording_close(recording);
    lseek(fd, 0, SEEK_SET);

    assert_int_equal(read_fd(fd, &seen, &error), 0);
    assert_false(seen.cut);
    assert_int_equal(seen.count, SMALL_SAMPLES);
    for (size_t i = 0; i < SMALL_SAMPLES; i++)
        assert_same_sample(&seen.samples[i], &small.samples[i]);
    a = profile_counts(small.profile);
    b = profile_counts(seen.profile);
    assert_memory_equal(&a, &b, sizeof(a));
    for (string_id i = 1; i <= a.strings; i++)
        assert_string_equal(profile_text(seen.profile, i), profile_text(small.profile, i));
    for (module_id i = 1; i <= a.modules; i++)
        assert_memory_equal(profile_get_module(seen.profile, i),
                            profile_get_module(small.profile, i), sizeof(struct module));
    for (frame_id i = 1; i <= a.frames; i++)
        assert_memory_equal(profile_get_frame(seen.profile, i), profile_get_frame(small.profile, i),
                            offsetof(struct frame, unresolved) + 1);
    for (stack_id i = 1; i <= a.stacks; i++)
        assert_memory_equal(profile_get_stack(seen.profile, i), profile_get_stack(small.profile, i),
                            sizeof(struct stack_node));
    assert_memory_equal(profile_get_event(seen.profile, 1), profile_get_event(small.profile, 1),
                        sizeof(struct event_entry));
    assert_memory_equal(profile_get_target(seen.profile, 1), profile_get_target(small.profile, 1),
                        sizeof(struct target_entry));
    assert_memory_equal(profile_get_thread(seen.profile, 1), profile_get_thread(small.profile, 1),
                        sizeof(struct thread_entry));
    for (ancestor_id i = 1; i <= a.ancestors; i++)
        assert_memory_equal(profile_get_ancestor(seen.profile, i),
                            profile_get_ancestor(small.profile, i), sizeof(struct ancestor));
    for (process_id i = 1; i <= a.processes; i++)
        assert_memory_equal(profile_get_process(seen.profile, i),
                            profile_get_process(small.profile, i),
                            offsetof(struct process_entry, label_is_detail) + sizeof(uint32_t));
    assert_int_equal(seen.totals.attach_ns, small.totals.attach_ns);
    assert_int_equal(seen.totals.losses[LOSS_UNKNOWN_NATIVE], 1);
    assert_int_equal(seen.totals.peak_rss_kb, 4096);
    assert_int_equal(seen.totals.left_out, 77);
    seen_free(&seen);
    profile_free(small.profile);
}

static void test_extreme_values_of_each_field_survive(void **state)
{
    struct small_profile small;
    struct seen seen;
    struct error error;
    int fd;

    (void)state;
    small_profile_make(&small);
    profile_frame(small.profile, &(struct frame){.address = UINT64_MAX,
                                                 .line = UINT32_MAX,
                                                 .kind = FRAME_MARK,
                                                 .unresolved = 1});
    profile_frame(small.profile,
                  &(struct frame){.likeness = UINT64_MAX, .kind = FRAME_NATIVE, .unresolved = 1});
    profile_frame(small.profile, &(struct frame){.kind = FRAME_ERLANG});
    small.samples[0].values[0] = UINT64_MAX;
    small.samples[1].values[0] = 0;
    small.samples[1].cpu = UINT16_MAX;
    small.samples[2].stack = small.samples[2].thread = 0;
    small.samples[3].time = UINT64_MAX;
    fd = small_recording(&small);
    assert_int_equal(read_fd(fd, &seen, &error), 0);
    for (size_t i = 0; i < SMALL_SAMPLES; i++)
        assert_same_sample(&seen.samples[i], &small.samples[i]);
    assert_int_equal(profile_get_frame(seen.profile, profile_counts(seen.profile).frames - 2)->line,
                     UINT32_MAX);
    assert_int_equal(
        profile_get_frame(seen.profile, profile_counts(seen.profile).frames - 1)->likeness,
        UINT64_MAX);
    seen_free(&seen);
    profile_free(small.profile);
}

/* End the recording, which must have samples of these times, one of them out of order. Frees the
 * profile. */
static void assert_times(struct recording_writer *writer, struct profile *p, const uint64_t *ms,
                         size_t count)
{
    struct recording_totals totals = {0};
    struct seen seen;
    struct error error;
    int fd;

    assert_int_equal(recording_finish(writer, p, &totals, &fd, &error), 0);
    assert_int_equal(totals.losses[LOSS_OUT_OF_ORDER], 1);
    assert_int_equal(read_fd(fd, &seen, &error), 0);
    assert_int_equal(seen.count, count);
    for (size_t i = 0; i < seen.count; i++)
        assert_int_equal(seen.samples[i].time, ms[i] * 1000000);
    assert_int_equal(seen.totals.losses[LOSS_OUT_OF_ORDER], 1);
    seen_free(&seen);
    profile_free(p);
}

/* Samples within 500 ms are sorted; a sample that is later than that gets the newest written time,
 * and is counted. */
static void test_samples_within_500_ms_are_sorted(void **state)
{
    static const uint64_t in_ms[] = {5000, 4750, 4950, 4700, 5505, 5300, 4500, 10000, 7500};
    static const uint64_t out_ms[] = {4700, 4750, 4950, 5000, 5000, 5300, 5505, 7500, 10000};
    struct profile *p = profile_new();
    struct sample sample = {.event = event_define(p, EVENT_CPU)};
    struct error error;
    struct recording_writer *writer = recording_create(NULL, "/tmp", &small_header, &error);

    (void)state;
    for (size_t i = 0; i < sizeof(in_ms) / sizeof(in_ms[0]); i++) {
        sample.time = in_ms[i] * 1000000;
        assert_int_equal(recording_append(writer, p, &sample, &error), 0);
    }
    assert_times(writer, p, out_ms, sizeof(out_ms) / sizeof(out_ms[0]));
}

/* Samples that the caller holds keep their times, however late they come. Then 500 ms count again.
 */
static void test_newer_samples_wait_for_those_that_are_held(void **state)
{
    struct profile *p = profile_new();
    struct sample sample = {.event = event_define(p, EVENT_CPU)};
    struct error error;
    struct recording_writer *writer = recording_create(NULL, "/tmp", &small_header, &error);
    static const struct step {
        uint64_t held, ms;
    } in[] = {{1000, 1000}, {1100, 3000},       {1100, 1100},      {2000, 5000},
              {2000, 2000}, {UINT64_MAX, 6000}, {UINT64_MAX, 2500}};
    static const uint64_t out_ms[] = {1000, 1100, 2000, 3000, 5000, 5000, 6000};

    (void)state;
    for (size_t i = 0; i < sizeof(in) / sizeof(in[0]); i++) {
        recording_writer_wait_for(writer,
                                  in[i].held == UINT64_MAX ? UINT64_MAX : in[i].held * 1000000);
        sample.time = in[i].ms * 1000000;
        assert_int_equal(recording_append(writer, p, &sample, &error), 0);
    }
    assert_times(writer, p, out_ms, sizeof(out_ms) / sizeof(out_ms[0]));
}

/* After a flush all complete samples are in the file, even if the writer never continues. */
static void test_flushed_samples_are_in_the_file(void **state)
{
    char path[] = "/tmp/recording-test.XXXXXX";
    struct small_profile small;
    struct recording_writer *writer;
    struct seen seen;
    struct error error;

    (void)state;
    small_profile_make(&small);
    close(mkstemp(path));
    writer = recording_create(path, NULL, &small_header, &error);
    assert_non_null(writer);
    for (int i = 0; i < SMALL_SAMPLES; i++)
        recording_append(writer, small.profile, &small.samples[i], &error);
    assert_int_equal(recording_flush(writer, small.profile, &small.totals, &error), 0);
    assert_int_equal(read_fd(open(path, O_RDONLY), &seen, &error), 0);
    assert_true(seen.cut && seen.totals.cut);
    assert_int_equal(seen.count, SMALL_SAMPLES - 1); /* the last one still waits for order */
    seen_free(&seen);

    recording_writer_looked(writer, small.samples[3].time + 500000000);
    assert_int_equal(recording_flush(writer, small.profile, &small.totals, &error), 0);
    assert_int_equal(read_fd(open(path, O_RDONLY), &seen, &error), 0);
    assert_int_equal(seen.count, SMALL_SAMPLES);
    assert_int_equal(seen.totals.losses[LOSS_RING_FULL], 2);
    seen_free(&seen);
    assert_int_equal(recording_finish(writer, small.profile, &small.totals, NULL, &error), 0);
    unlink(path);
    profile_free(small.profile);
}

/* Samples of several events, each with its own number of values, and a peer. */
static void test_samples_of_several_events_are_read_back(void **state)
{
    struct small_profile small;
    struct seen seen;
    struct error error;
    struct sample *gc = &small.samples[1], *message = &small.samples[3];
    int fd;

    (void)state;
    small_profile_make(&small);
    gc->event = event_define(small.profile, "gc");
    for (uint64_t i = 0; i < EVENT_VALUES; i++)
        gc->values[i] = UINT64_MAX - i;
    message->event = event_define(small.profile, "msg");
    message->values[MSG_WORDS] = 17;
    message->peer = message->process;
    fd = small_recording(&small);
    assert_int_equal(read_fd(fd, &seen, &error), 0);
    assert_int_equal(profile_counts(seen.profile).events, 3);
    assert_string_equal(profile_text(seen.profile, profile_get_event(seen.profile, 3)->name),
                        "msg");
    for (size_t i = 0; i < SMALL_SAMPLES; i++)
        assert_same_sample(&seen.samples[i], &small.samples[i]);
    seen_free(&seen);
    profile_free(small.profile);
}

/* The samples of an event in a target add up to the newest totals of both, also samples from before
 * these were set. All others stay as they were written. */
static void test_samples_add_up_to_the_totals_of_their_target(void **state)
{
    enum { SAMPLES = 1000 };
    const uint64_t first[EVENT_VALUES] = {7000001, 0, 3}, later[EVENT_VALUES] = {12345678, 0, 5};
    struct profile *p = profile_new();
    event_id event = event_define(p, EVENT_GC), other = event_define(p, EVENT_MSG);
    target_id targets[2] = {profile_target(p, &(struct target_entry){.pid = 1}),
                            profile_target(p, &(struct target_entry){.pid = 2})};
    struct recording_totals totals = {0};
    struct seen seen = {0};
    struct recording_writer *writer;
    uint64_t sums[2][3] = {{0}}, others = 0;
    struct error error;
    int fd;

    (void)state;
    writer = recording_create(NULL, "/tmp", &small_header, &error);
    assert_non_null(writer);
    for (uint32_t i = 0; i < SAMPLES; i++) {
        struct sample sample = {
            .time = small_header.start_monotonic + i,
            .event = i % 3 ? event : other,
            .thread = profile_thread(p, &(struct thread_entry){.target = targets[i % 2]}),
            .values = {i, 17, i == 500},
            .flags = i == 400 ? SAMPLE_EXACT : 0,
        };

        assert_int_equal(recording_append(writer, p, &sample, &error), 0);
        if (i == 300) {
            recording_put_values(writer, event, targets[0], first);
            assert_int_equal(recording_flush(writer, p, &totals, &error), 0);
        }
    }
    recording_put_values(writer, event, targets[0], later);
    assert_int_equal(recording_finish(writer, p, &totals, &fd, &error), 0);
    assert_int_equal(read_fd(fd, &seen, &error), 0);
    for (size_t i = 0; i < seen.count; i++) {
        const struct sample *sample = &seen.samples[i];
        size_t target = i % 2;

        if (sample->flags & SAMPLE_EXACT)
            assert_int_equal(sample->values[0], 400);
        for (int v = 0; v < 3; v++)
            sums[target][v] += i % 3 ? sample->values[v] : 0;
        others += i % 3 ? 0 : sample->values[1];
    }
    assert_int_equal(seen.count, SAMPLES);
    assert_in_range(sums[0][0], later[0] - 1, later[0]);
    assert_int_equal(sums[0][1], 333 * 17); /* no total: as they were written */
    assert_in_range(sums[0][2], later[2] - 1, later[2]);
    assert_int_equal(sums[1][1], 333 * 17); /* another target */
    assert_int_equal(others, 334 * 17);     /* another event */
    seen_free(&seen);
    profile_free(p);
}

/* An event after the first sample is refused, because no reader accepts such a file. */
static void test_event_after_the_first_sample_is_refused(void **state)
{
    struct small_profile small;
    struct recording_writer *writer;
    struct error error;

    (void)state;
    small_profile_make(&small);
    writer = recording_create(NULL, "/tmp", &small_header, &error);
    assert_int_equal(recording_append(writer, small.profile, &small.samples[0], &error), 0);
    assert_int_equal(recording_append(writer, small.profile, &small.samples[3], &error), 0);
    event_define(small.profile, "gc");
    assert_int_equal(recording_flush(writer, small.profile, &small.totals, &error), -1);
    assert_non_null(strstr(error.text, "after the first sample"));
    assert_int_equal(recording_finish(writer, small.profile, &small.totals, NULL, &error), -1);
    profile_free(small.profile);
}

/* The newest summary of an event counts, also in a file that was cut. */
static void test_newest_summary_of_an_event_counts(void **state)
{
    struct small_profile small;
    struct event_histogram histograms[2] = {{.unit = UNIT_NS, .seen = 7}, {.unit = UNIT_WORDS}};
    struct event_tally tallies[2] = {{.count = 19, .seen = 2}, {.count = UINT64_MAX}};
    struct event_summary summary = {
        .event = 1, .hits = 5, .histograms = histograms, .histogram_count = 2};
    struct recording_writer *writer;
    struct seen seen;
    struct error error;
    int fd;

    (void)state;
    small_profile_make(&small);
    writer = recording_create(NULL, "/tmp", &small_header, &error);
    recording_append(writer, small.profile, &small.samples[0], &error);
    assert_int_equal(recording_put_summary(writer, small.profile, &summary, &error), 0);
    summary = (struct event_summary){.event = 1,
                                     .hits = 7,
                                     .lost = 3,
                                     .span_ns = UINT64_MAX,
                                     .covered_ns = 11,
                                     .windows = 12,
                                     .cost_ns = UINT64_MAX,
                                     .target_cpu_ns = 14,
                                     .sums = {13},
                                     .errors = {EVENT_ERROR_UNKNOWN},
                                     .histograms = histograms,
                                     .histogram_count = 2,
                                     .tallies = tallies,
                                     .tally_count = 2};
    histograms[0].name = profile_string_z(small.profile, "pause, minor");
    tallies[1].name = profile_string_z(small.profile, "out of reductions");
    histogram_add(&histograms[0].histogram, 1000, 3);
    histogram_add(&histograms[0].histogram, UINT64_MAX, 1);
    assert_int_equal(recording_put_summary(writer, small.profile, &summary, &error), 0);
    assert_int_equal(recording_finish(writer, small.profile, &small.totals, &fd, &error), 0);
    assert_int_equal(read_fd(fd, &seen, &error), 0);
    summary.histograms = NULL;
    summary.tallies = NULL;
    assert_memory_equal(&seen.summary, &summary, sizeof(summary));
    assert_memory_equal(seen.histograms, histograms, sizeof(histograms));
    assert_memory_equal(seen.tallies, tallies, sizeof(tallies));
    assert_string_equal(profile_text(seen.profile, seen.histograms[0].name), "pause, minor");
    seen_free(&seen);
    profile_free(small.profile);
}

/* On a full disk the error persists, and earlier data stays readable. */
static void test_data_before_a_full_disk_stays_readable(void **state)
{
    struct rlimit old, limit;
    struct small_profile small;
    struct recording_writer *writer;
    struct seen seen;
    struct error error, again;
    int fd = memory_file(), i;

    (void)state;
    small_profile_make(&small);
    signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &old);
    limit = old;
    limit.rlim_cur = 2000;
    setrlimit(RLIMIT_FSIZE, &limit);
    writer = recording_create_fd(dup(fd), &small_header, &error);
    assert_non_null(writer);
    for (i = 0; i < MAX_SEEN; i++) {
        small.samples[0].time += 1000000000;
        assert_int_equal(recording_append(writer, small.profile, &small.samples[0], &error), 0);
        if (recording_flush(writer, small.profile, &small.totals, &error))
            break;
    }
    assert_in_range(i, 2, MAX_SEEN - 1);
    setrlimit(RLIMIT_FSIZE, &old);

    assert_int_equal(recording_append(writer, small.profile, &small.samples[0], &again), -1);
    assert_string_equal(again.text, error.text);
    assert_int_equal(recording_finish(writer, small.profile, &small.totals, NULL, &again), -1);
    assert_string_equal(again.text, error.text);
    lseek(fd, 0, SEEK_SET);
    assert_int_equal(read_fd(fd, &seen, &error), 0);
    assert_true(seen.cut);
    /* All flushed samples are there, except the one that waited for its order, and perhaps samples
     * of the chunk that failed. */
    assert_in_range(seen.count, (size_t)i - 1, (size_t)i);
    seen_free(&seen);
    profile_free(small.profile);
}

static int see_and_stop(void *context, const struct sample *sample, struct error *error)
{
    (void)sample;
    ++*(int *)context;
    return error_set(error, ERROR_FAILED, "enough");
}

/* A consumer's error ends the pass; a second pass, or one into a used profile, is refused. */
static void test_recording_is_read_in_one_pass_only(void **state)
{
    struct small_profile small;
    struct profile *p = profile_new();
    struct recording *recording;
    struct error error;
    int seen = 0;
    bool cut;

    (void)state;
    small_profile_make(&small);
    recording = recording_open(small_recording(&small), "test.bfr", &error);
    assert_int_equal(recording_read(recording, small.profile, see_and_stop, &seen, &cut, &error),
                     -1);
    assert_int_equal(seen, 0);
    assert_int_equal(recording_read(recording, p, see_and_stop, &seen, &cut, &error), -1);
    assert_string_equal(error.text, "enough");
    assert_int_equal(seen, 1);
    profile_free(p);
    p = profile_new();
    assert_int_equal(recording_read(recording, p, see_and_stop, &seen, &cut, &error), -1);
    assert_int_equal(seen, 1);
    profile_free(p);
    recording_close(recording);
    profile_free(small.profile);
}

/* More tables than one chunk holds are split over several. */
static void test_large_tables_are_split_over_chunks(void **state)
{
    struct small_profile small;
    struct seen seen;
    struct error error;
    char text[128];
    int fd;

    (void)state;
    small_profile_make(&small);
    for (int i = 0; i < 20000; i++) {
        snprintf(text, sizeof(text), "%d %0100d", i, i);
        profile_string_z(small.profile, text);
    }
    fd = small_recording(&small);
    assert_int_equal(read_fd(fd, &seen, &error), 0);
    assert_int_equal(profile_counts(seen.profile).strings, profile_counts(small.profile).strings);
    assert_int_equal(seen.count, SMALL_SAMPLES);
    seen_free(&seen);
    profile_free(small.profile);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_recording_is_read_as_it_was_written),
        cmocka_unit_test(test_extreme_values_of_each_field_survive),
        cmocka_unit_test(test_samples_within_500_ms_are_sorted),
        cmocka_unit_test(test_newer_samples_wait_for_those_that_are_held),
        cmocka_unit_test(test_flushed_samples_are_in_the_file),
        cmocka_unit_test(test_samples_of_several_events_are_read_back),
        cmocka_unit_test(test_samples_add_up_to_the_totals_of_their_target),
        cmocka_unit_test(test_event_after_the_first_sample_is_refused),
        cmocka_unit_test(test_newest_summary_of_an_event_counts),
        cmocka_unit_test(test_data_before_a_full_disk_stays_readable),
        cmocka_unit_test(test_recording_is_read_in_one_pass_only),
        cmocka_unit_test(test_large_tables_are_split_over_chunks),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
