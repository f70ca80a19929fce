// SPDX-License-Identifier: Apache-2.0
/* Recordings that are cut, changed or made by others: bytes of the file, and what the reader says.
 */
#include "seen_recording.h"

/* Make the small profile, and return the bytes of its recording, to be freed. */
static char *small_bytes(struct small_profile *small, size_t *ret_size)
{
    char *bytes;
    int fd;

    small_profile_make(small);
    fd = small_recording(small);
    bytes = file_bytes(fd, ret_size);
    close(fd);
    return bytes;
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

    (void)state;
    bytes = small_bytes(&small, &size);
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

    (void)state;
    bytes = small_bytes(&small, &size);
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

    bytes = small_bytes(&small, NULL);
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

static const struct {
    const char *bytes;
    size_t size;
    const char *problem;
} broken_records[] = {
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

/* Records that break a rule are refused by name, although their checksum is correct. */
static void test_record_that_breaks_a_rule_is_refused_by_name(void **state)
{
    unsigned char file[1024];
    size_t start_size;
    char *start = header_bytes(&start_size);
    struct seen seen;
    struct error error;

    (void)state;
    for (size_t i = 0; i < sizeof(broken_records) / sizeof(broken_records[0]); i++) {
        size_t size = make_file(file, start, start_size, CHUNK_RECORDS, broken_records[i].bytes,
                                broken_records[i].size);

        assert_int_equal(read_bytes(file, size, &seen, &error), -1);
        if (!strstr(error.text, broken_records[i].problem))
            fail_msg("\"%s\" instead of \"%s\"", error.text, broken_records[i].problem);
        assert_non_null(strstr(error.text, "test.bfr: byte "));
        seen_free(&seen);
    }
    free(start);
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
                                            CHUNK_SUMMARY, CHUNK_NAMES,  CHUNK_RECORDED};
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
        size = make_file(file, (char *)file, size, types[round % 5], data, random % sizeof(data));
        read_bytes(file, size, &seen, &error);
        seen_free(&seen);
    }
    free(start);
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
    assert_non_null(strstr(error.text, "format version 1, this program reads versions 11 to 16"));
    recording = recording_open(memory_file_of("# ========\n# x", 14), "text", &error);
    assert_null(recording);
    assert_non_null(strstr(error.text, "not a recording"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cut_recording_gives_the_samples_before_the_cut),
        cmocka_unit_test(test_any_changed_byte_is_detected),
        cmocka_unit_test(test_record_that_breaks_a_rule_is_refused_by_name),
        cmocka_unit_test(test_random_records_give_errors),
        cmocka_unit_test(test_bytes_of_samples_are_those_of_the_format),
        cmocka_unit_test(test_summary_that_breaks_a_rule_is_refused_by_name),
        cmocka_unit_test(test_other_versions_and_other_files_have_own_messages),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
