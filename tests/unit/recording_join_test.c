// SPDX-License-Identifier: Apache-2.0
/* Recordings that follow each other, read as one. */
#include "small_profile.h"

#include "profile/recording_join.h"

enum { SPAN = 3000000000u }; /* ns, from one to the next */

/* A recording that begins `number` spans later, with another order of strings and threads. */
static int recording_number(int number)
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
    writer = recording_create(NULL, "/tmp", &small_header, &error);
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
                                                     .wait_ns = 10});
    assert_int_equal(recording_put_threads(writer, small.profile, &threads, &error), 0);
    assert_int_equal(recording_finish(writer, small.profile, &small.totals, &fd, &error), 0);
    thread_times_free(&threads);
    profile_free(small.profile);
    return fd;
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

static int joined(size_t count)
{
    int fds[8], fd;
    struct error error;

    for (size_t i = 0; i < count; i++)
        fds[i] = recording_number((int)i);
    assert_int_equal(recording_join(fds, count, "msgq>5: 6", memory_file(), &fd, &error), 0);
    return fd;
}

/* All samples are there in order, and what they refer to is one thing each. */
static void test_samples(void **state)
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
    assert_string_equal(recording_get_header(recording)->occasion, "msgq>5: 6");
    assert_string_equal(recording_get_header(recording)->command, small_header.command);
    assert_int_equal(recording_get_header(recording)->start_monotonic,
                     small_header.start_monotonic);
    recording_close(recording);
    profile_free(seen.profile);
}

/* What was counted is the sum. */
static void test_counts(void **state)
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
    assert_int_equal(summary->histograms[0].histogram.max, 500000);
    assert_int_equal(summary->tally_count, 1);
    assert_int_equal(summary->tallies[0].count, 15);
    assert_null(recording_get_summary(recording, 1));
    assert_int_equal(threads->count, 1);
    assert_int_equal(threads->list[0].from, 0);
    assert_int_equal(threads->list[0].to, 3ull * SPAN);
    assert_int_equal(threads->list[0].cpu_ns, 3000);
    assert_int_equal(threads->list[0].wait_ns, 30);
    recording_close(recording);
    profile_free(seen.profile);
}

/* Where one is damaged, that is said, and what came before it is valid. */
static void test_damaged(void **state)
{
    int fds[2] = {recording_number(0), recording_number(1)}, fd;
    off_t size = lseek(fds[1], 0, SEEK_END);
    struct recording *recording;
    struct error error;
    struct seen seen;

    (void)state;
    assert_int_equal(pwrite(fds[1], "x", 1, size / 2), 1);
    lseek(fds[1], 0, SEEK_SET);
    assert_int_equal(recording_join(fds, 2, "exit", memory_file(), &fd, &error), -1);
    assert_true(fd >= 0);
    recording = read_joined(fd, &seen);
    assert_in_range(seen.count, SMALL_SAMPLES, 2 * SMALL_SAMPLES);
    recording_close(recording);
    profile_free(seen.profile);
}

/* What is no recording at all leaves nothing. */
static void test_no_recording(void **state)
{
    int fds[2] = {recording_number(0), memory_file_of("nothing", 7)}, fd;
    struct error error;

    (void)state;
    assert_int_equal(recording_join(fds, 2, "exit", memory_file(), &fd, &error), -1);
    assert_int_equal(fd, -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_samples),
        cmocka_unit_test(test_counts),
        cmocka_unit_test(test_damaged),
        cmocka_unit_test(test_no_recording),
    };

    return cmocka_run_group_tests_name("recording_join", tests, NULL, NULL);
}
