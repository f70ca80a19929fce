// SPDX-License-Identifier: Apache-2.0
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "output/formats.h"
#include "output/output_file.h"
#include "rotation/segments_internal.h"
#include "test_folder.h"
#include "util/alloc.h"

static const time_t MOMENT = 1795293000; /* 2026-11-21 20:30:00 UTC */

static struct segment_time some_time = {"20261121-203000"};
static const struct session_options of_cpu = {.cpu = true};

static int enter_folder(void **state)
{
    (void)state;
    return folder_enter();
}

static void touch(const char *name)
{
    int fd = open(name, O_WRONLY | O_CREAT, 0600);

    assert_true(fd >= 0);
    close(fd);
}

static void ask_for(struct segment_files *files, const char *path, const char *format)
{
    static struct output_request requests[8];

    requests[files->request_count++] = (struct output_request){
        .path = path, .format = format ? output_format_named(format) : NULL};
    files->requests = requests;
}

static void assert_text(char *text, const char *expected)
{
    assert_string_equal(text, expected);
    free(text);
}

/* Node and time are inserted before the suffix of the format, or at the end if there is no
 * suffix. */
static void test_node_and_time_go_before_the_suffix(void **state)
{
    static const struct {
        const char *path, *format, *expected;
    } cases[] = {
        {"x.svg", NULL, "x-shop@web-1-20261121-203000.svg"},
        {"/some.dir/x.perf.gz", NULL, "/some.dir/x-shop@web-1-20261121-203000.perf.gz"},
        {"../x.y.folded", NULL, "../x.y-shop@web-1-20261121-203000.folded"},
        {"x.txt", "perf", "x-shop@web-1-20261121-203000.txt"},
        {"some.dir/x", "svg", "some.dir/x-shop@web-1-20261121-203000"},
        {".x", "svg", ".x-shop@web-1-20261121-203000"},
    };
    struct segment_files files = {.recording = "dir/r.bfr", .stats_path = "/s/t.json"};
    struct segment_names *names;

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
        ask_for(&files, cases[i].path, cases[i].format);
    names = segment_names_new(&files, &of_cpu, "shop@web-1");
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
        assert_text(segment_names_output(names, i, some_time), cases[i].expected);
    assert_text(segment_names_statistics(names, some_time), "/s/t-shop@web-1-20261121-203000.json");
    assert_text(segment_names_recording(names, some_time), "dir/r-shop@web-1-20261121-203000.bfr");
    assert_text(segment_names_temporary(names, some_time),
                "dir/r-shop@web-1-20261121-203000.bfr.part");
    segment_names_free(names);
}

/* Without a requested recording, a temporary one is made beside the first output; a node may have
 * any name. */
static void test_temporary_recording_lies_beside_the_first_output(void **state)
{
    struct segment_files files = {0};
    struct segment_names *names;

    (void)state;
    ask_for(&files, "a/x.perf.gz", NULL);
    ask_for(&files, "b/y.svg", NULL);
    names = segment_names_new(&files, &of_cpu, "../caf\xc3\xa9;1@h");
    assert_text(segment_names_temporary(names, some_time),
                "a/x-..-caf---1@h-20261121-203000.bfr.part");
    assert_null(segment_names_recording(names, some_time));
    assert_null(segment_names_statistics(names, some_time));
    segment_names_free(names);
}

/* All names of a segment fit into 255 bytes, however long the node's and the event's are, also
 * while they are temporary. Nodes that differ behind the cut have different names, each the same in
 * all runs: --keep finds the files of the last one. */
static void test_long_node_is_cut_and_recognised(void **state)
{
    char node[1024], event[200], *name, *split;
    struct segment_files files = {0};
    struct segment_names *names, *others;
    struct segment_time time;
    struct error error;
    int fd;

    (void)state;
    memset(node, 'n', sizeof(node) - 1);
    node[sizeof(node) - 1] = '\0';
    memset(event, 'e', sizeof(event) - 1);
    event[sizeof(event) - 1] = '\0';
    ask_for(&files, "x.speedscope.json.gz", NULL);
    names = segment_names_new(&files, &of_cpu, node);
    node[sizeof(node) - 2] = 'm';
    others = segment_names_new(&files, &of_cpu, node);

    fd = segment_names_create(names, MOMENT, &time, &error);
    assert_true(fd >= 0);
    close(fd);
    name = segment_names_output(names, 0, some_time);
    assert_int_equal(strlen(name), strlen("x--20261121-203000.speedscope.json.gz") + 80);
    assert_int_equal(strncmp(name, "x-nnnnnnnn", 10), 0);
    assert_non_null(strstr(name, "n-92ed8a29-20261121-203000.speedscope.json.gz"));
    split = output_file_split_path(name, &speedscope_format, event);
    assert_true(strlen(split) + strlen("..4194304-0123456789abcdef.tmp") <= 255);
    free(split);
    touch(name);
    segment_names_remove_old(others, SEGMENT_FOLDERS_LOCAL, 0, some_time);
    assert_true(exists(name));
    segment_names_remove_old(names, SEGMENT_FOLDERS_LOCAL, 0, some_time);
    assert_false(exists(name));
    free(name);
    segment_names_free(names);
    segment_names_free(others);
}

static struct segment_names *names_of_two(bool recording)
{
    static struct session_options session;
    struct segment_files files = {.recording = recording ? "x.bfr" : NULL};

    session = (struct session_options){.cpu = true, .event_count = 1};
    session.events[0].name = "bif:erlang:md5/1";
    ask_for(&files, "x.svg", NULL);
    return segment_names_new(&files, &session, "n@h");
}

static struct segment_time create(struct segment_names *names, int *fd)
{
    struct segment_time time;
    struct error error;

    *fd = segment_names_create(names, MOMENT, &time, &error);
    assert_true(*fd >= 0);
    return time;
}

/* A segment gets a time that no file of it has yet, whether of one event or one that is being
 * written. */
static void test_segment_gets_a_time_without_files(void **state)
{
    struct segment_names *names = names_of_two(true);
    int first, second;

    (void)state;
    assert_string_equal(create(names, &first).text, "20261121-203000");
    assert_true(exists("x-n@h-20261121-203000.bfr.part"));
    touch("x-n@h-20261121-203001.bfr");
    touch("x-n@h-20261121-203002.bif-erlang-md5-1.svg");
    assert_int_equal(symlink("nowhere", "x-n@h-20261121-203003.svg"), 0);
    touch("x-n@h-20261121-203004.perf");
    assert_string_equal(create(names, &second).text, "20261121-203004");
    close(first);
    close(second);
    segment_names_free(names);
}

static void test_error_names_the_file_that_cannot_be_created(void **state)
{
    struct segment_files files = {0};
    struct segment_names *names;
    struct segment_time time;
    struct error error = {0};

    (void)state;
    ask_for(&files, "gone/x.svg", NULL);
    names = segment_names_new(&files, &of_cpu, "n@h");
    assert_int_equal(segment_names_create(names, MOMENT, &time, &error), -1);
    assert_int_equal(error.code, ERROR_FAILED);
    assert_non_null(strstr(error.text, "gone/x-n@h-20261121-203000.bfr.part"));
    segment_names_free(names);
}

/* The newest files of each output stay; files with only a similar name are not touched. */
static void test_newest_files_of_each_output_are_kept(void **state)
{
    static const char *const old[] = {
        "x-n@h-20261121-100000.svg",      "x-n@h-20251231-235959.svg",
        "x-n@h-20261121-100000.cpu.svg",  "x-n@h-20261121-100000.bif-erlang-md5-1.svg",
        "x-n@h-20261121-100000.bfr",      "x-n@h-20261121-100000.bfr.part",
        "x-n@h-20260101-000000.bfr.part",
    };
    static const char *const kept[] = {
        /* the newest two of each output */
        "x-n@h-20261121-100001.svg",
        "x-n@h-20261121-100002.svg",
        "x-n@h-20261121-100001.cpu.svg",
        "x-n@h-20261121-100003.cpu.svg",
        "x-n@h-20261121-100001.bif-erlang-md5-1.svg",
        "x-n@h-20261121-100002.bif-erlang-md5-1.svg",
        "x-n@h-20261121-100001.bfr",
        "x-n@h-20261121-100002.bfr",
        "x-n@h-20261121-100001.bfr.part",
        "x-n@h-20261121-100002.bfr.part",
        /* other files */
        "x-n@h-20261121-000000.perf",
        "x-n@h-20261121-000000.gc.svg",
        "x-n@h-20261121-000000.svg.bak",
        "x-n@h-20261121-000000svg",
        "x-n@h-20261121-00000.svg",
        "x-n@h-20261121-0000000.svg",
        "x-n@h-20261121_000000.svg",
        "x-n@h-20261121-00000a.svg",
        "x-n@h2-20261121-000000.svg",
        "y-n@h-20261121-000000.svg",
        "ax-n@h-20261121-000000.svg",
        "x-n@h-.svg",
        "x.svg",
    };
    struct segment_names *names = names_of_two(true);

    (void)state;
    for (size_t i = 0; i < sizeof(old) / sizeof(*old); i++)
        touch(old[i]);
    for (size_t i = 0; i < sizeof(kept) / sizeof(*kept); i++)
        touch(kept[i]);
    assert_int_equal(mkdir("x-n@h-20200101-000000.svg", 0700), 0);
    assert_int_equal(symlink("x.svg", "x-n@h-20200101-000001.svg"), 0);
    segment_names_remove_old(names, SEGMENT_FOLDERS_LOCAL, 2, some_time);
    for (size_t i = 0; i < sizeof(old) / sizeof(*old); i++)
        if (exists(old[i]))
            fail_msg("%s is still there", old[i]);
    for (size_t i = 0; i < sizeof(kept) / sizeof(*kept); i++)
        if (!exists(kept[i]))
            fail_msg("%s was removed", kept[i]);
    assert_true(exists("x-n@h-20200101-000000.svg"));
    assert_true(exists("x-n@h-20200101-000001.svg"));
    segment_names_free(names);
}

/* Files of the future and of other users neither count nor go: those of this program stay. */
static void test_foreign_and_future_files_do_not_count_for_keep(void **state)
{
    static const char *const foreign[] = {
        "x-n@h-20991231-235959.svg", "x-n@h-20991231-235958.svg", "x-n@h-20261121-203001.svg",
        "x-n@h-20261121-202959.svg", "x-n@h-20260101-000000.svg",
    };
    struct segment_names *names = names_of_two(false);

    (void)state;
    for (size_t i = 0; i < sizeof(foreign) / sizeof(*foreign); i++) {
        touch(foreign[i]);
        if (i < 3) /* later than the newest */
            continue;
        if (geteuid())
            unlink(foreign[i]);
        else
            assert_int_equal(chown(foreign[i], 65534, 65534), 0);
    }
    touch("x-n@h-20261121-203000.svg");
    touch("x-n@h-20261121-202958.svg");
    touch("x-n@h-20261121-202957.svg");
    segment_names_remove_old(names, SEGMENT_FOLDERS_LOCAL, 2, some_time);
    assert_true(exists("x-n@h-20261121-203000.svg"));
    assert_true(exists("x-n@h-20261121-202958.svg"));
    assert_false(exists("x-n@h-20261121-202957.svg"));
    for (size_t i = 0; i < (geteuid() ? 3 : sizeof(foreign) / sizeof(*foreign)); i++)
        assert_true(exists(foreign[i]));
    segment_names_free(names);
}

/* A leftover of another user stays. The file of the user who ran sudo does not. */
static void test_foreign_leftovers_stay(void **state)
{
    struct segment_names *names = names_of_two(false);

    (void)state;
    if (geteuid()) {
        segment_names_free(names);
        skip();
    }
    touch(".x-n@h-20261121-203000.svg.12-0.tmp");
    assert_int_equal(chown(".x-n@h-20261121-203000.svg.12-0.tmp", 65534, 65534), 0);
    segment_names_remove_leftovers(names, SEGMENT_FOLDERS_LOCAL);
    assert_true(exists(".x-n@h-20261121-203000.svg.12-0.tmp"));
    setenv("SUDO_UID", "65534", 1);
    segment_names_remove_leftovers(names, SEGMENT_FOLDERS_LOCAL);
    assert_false(exists(".x-n@h-20261121-203000.svg.12-0.tmp"));
    unsetenv("SUDO_UID");
    segment_names_free(names);
}

/* A file that is being written is not removed, however old it is. */
static void test_file_that_is_being_written_is_not_removed(void **state)
{
    struct segment_names *names = names_of_two(false);
    int fd;

    (void)state;
    create(names, &fd);
    touch("x-n@h-20261121-203001.bfr.part");
    segment_names_remove_old(names, SEGMENT_FOLDERS_LOCAL, 1,
                             (struct segment_time){"20261121-203001"});
    assert_true(exists("x-n@h-20261121-203000.bfr.part"));
    close(fd);
    segment_names_remove_old(names, SEGMENT_FOLDERS_LOCAL, 1,
                             (struct segment_time){"20261121-203001"});
    assert_false(exists("x-n@h-20261121-203000.bfr.part"));
    segment_names_free(names);
}

/* Whoever can read a segment can lock it. That does not keep it. */
static void test_locks_of_others_keep_no_segment(void **state)
{
    struct segment_names *names = names_of_two(false);
    int fd;

    (void)state;
    touch("x-n@h-20261121-202958.svg");
    touch("x-n@h-20261121-203000.svg");
    fd = open("x-n@h-20261121-202958.svg", O_RDONLY | O_CLOEXEC);
    assert_int_equal(flock(fd, LOCK_EX), 0);
    segment_names_remove_old(names, SEGMENT_FOLDERS_LOCAL, 1, some_time);
    assert_false(exists("x-n@h-20261121-202958.svg"));
    assert_true(exists("x-n@h-20261121-203000.svg"));
    close(fd);
    segment_names_free(names);
}

/* Leftovers of outputs are removed, but no recordings, and no files that are being written. */
static void test_leftovers_of_outputs_are_removed(void **state)
{
    static const char *const kept[] = {
        ".x-n@h-20261121-203000.svg.12-0.tmp.bak", ".x-n@h-20261121-203000.svg.tmp",
        ".x-n@h-20261121-203000.perf.12-0.tmp",    ".x.svg.12-0.tmp",
        "x-n@h-20261121-203000.svg.12-0.tmp",      "x-n@h-20261121-203000.svg",
        "x-n@h-20261121-203000.bfr.part",
    };
    struct segment_names *names = names_of_two(false);
    int fd;

    (void)state;
    for (size_t i = 0; i < sizeof(kept) / sizeof(*kept); i++)
        touch(kept[i]);
    touch(".x-n@h-20261121-203000.svg.12-0.tmp");
    touch(".x-n@h-20261121-203000.cpu.svg.4194304-0f9e8d7c6b5a4930.tmp");
    touch(".x-n@h-20261121-203001.svg.12-0.tmp");
    fd = open(".x-n@h-20261121-203001.svg.12-0.tmp", O_RDONLY | O_CLOEXEC);
    assert_int_equal(flock(fd, LOCK_EX), 0);
    segment_names_remove_leftovers(names, SEGMENT_FOLDERS_LOCAL);
    assert_false(exists(".x-n@h-20261121-203000.svg.12-0.tmp"));
    assert_false(exists(".x-n@h-20261121-203000.cpu.svg.4194304-0f9e8d7c6b5a4930.tmp"));
    assert_true(exists(".x-n@h-20261121-203001.svg.12-0.tmp"));
    for (size_t i = 0; i < sizeof(kept) / sizeof(*kept); i++)
        if (!exists(kept[i]))
            fail_msg("%s was removed", kept[i]);
    close(fd);
    segment_names_free(names);
}

/* Nothing is created or removed in a folder that took the place of the one at the start. */
static void test_folder_that_is_replaced_gets_and_loses_nothing(void **state)
{
    struct segment_files files = {.recording = "out/x.bfr"};
    struct segment_names *names;
    struct segment_time time;
    struct error error;
    int fd;

    (void)state;
    assert_int_equal(mkdir("out", 0755), 0);
    names = segment_names_new(&files, &of_cpu, "n@h");
    fd = segment_names_create(names, MOMENT, &time, &error);
    assert_true(fd >= 0);
    close(fd);
    touch("out/x-n@h-20261121-100000.bfr");
    assert_int_equal(rename("out", "moved"), 0);
    assert_int_equal(mkdir("out", 0755), 0);
    touch("out/x-n@h-20261121-100000.bfr");
    touch("out/.x-n@h-20261121-203000.bfr.12-0.tmp");
    assert_int_equal(segment_names_create(names, MOMENT + 1, &time, &error), -1);
    assert_non_null(strstr(error.text, "its folder was removed or replaced"));
    segment_names_remove_leftovers(names, SEGMENT_FOLDERS_LOCAL);
    segment_names_remove_old(names, SEGMENT_FOLDERS_LOCAL, 0, some_time);
    assert_true(exists("out/x-n@h-20261121-100000.bfr"));
    assert_true(exists("out/.x-n@h-20261121-203000.bfr.12-0.tmp"));
    assert_false(exists("moved/x-n@h-20261121-100000.bfr"));
    segment_names_free(names);
    unlink("out/x-n@h-20261121-100000.bfr");
    unlink("out/.x-n@h-20261121-203000.bfr.12-0.tmp");
    unlink("moved/x-n@h-20261121-203000.bfr.part");
}

#define IN_FOLDER(test) cmocka_unit_test_setup_teardown(test, enter_folder, leave_folder)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_node_and_time_go_before_the_suffix),
        cmocka_unit_test(test_temporary_recording_lies_beside_the_first_output),
        IN_FOLDER(test_long_node_is_cut_and_recognised),
        IN_FOLDER(test_segment_gets_a_time_without_files),
        IN_FOLDER(test_error_names_the_file_that_cannot_be_created),
        IN_FOLDER(test_newest_files_of_each_output_are_kept),
        IN_FOLDER(test_file_that_is_being_written_is_not_removed),
        IN_FOLDER(test_locks_of_others_keep_no_segment),
        IN_FOLDER(test_leftovers_of_outputs_are_removed),
        IN_FOLDER(test_foreign_and_future_files_do_not_count_for_keep),
        IN_FOLDER(test_foreign_leftovers_stay),
        IN_FOLDER(test_folder_that_is_replaced_gets_and_loses_nothing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
