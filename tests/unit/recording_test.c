// SPDX-License-Identifier: Apache-2.0
#include "small_profile.h"

#include <signal.h>
#include <sys/resource.h>

#include "recording/chunks.h"

#define MAX_SEEN 1000

struct seen {
    struct sample samples[MAX_SEEN];
    size_t count;
    struct profile *profile;
    bool cut;
    struct recording_totals totals;
    struct event_summary summary; /* of event 1; event 0: none */
    struct event_histogram histograms[2];
    struct event_tally tallies[2];
};

static int see(void *context, const struct sample *sample, struct error *error)
{
    struct seen *seen = context;
    struct profile_counts counts = profile_counts(seen->profile);

    (void)error;
    assert_true(seen->count < MAX_SEEN);
    assert_in_range(sample->event, 1, counts.events);
    assert_true(sample->stack <= counts.stacks && sample->peer <= counts.processes &&
                sample->process <= counts.processes && sample->thread <= counts.threads &&
                sample->detail <= counts.strings);
    seen->samples[seen->count++] = *sample;
    return 0;
}

static void see_summary(struct seen *seen, const struct event_summary *summary)
{
    if (!summary)
        return;
    seen->summary = *summary;
    seen->summary.histograms = NULL;
    for (size_t i = 0; i < summary->histogram_count && i < 2; i++)
        seen->histograms[i] = summary->histograms[i];
    seen->summary.tallies = NULL;
    for (size_t i = 0; i < summary->tally_count && i < 2; i++)
        seen->tallies[i] = summary->tallies[i];
}

static void seen_free(struct seen *seen)
{
    profile_free(seen->profile);
}

/* Read all; -1 with error if the file is malformed. */
static int read_fd(int fd, struct seen *seen, struct error *error)
{
    struct recording *recording;
    int result;

    *seen = (struct seen){.profile = profile_new()};
    *error = (struct error){0};
    recording = recording_open(fd, "test.bfr", error);
    if (!recording)
        return -1;
    result = recording_read(recording, seen->profile, see, seen, &seen->cut, error);
    seen->totals = *recording_get_totals(recording);
    see_summary(seen, recording_get_summary(recording, 1));
    recording_close(recording);
    return result;
}

static int read_bytes(const void *bytes, size_t size, struct seen *seen, struct error *error)
{
    return read_fd(memory_file_of(bytes, size), seen, error);
}

static void assert_same_sample(const struct sample *a, const struct sample *b)
{
    assert_int_equal(a->time, b->time);
    assert_memory_equal(a->values, b->values, sizeof(a->values));
    assert_int_equal(a->event, b->event);
    assert_int_equal(a->peer, b->peer);
    assert_int_equal(a->stack, b->stack);
    assert_int_equal(a->process, b->process);
    assert_int_equal(a->thread, b->thread);
    assert_int_equal(a->detail, b->detail);
    assert_int_equal(a->cpu, b->cpu);
    assert_int_equal(a->status, b->status);
    assert_int_equal(a->activity, b->activity);
    assert_int_equal(a->microstate, b->microstate);
    assert_int_equal(a->flags, b->flags);
    assert_int_equal(a->metrics.known, b->metrics.known);
    assert_memory_equal(a->metrics.values, b->metrics.values, sizeof(a->metrics.values));
}

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
    assert_int_equal(profile_get_frame(seen.profile, profile_counts(seen.profile).frames - 1)->line,
                     UINT32_MAX);
    seen_free(&seen);
    profile_free(small.profile);
}

/* Samples within 500 ms are sorted; a sample that is later than that gets the newest time written,
 * and is counted. */
static void test_samples_within_500_ms_are_sorted(void **state)
{
    static const uint64_t in_ms[] = {5000, 4750, 4950, 4700, 5505, 5300, 4500, 10000, 7500};
    static const uint64_t out_ms[] = {4700, 4750, 4950, 5000, 5000, 5300, 5505, 7500, 10000};
    struct recording_totals totals = {0};
    struct profile *p = profile_new();
    struct sample sample = {.event = event_define(p, EVENT_CPU)};
    struct seen seen;
    struct error error;
    struct recording_writer *writer = recording_create(NULL, "/tmp", &small_header, &error);
    int fd;

    (void)state;
    for (size_t i = 0; i < sizeof(in_ms) / sizeof(in_ms[0]); i++) {
        sample.time = in_ms[i] * 1000000;
        assert_int_equal(recording_append(writer, p, &sample, &error), 0);
    }
    assert_int_equal(recording_finish(writer, p, &totals, &fd, &error), 0);
    assert_int_equal(totals.losses[LOSS_OUT_OF_ORDER], 1);
    assert_int_equal(read_fd(fd, &seen, &error), 0);
    assert_int_equal(seen.count, sizeof(out_ms) / sizeof(out_ms[0]));
    for (size_t i = 0; i < seen.count; i++)
        assert_int_equal(seen.samples[i].time, out_ms[i] * 1000000);
    assert_int_equal(seen.totals.losses[LOSS_OUT_OF_ORDER], 1);
    seen_free(&seen);
    profile_free(p);
}

/* Samples that the caller holds keep their times, however late they come. Then 500 ms count again.
 */
static void test_newer_samples_wait_for_those_that_are_held(void **state)
{
    struct recording_totals totals = {0};
    struct profile *p = profile_new();
    struct sample sample = {.event = event_define(p, EVENT_CPU)};
    struct seen seen;
    struct error error;
    struct recording_writer *writer = recording_create(NULL, "/tmp", &small_header, &error);
    static const struct step {
        uint64_t held, ms;
    } in[] = {{1000, 1000}, {1100, 3000},       {1100, 1100},      {2000, 5000},
              {2000, 2000}, {UINT64_MAX, 6000}, {UINT64_MAX, 2500}};
    static const uint64_t out_ms[] = {1000, 1100, 2000, 3000, 5000, 5000, 6000};
    int fd;

    (void)state;
    for (size_t i = 0; i < sizeof(in) / sizeof(in[0]); i++) {
        recording_wait_for(writer, in[i].held == UINT64_MAX ? UINT64_MAX : in[i].held * 1000000);
        sample.time = in[i].ms * 1000000;
        assert_int_equal(recording_append(writer, p, &sample, &error), 0);
    }
    assert_int_equal(recording_finish(writer, p, &totals, &fd, &error), 0);
    assert_int_equal(totals.losses[LOSS_OUT_OF_ORDER], 1);
    assert_int_equal(read_fd(fd, &seen, &error), 0);
    assert_int_equal(seen.count, sizeof(out_ms) / sizeof(out_ms[0]));
    for (size_t i = 0; i < seen.count; i++)
        assert_int_equal(seen.samples[i].time, out_ms[i] * 1000000);
    seen_free(&seen);
    profile_free(p);
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

    small.samples[0].time = small.samples[3].time + 500000000;
    recording_append(writer, small.profile, &small.samples[0], &error);
    assert_int_equal(recording_flush(writer, small.profile, &small.totals, &error), 0);
    assert_int_equal(read_fd(open(path, O_RDONLY), &seen, &error), 0);
    assert_int_equal(seen.count, SMALL_SAMPLES);
    assert_int_equal(seen.totals.losses[LOSS_RING_FULL], 2);
    seen_free(&seen);
    assert_int_equal(recording_finish(writer, small.profile, &small.totals, NULL, &error), 0);
    unlink(path);
    profile_free(small.profile);
}

/* A file that is cut at any byte is an error without its header. Otherwise it gives a part of the
 * samples, and is marked as cut. */
static void test_cut_recording_gives_the_samples_before_the_cut(void **state)
{
    struct small_profile small;
    struct seen seen;
    struct error error;
    size_t size, newest = 0;
    char *bytes;
    int fd;

    (void)state;
    small_profile_make(&small);
    fd = small_recording(&small);
    bytes = file_bytes(fd, &size);
    close(fd);
    for (size_t cut = 0; cut < size; cut++) {
        if (read_bytes(bytes, cut, &seen, &error)) {
            assert_int_equal(seen.count, 0);
            assert_non_null(strstr(error.text, "byte "));
            assert_int_equal(newest, 0);
        } else {
            assert_true(seen.cut);
            assert_in_range(seen.count, newest, SMALL_SAMPLES);
            newest = seen.count;
        }
        seen_free(&seen);
    }
    assert_int_equal(newest, SMALL_SAMPLES);
    free(bytes);
    profile_free(small.profile);
}

/* Any changed byte is detected: the error has the byte's position, and no wrong samples are
 * returned. */
static void test_any_changed_byte_is_detected(void **state)
{
    struct small_profile small;
    struct seen seen;
    struct error error;
    size_t size;
    char *bytes;
    int fd;

    (void)state;
    small_profile_make(&small);
    fd = small_recording(&small);
    bytes = file_bytes(fd, &size);
    close(fd);
    for (size_t at = 0; at < size; at++) {
        bytes[at] ^= 0x10;
        /* A length beyond the end of the file looks like a cut. */
        if (read_bytes(bytes, size, &seen, &error))
            assert_non_null(strstr(error.text, "byte "));
        else
            assert_true(seen.cut);
        seen_free(&seen);
        bytes[at] ^= 0x10;
    }
    free(bytes);
    profile_free(small.profile);
}

static void put32(unsigned char *to, uint32_t value)
{
    for (int i = 0; i < 4; i++)
        to[i] = (unsigned char)(value >> (8 * i));
}

/* Build a file from the start of a recording and one more chunk, plain and with a correct checksum.
 * Return its size. */
static size_t make_file(unsigned char *file, const char *start, size_t start_size,
                        enum chunk_type type, const void *data, size_t size)
{
    unsigned char *chunk = file + start_size;

    memmove(file, start, start_size);
    memset(chunk, 0, CHUNK_HEADER_SIZE);
    chunk[0] = (unsigned char)type;
    put32(chunk + 4, (uint32_t)size);
    put32(chunk + 8, (uint32_t)size);
    memcpy(chunk + CHUNK_HEADER_SIZE, data, size);
    put32(chunk + CHUNK_CRC_OFFSET, chunk_crc(chunk, data, size));
    return start_size + CHUNK_HEADER_SIZE + size;
}

/* Return the bytes of a recording up to the end of its header chunk. */
static char *header_bytes(size_t *ret_size)
{
    struct small_profile small;
    char *bytes;
    uint32_t stored;
    int fd;

    small_profile_make(&small);
    fd = small_recording(&small);
    bytes = file_bytes(fd, NULL);
    close(fd);
    memcpy(&stored, bytes + RECORDING_START_SIZE + 4, 4);
    *ret_size = RECORDING_START_SIZE + CHUNK_HEADER_SIZE + stored;
    profile_free(small.profile);
    return bytes;
}

#define RECORD(bytes, problem)                                                                     \
    {                                                                                              \
        bytes, sizeof(bytes) - 1, problem                                                          \
    }

/* A string and an event with one value; the start of one of its samples, up to the value. */
#define EVENT                                                                                      \
    "\x01\x01"                                                                                     \
    "a\x08\x01\x01\x00\x01"
#define SAMPLE "\x07\x00\x01\x00"

/* Records that break a rule are refused by name, although their checksum is correct. */
static void test_record_that_breaks_a_rule_is_refused_by_name(void **state)
{
    static const struct {
        const char *bytes;
        size_t size;
        const char *problem;
    } cases[] = {
        RECORD("\x63", "unknown kind of record"),
        RECORD("\x01", "number is cut off"),
        RECORD("\x01\x00", "entry is there already"),
        RECORD("\x01\x05"
               "ab",
               "string is cut off"),
        RECORD("\x01\x01"
               "a\x01\x01"
               "a",
               "entry is there already"),
        RECORD("\x01\xff\xff\xff\x7f", "string is too long"),
        RECORD("\x02\x00\x01\x00\x00\x00\x01\x00", "string is not defined"),
        RECORD("\x02\x00\x00\x00\x00\x00\x07\x00", "unknown kind of frame"),
        RECORD("\x02\x00\x00\x00\x00\x00\x00\x00", "unknown kind of frame"),
        RECORD("\x02\x00\x00\x00\x00\x00\x01\x02", "neither 0 nor 1"),
        RECORD("\x02\x00\x00\x01\x00\x00\x01\x00", "module is not defined"),
        RECORD("\x0a\x00\x01", "string is not defined"),
        RECORD("\x0a\x00\x00\x0a\x00\x00", "entry is there already"),
        RECORD("\x03\x01\x01", "frame is not defined"),
        RECORD("\x03\x00\x00", "its own parent"),
        RECORD("\x03\x02\x00", "parent of stack"),
        RECORD("\x04\x00\x01\x00\x00\x00\x00", "target is not defined"),
        RECORD("\x04\x00\x00\x00\x00\x00\x00\x00\x01\x00", "parent is not defined"),
        RECORD("\x04\x00\x00\x00\x00\x00\x00\x00\x00\x01", "ancestor is not defined"),
        RECORD("\x09\x00\x00", "its own ancestor"),
        RECORD("\x09\x02\x00", "ancestor is not defined"),
        RECORD("\x09\x01\x01", "string is not defined"),
        RECORD("\x05\x00\x00\x00\x04\x00", "unknown kind of scheduler"),
        RECORD("\x08\x01\x01\x00\x01", "string is not defined"),
        RECORD("\x08\x00\x01\x00\x01", "event without name"),
        RECORD("\x01\x01"
               "a\x08\x01\x00",
               "event without name"),
        RECORD("\x01\x01"
               "a\x08\x01\x07",
               "too many values"),
        RECORD("\x01\x01"
               "a\x08\x01\x01\x00\x00",
               "unknown unit"),
        RECORD("\x01\x01"
               "a\x08\x01\x01\x00\x05",
               "unknown unit"),
        RECORD(EVENT "\x08\x01\x01\x00\x01", "entry is there already"),
        RECORD(EVENT SAMPLE "\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00"
                            "\x08\x01\x01\x01\x01",
               "after the first sample"),
        RECORD("\x07\x00\x00\x00", "without an event"),
        RECORD(EVENT "\x07\x00\x02\x00", "event is not defined"),
        RECORD(EVENT SAMPLE "\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00", "stack is not defined"),
        RECORD(EVENT SAMPLE "\x02\x00\x00\x00\x00\x00\x00\x00\x00\x00", "stack is not defined"),
        RECORD(EVENT SAMPLE "\x00\x00\x00\x01\x00\x00\x00\x00\x00\x00", "process is not defined"),
        RECORD(EVENT SAMPLE "\x00\x00\x00\x00\x00\x00\x63\x00\x00\x00", "unknown status"),
        RECORD(EVENT SAMPLE "\x00\x00\x00\x00\x00\x00\x00\x63\x00\x00", "unknown activity"),
        RECORD(EVENT SAMPLE "\x00\x00\x00\x00\x00\x00\x00\x00\x63\x00", "unknown microstate"),
        RECORD(EVENT SAMPLE "\x00\x00\x00\x00\x00\x00\x00\x00\x00\x40", "unknown flags"),
        RECORD("\x07\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02", "more than 64 bits"),
    };
    unsigned char file[1024];
    size_t start_size;
    char *start = header_bytes(&start_size);
    struct seen seen;
    struct error error;

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        size_t size =
            make_file(file, start, start_size, CHUNK_RECORDS, cases[i].bytes, cases[i].size);

        assert_int_equal(read_bytes(file, size, &seen, &error), -1);
        if (!strstr(error.text, cases[i].problem))
            fail_msg("\"%s\" instead of \"%s\"", error.text, cases[i].problem);
        assert_non_null(strstr(error.text, "test.bfr: byte "));
        seen_free(&seen);
    }
    free(start);
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

/* The bytes of samples in recording_format.h: values are relative to those of the previous sample
 * if it has the same event. */
static void test_bytes_of_samples_are_those_of_the_format(void **state)
{
#define REST "\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00"
    static const char records[] = EVENT "\x01\x01"
                                        "b\x08\x02\x02\x00\x01\x00\x02"
                                        "\x07\x05\x01\x0a" REST "\x07\x01\x01\x03" REST
                                        "\x07\x00\x02\x0c\x0e" REST "\x07\x02\x01\x10" REST;
    static const uint64_t expected[][4] = {{5, 1, 5}, {6, 1, 3}, {6, 2, 6, 7}, {8, 1, 8}};
    unsigned char file[1024];
    size_t size;
    char *start = header_bytes(&size);
    struct seen seen;
    struct error error;

    (void)state;
    size = make_file(file, start, size, CHUNK_RECORDS, records, sizeof(records) - 1);
    if (read_bytes(file, size, &seen, &error))
        fail_msg("%s", error.text);
    assert_int_equal(seen.count, 4);
    for (size_t i = 0; i < seen.count; i++) {
        assert_int_equal(seen.samples[i].time, expected[i][0]);
        assert_int_equal(seen.samples[i].event, expected[i][1]);
        assert_int_equal(seen.samples[i].values[0], expected[i][2]);
        assert_int_equal(seen.samples[i].values[1], expected[i][3]);
    }
    free(start);
    seen_free(&seen);
}

/* What samples of an event add up to in a target are the newest totals that were set for these two,
 * also before they were set. All others stay as they were written. */
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

/* The bytes up to the list of histograms. */
#define SUMS "\x00\x00\x00\x00\x00\x00\x00\x00\x00"

static void test_summary_that_breaks_a_rule_is_refused_by_name(void **state)
{
    static const struct {
        const char *bytes;
        size_t size;
        const char *problem;
    } cases[] = {
        RECORD("\x00", "summary without an event"),
        RECORD("\x02", "event is not defined"),
        RECORD("\x01" SUMS "\x41", "too many histograms"),
        RECORD("\x01" SUMS "\x01\x02\x01\x00\x00\x00", "string is not defined"),
        RECORD("\x01" SUMS "\x01\x01\x00\x00\x00\x00", "unknown unit"),
        RECORD("\x01" SUMS "\x01\x01\x05\x00\x00\x00", "unknown unit"),
        RECORD("\x01" SUMS "\x01\x01\x01\x00\x00\x81\x02", "too many buckets"),
        RECORD("\x01" SUMS "\x01\x01\x01\x00\x00\x01", "cut off"),
        RECORD("\x01" SUMS "\x00\x41", "too many tallies"),
        RECORD("\x01" SUMS "\x00\x01\x02\x00\x00", "string is not defined"),
        RECORD("\x01" SUMS "\x00\x01\x01", "cut off"),
        RECORD("\x01" SUMS "\x00\x00\x00", "left over"),
    };
    unsigned char file[1024];
    size_t start_size;
    char *start = header_bytes(&start_size);
    struct seen seen;
    struct error error;

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        size_t size = make_file(file, start, start_size, CHUNK_RECORDS, EVENT, sizeof(EVENT) - 1);

        size = make_file(file, (char *)file, size, CHUNK_SUMMARY, cases[i].bytes, cases[i].size);
        assert_int_equal(read_bytes(file, size, &seen, &error), -1);
        if (!strstr(error.text, cases[i].problem))
            fail_msg("\"%s\" instead of \"%s\"", error.text, cases[i].problem);
        seen_free(&seen);
    }
    free(start);
}

/* Random bytes in chunks with correct checksums give errors, but no crash and no bad id (see
 * see()). */
static void test_random_records_give_errors(void **state)
{
    static const enum chunk_type types[] = {CHUNK_RECORDS, CHUNK_TOTALS, CHUNK_RECORDS,
                                            CHUNK_SUMMARY};
    unsigned char file[1024], data[256];
    size_t start_size;
    char *start = header_bytes(&start_size);
    struct seen seen;
    struct error error;
    uint32_t random = 12345;

    (void)state;
    for (int round = 0; round < 2000; round++) {
        size_t size;

        for (size_t i = 0; i < sizeof(data); i++) {
            random = random * 1664525 + 1013904223;
            /* Small numbers mostly, which get further than large ones. */
            data[i] = (unsigned char)(random >> 24) >> ((random >> 8) % 8);
        }
        size = make_file(file, start, start_size, CHUNK_RECORDS, EVENT, sizeof(EVENT) - 1);
        size = make_file(file, (char *)file, size, types[round % 4], data, random % sizeof(data));
        read_bytes(file, size, &seen, &error);
        seen_free(&seen);
    }
    free(start);
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
    /* All flushed samples are there, except the one that waited for its order, and perhaps those of
     * the chunk that failed. */
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

/* The message distinguishes another version from another kind of file. */
static void test_other_versions_and_other_files_have_own_messages(void **state)
{
    struct recording *recording;
    struct error error;

    (void)state;
    recording = recording_open(memory_file_of(RECORDING_MAGIC "\x63\0\0\0", 12), "new", &error);
    assert_null(recording);
    assert_int_equal(error.code, ERROR_UNSUPPORTED);
    assert_non_null(strstr(error.text, "version 99"));
    recording = recording_open(memory_file_of(RECORDING_MAGIC "\x01\0\0\0", 12), "old", &error);
    assert_null(recording);
    assert_non_null(strstr(error.text, "format version 1, this program reads version 10"));
    recording = recording_open(memory_file_of("# ========\n# x", 14), "text", &error);
    assert_null(recording);
    assert_non_null(strstr(error.text, "not a recording"));
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
        cmocka_unit_test(test_cut_recording_gives_the_samples_before_the_cut),
        cmocka_unit_test(test_any_changed_byte_is_detected),
        cmocka_unit_test(test_record_that_breaks_a_rule_is_refused_by_name),
        cmocka_unit_test(test_random_records_give_errors),
        cmocka_unit_test(test_samples_of_several_events_are_read_back),
        cmocka_unit_test(test_samples_add_up_to_the_totals_of_their_target),
        cmocka_unit_test(test_event_after_the_first_sample_is_refused),
        cmocka_unit_test(test_bytes_of_samples_are_those_of_the_format),
        cmocka_unit_test(test_newest_summary_of_an_event_counts),
        cmocka_unit_test(test_summary_that_breaks_a_rule_is_refused_by_name),
        cmocka_unit_test(test_data_before_a_full_disk_stays_readable),
        cmocka_unit_test(test_recording_is_read_in_one_pass_only),
        cmocka_unit_test(test_other_versions_and_other_files_have_own_messages),
        cmocka_unit_test(test_large_tables_are_split_over_chunks),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
