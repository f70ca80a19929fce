// SPDX-License-Identifier: Apache-2.0
/* The format and the place of outputs; a file is either complete or absent. */
#include "small_output.h"

#include <dirent.h>
#include <sys/stat.h>
#include <zlib.h>

static const struct output_settings by_name = {.view.grouping = {{GROUP_NAME}}};
static char directory[] = "/tmp/output-test.XXXXXX";

static const char *in_directory(const char *name)
{
    static char paths[4][320];
    static int next;
    char *path = paths[next++ % 4];

    snprintf(path, sizeof(paths[0]), "%s/%s", directory, name);
    return path;
}

static int setup(void **state)
{
    (void)state;
    return mkdtemp(directory) ? 0 : -1;
}

/* Remove the files of the folder; return their number. */
static int remove_files(void)
{
    DIR *dir = opendir(directory);
    struct dirent *entry;
    int count = 0;

    while ((entry = readdir(dir))) {
        if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, ".."))
            continue;
        unlink(in_directory(entry->d_name));
        count++;
    }
    closedir(dir);
    return count;
}

static int teardown(void **state)
{
    (void)state;
    remove_files();
    return rmdir(directory);
}

static int write_outputs(const struct output_request *requests, size_t count, bool empty,
                         struct error *error)
{
    struct small_profile small;
    struct output_result written;
    struct recording *recording;
    struct recording_writer *writer;
    int result, fd;

    small_profile_make(&small);
    if (empty) {
        writer = recording_create(NULL, "/tmp", &small_header, error);
        assert_int_equal(recording_finish(writer, small.profile, &small.totals, &fd, error), 0);
    } else {
        fd = small_recording(&small);
    }
    *error = (struct error){0};
    recording = recording_open(fd, "test", error);
    result = output_write(recording, &by_name, requests, count, &written, error);
    if (!result) {
        assert_int_equal(written.totals.samples, SMALL_SAMPLES);
        output_result_free(&written);
    }
    recording_close(recording);
    profile_free(small.profile);
    return result;
}

static char *bytes_of(const char *path)
{
    int fd = open(path, O_RDONLY);
    char *bytes;

    assert_true(fd >= 0);
    bytes = file_bytes(fd, NULL);
    close(fd);
    return bytes;
}

/* The longest suffix decides; a name alone is not a suffix. */
static void test_longest_suffix_decides_the_format(void **state)
{
    (void)state;
    assert_ptr_equal(output_format_of("out.perf"), &perf_format);
    assert_ptr_equal(output_format_of("a.svg.perf.gz"), &perf_format);
    assert_ptr_equal(output_format_of("x/out.svg"), &svg_format);
    assert_ptr_equal(output_format_of("out.bfr"), &bfr_format);
    assert_null(output_format_of("out.gz"));
    assert_null(output_format_of(".perf"));
    assert_null(output_format_of("perf"));
    assert_ptr_equal(output_format_named("folded"), &folded_format);
    assert_null(output_format_named("fold"));
    assert_non_null(strstr(output_format_names(), "perf, folded"));
}

/* One pass writes all outputs, and leaves only their final files. */
static void test_one_pass_writes_all_outputs(void **state)
{
    struct output_request requests[] = {
        {.path = in_directory("a.folded")},
        {.path = in_directory("b.svg")},
        {.path = in_directory("c"), .format = &perf_format},
    };
    struct error error;
    char *text;

    (void)state;
    assert_int_equal(write_outputs(requests, 3, false, &error), 0);
    text = bytes_of(requests[0].path);
    assert_non_null(strstr(text, "cart;proc_lib:init_p/5;erlang:+/2 2\n"));
    free(text);
    text = bytes_of(requests[2].path);
    assert_memory_equal(text, "# ========\n", 11);
    free(text);
    assert_int_equal(remove_files(), 3);
}

/* A name ending in .gz has the same text, compressed. */
static void test_output_with_suffix_gz_is_compressed(void **state)
{
    struct output_request requests[] = {
        {.path = in_directory("a.perf")},
        {.path = in_directory("a.perf.gz")},
    };
    char unpacked[8192] = {0}, *text;
    struct error error;
    gzFile gzip;

    (void)state;
    assert_int_equal(write_outputs(requests, 2, false, &error), 0);
    text = bytes_of(requests[1].path);
    assert_memory_equal(text, "\x1f\x8b", 2);
    free(text);
    text = bytes_of(requests[0].path);
    gzip = gzopen(requests[1].path, "rb");
    assert_int_equal(gzread(gzip, unpacked, sizeof(unpacked) - 1), strlen(text));
    gzclose(gzip);
    assert_string_equal(unpacked, text);
    free(text);
    remove_files();
}

static void test_recording_gives_the_same_outputs_again(void **state)
{
    struct output_request request = {.path = in_directory("a.bfr")};
    struct output_request again[] = {{.path = in_directory("a.folded")},
                                     {.path = in_directory("b.folded")}};
    struct output_result written;
    struct recording *recording;
    struct error error;
    char *a, *b;

    (void)state;
    assert_int_equal(write_outputs(&request, 1, false, &error), 0);
    recording = recording_open(open(request.path, O_RDONLY), "a.bfr", &error);
    assert_int_equal(output_write(recording, &by_name, again, 1, &written, &error), 0);
    assert_false(written.totals.cut);
    assert_int_equal(written.totals.losses[LOSS_RING_FULL], 2);
    output_result_free(&written);
    recording_close(recording);
    assert_int_equal(write_outputs(again + 1, 1, false, &error), 0);
    a = bytes_of(again[0].path);
    b = bytes_of(again[1].path);
    assert_string_equal(a, b);
    free(a);
    free(b);
    remove_files();
}

/* If any output fails, old files stay and no new file is left. */
static void test_failed_output_leaves_no_new_file(void **state)
{
    struct output_request requests[] = {
        {.path = in_directory("a.folded")},
        {.path = "/dev/full", .format = &folded_format},
    };
    struct error error;
    FILE *old = fopen(requests[0].path, "w");
    char *text;

    (void)state;
    fputs("old", old);
    fclose(old);
    assert_int_equal(write_outputs(requests, 2, false, &error), -1);
    assert_non_null(strstr(error.text, "/dev/full"));
    assert_non_null(strstr(error.text, "No space left"));
    text = bytes_of(requests[0].path);
    assert_string_equal(text, "old");
    free(text);
    assert_int_equal(remove_files(), 1);
}

/* Without samples there is an error of its own code, and no file. */
static void test_no_samples_is_an_error_with_its_own_code(void **state)
{
    struct output_request request = {.path = in_directory("a.perf")};
    struct error error;

    (void)state;
    assert_int_equal(write_outputs(&request, 1, true, &error), -1);
    assert_int_equal(error.code, ERROR_NO_SAMPLES);
    assert_int_equal(remove_files(), 0);
}

/* Outputs that cannot work are refused before anything is recorded. */
static void test_outputs_that_cannot_work_are_refused(void **state)
{
    struct output_request requests[] = {
        {.path = in_directory("a.perf")},
        {.path = in_directory("a.svg")},
        {.path = "-", .format = &folded_format},
    };
    struct error error;

    (void)state;
    assert_int_equal(output_check(requests, 3, 1, false, &error), 0);
    requests[1].path = requests[0].path;
    assert_int_equal(output_check(requests, 3, 1, false, &error), -1);
    assert_int_equal(error.code, ERROR_USAGE);
    requests[1].path = in_directory("a.unknown");
    assert_int_equal(output_check(requests, 3, 1, false, &error), -1);
    assert_int_equal(error.code, ERROR_USAGE);
    assert_non_null(strstr(error.text, "folded"));
    requests[1].path = in_directory("none/a.svg");
    assert_int_equal(output_check(requests, 3, 1, false, &error), -1);
    assert_int_equal(error.code, ERROR_FAILED);
    requests[1] = (struct output_request){.path = directory, .format = &svg_format};
    assert_int_equal(output_check(requests, 3, 1, false, &error), -1);
    assert_non_null(strstr(error.text, "Is a directory"));
    assert_int_equal(remove_files(), 0);
}

/* A graph of senders and receivers is refused without an event that has them. */
static void test_graph_without_events_with_peers_is_refused(void **state)
{
    const struct output_request request = {.path = in_directory("a.dot")};
    struct error error;

    (void)state;
    assert_int_equal(output_check(&request, 1, 1, true, &error), 0);
    assert_int_equal(output_check(&request, 1, 1, false, &error), -1);
    assert_int_equal(error.code, ERROR_USAGE);
    assert_non_null(strstr(error.text, "neither event msg"));
}

/* A symbolic link is followed, not replaced. */
static void test_symbolic_link_is_followed(void **state)
{
    struct output_request request = {.path = in_directory("link.folded")};
    struct stat status;
    struct error error;
    FILE *old = fopen(in_directory("real"), "w");
    char *text;

    (void)state;
    fclose(old);
    assert_int_equal(symlink("real", request.path), 0);
    assert_int_equal(write_outputs(&request, 1, false, &error), 0);
    assert_int_equal(lstat(request.path, &status), 0);
    assert_true(S_ISLNK(status.st_mode));
    text = bytes_of(in_directory("real"));
    assert_non_null(strstr(text, "erlang:+/2 2\n"));
    free(text);
    remove_files();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_longest_suffix_decides_the_format),
        cmocka_unit_test(test_one_pass_writes_all_outputs),
        cmocka_unit_test(test_output_with_suffix_gz_is_compressed),
        cmocka_unit_test(test_recording_gives_the_same_outputs_again),
        cmocka_unit_test(test_failed_output_leaves_no_new_file),
        cmocka_unit_test(test_no_samples_is_an_error_with_its_own_code),
        cmocka_unit_test(test_outputs_that_cannot_work_are_refused),
        cmocka_unit_test(test_graph_without_events_with_peers_is_refused),
        cmocka_unit_test(test_symbolic_link_is_followed),
    };

    return cmocka_run_group_tests(tests, setup, teardown);
}
