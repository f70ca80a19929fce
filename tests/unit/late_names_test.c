// SPDX-License-Identifier: Apache-2.0
/* Frames get names that became known after they were recorded, and what a file says of it is
 * checked. */
#include "seen_recording.h"

#include "profile/late_names.h"
#include "profile/string_table.h"

enum { START = 0x2000, PLACE = 0x2010 };

/* A recording of two samples in the function spin(), whose name is not known at the first one. */
struct late {
    struct profile *profile;
    struct recording_writer *writer;
    struct recording_totals totals;
    stack_id caller;
    event_id event;
};

static frame_id frame_of(struct profile *profile, const char *symbol, uint64_t address,
                         bool unresolved)
{
    return profile_frame(profile, &(struct frame){.address = address,
                                                  .likeness = unresolved ? 7 : 0,
                                                  .symbol = profile_string_z(profile, symbol),
                                                  .module = small_module(profile, SMALL_FILE),
                                                  .kind = FRAME_NATIVE,
                                                  .unresolved = unresolved});
}

static void append(struct late *late, frame_id frame, uint64_t time)
{
    const struct sample sample = {.time = time,
                                  .event = late->event,
                                  .values = {7},
                                  .stack = profile_stack(late->profile, late->caller, frame)};
    struct error error;

    late->totals.samples++;
    assert_int_equal(recording_append(late->writer, late->profile, &sample, &error), 0);
    assert_int_equal(recording_flush(late->writer, late->profile, &late->totals, &error), 0);
}

/* Return a descriptor of the recording. It has a mark, whose label is the last string. */
static int late_recording(void)
{
    struct late late = {.profile = profile_new(),
                        .totals = {.unknown_native_frames = 1, .losses[LOSS_UNKNOWN_NATIVE] = 1}};
    struct time_marks marks = {0};
    struct error error;
    frame_id unnamed;
    int fd;

    late.writer = recording_create(NULL, "/tmp", &small_header, &error);
    late.event = event_define(late.profile, EVENT_CPU);
    late.caller = profile_stack(late.profile, 0,
                                small_frame(late.profile, "a:b/1", "", FRAME_ERLANG, 0x1000));
    unnamed = frame_of(late.profile, "beam.smp+0x2010", PLACE, true);
    append(&late, unnamed, 1000000000);
    append(&late, unnamed, 2000000000); /* after this, the first one is written */
    recording_name_frame(late.writer, unnamed, PLACE - START, "spin");
    append(&late, frame_of(late.profile, "spin", START, false), 3000000000);
    late.totals.unknown_native_frames = late.totals.losses[LOSS_UNKNOWN_NATIVE] = 2;
    time_marks_add(&marks, &(struct time_mark){3000000000, profile_string_z(late.profile, "end")});
    assert_int_equal(recording_put_marks(late.writer, late.profile, &marks, &error), 0);
    assert_int_equal(recording_finish(late.writer, late.profile, &late.totals, &fd, &error), 0);
    time_marks_free(&marks);
    profile_free(late.profile);
    return fd;
}

static void assert_named(const struct seen *seen)
{
    const struct profile *profile = seen->profile;

    for (size_t i = 0; i < seen->count; i++) {
        const struct stack_node *leaf = profile_get_stack(profile, seen->samples[i].stack);
        const struct frame *frame = profile_get_frame(profile, leaf->frame);

        assert_int_equal(seen->samples[i].stack, seen->samples[0].stack);
        assert_string_equal(profile_text(profile, frame->symbol), "spin");
        assert_int_equal(frame->address, START);
        assert_int_equal(frame->unresolved, 0);
        assert_int_equal(frame->likeness, 0);
        assert_string_equal(
            profile_text(profile,
                         profile_get_frame(profile, profile_get_stack(profile, leaf->parent)->frame)
                             ->symbol),
            "a:b/1");
    }
}

/* All samples have the same stack, with the name; none counts as unknown; other texts are right. */
static void test_samples_before_and_after_the_name_have_the_same_stack(void **state)
{
    struct recording *recording;
    struct seen seen = {.profile = profile_new()};
    struct error error;

    (void)state;
    recording = recording_open(late_recording(), "test.bfr", &error);
    assert_non_null(recording);
    assert_int_equal(recording_read(recording, seen.profile, see, &seen, &seen.cut, &error), 0);
    assert_int_equal(seen.count, 3);
    assert_named(&seen);
    assert_int_equal(recording_get_totals(recording)->unknown_native_frames, 0);
    assert_int_equal(recording_get_totals(recording)->losses[LOSS_UNKNOWN_NATIVE], 0);
    assert_string_equal(profile_text(seen.profile, recording_get_marks(recording)->list[0].label),
                        "end");
    recording_close(recording);
    seen_free(&seen);
}

/* A recorder that was killed has written the names at its last flush. */
static void test_names_are_in_a_recording_that_was_cut(void **state)
{
    struct seen seen;
    struct error error;
    size_t size;
    int fd = late_recording();
    char *bytes = file_bytes(fd, &size);

    (void)state;
    assert_int_equal(read_bytes(bytes, size - CHUNK_HEADER_SIZE, &seen, &error), 0);
    assert_true(seen.cut);
    assert_int_equal(seen.count, 3);
    assert_named(&seen);
    seen_free(&seen);
    close(fd);
    free(bytes);
}

static void refuse(const void *bytes, size_t size, const char *problem)
{
    struct cursor cursor = cursor_over(bytes, size);
    struct late_names names = {0};

    late_names_decode(&names, &cursor);
    assert_string_equal(cursor.problem, problem);
    late_names_free(&names);
}

static void test_damaged_names_are_refused(void **state)
{
    (void)state;
    refuse("\x01", 1, "number is cut off");
    refuse("\x01\x01\x00\x05"
           "ab",
           6, "string is cut off");
    refuse("\x01\x01\x00\x00", 4, "name of a frame is empty");
    refuse("\x01\x00\x00\x01"
           "a",
           5, "names of frames are not in order");
    refuse("\x02\xff\xff\xff\xff\x0f\x00\x01"
           "a\x01\x00\x01"
           "b",
           13, "frame is not defined");
}

/* What a recorder may not write, no reader keeps. */
static void test_names_have_a_limit(void **state)
{
    struct late_names names = {0};
    struct buffer bytes = {0};
    char text[STRING_MAX + 2] = "";
    frame_id frame = 0;

    (void)state;
    memset(text, 'a', sizeof(text) - 1);
    assert_false(late_names_add(&names, 1, 0, text));
    text[STRING_MAX] = '\0';
    while (late_names_add(&names, frame + 1, 0, text))
        frame++;
    assert_in_range(frame, 10, LATE_NAMES_BYTES_MAX / STRING_MAX);
    late_names_encode(&names, &bytes);
    assert_true(bytes.size < CHUNK_MAX);
    bytes.data[0]++; /* one more than there are */
    buffer_varint(&bytes, 1);
    buffer_varint(&bytes, 0);
    buffer_counted(&bytes, text);
    refuse(bytes.data, bytes.size, "names of frames are too long");
    buffer_free(&bytes);
    late_names_free(&names);
}

/* With late names, entries may be equal. A file can't fill the memory with those. */
static void test_equal_entries_without_end_are_refused(void **state)
{
    static const char name[] = "\x01\x01\x00\x01"
                               "a";
    struct error error;
    struct chunk_writer *writer = chunk_writer_new(memory_file(), &error);
    struct buffer strings = {0}, header = {0};
    struct seen seen;
    int fd;

    (void)state;
    while (strings.size < CHUNK_MAX - 3)
        buffer_put(&strings,
                   "\x01\x01"
                   "a",
                   3);
    buffer_put(&header, "\0\0\0\0\0\0\0\0\0\0", 10);
    chunk_write(writer, CHUNK_HEADER, header.data, header.size, &error);
    chunk_write(writer, CHUNK_NAMES, name, sizeof(name) - 1, &error);
    for (int i = 0; i < 100; i++)
        assert_int_equal(chunk_write(writer, CHUNK_RECORDS, strings.data, strings.size, &error), 0);
    fd = chunk_writer_release(writer);
    lseek(fd, 0, SEEK_SET);
    assert_int_equal(read_fd(fd, &seen, &error), -1);
    assert_non_null(strstr(error.text, "than a file of this size may use"));
    seen_free(&seen);
    buffer_free(&strings);
    buffer_free(&header);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_samples_before_and_after_the_name_have_the_same_stack),
        cmocka_unit_test(test_names_are_in_a_recording_that_was_cut),
        cmocka_unit_test(test_damaged_names_are_refused),
        cmocka_unit_test(test_names_have_a_limit),
        cmocka_unit_test(test_equal_entries_without_end_are_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
