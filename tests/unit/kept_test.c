// SPDX-License-Identifier: Apache-2.0
/* Recordings that triggers keep, their limits, and the counts of firings. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "agent/kept.h"
#include "agent/spool.h"
#include "agent/trigger_counts.h"
#include "util/alloc.h"

static char directory[32];

/* The time in "20261124-101500". */
static time_t at(int minute, int second)
{
    struct tm utc = {.tm_year = 126, .tm_mon = 10, .tm_mday = 24, .tm_hour = 10};

    utc.tm_min = minute;
    utc.tm_sec = second;
    return timegm(&utc);
}

static int make_directory(void **state)
{
    (void)state;
    strcpy(directory, "/tmp/beamflame-kept-XXXXXX");
    assert_non_null(mkdtemp(directory));
    return 0;
}

static int remove_directory(void **state)
{
    char *command = xasprintf("rm -rf '%s'", directory);

    (void)state;
    assert_int_equal(system(command), 0);
    free(command);
    return 0;
}

/* Make a recording of 15 s that begins at this second of 10:15, and let the spool know it. */
static void make(int second, off_t size)
{
    char *path = xasprintf("%s/agent-web-20261124-1015%02d.bfr", directory, second);
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL, 0600);
    struct timespec times[2] = {{.tv_nsec = UTIME_OMIT}, {.tv_sec = at(15, second + 15)}};

    assert_true(fd >= 0);
    assert_int_equal(ftruncate(fd, size), 0);
    assert_int_equal(futimens(fd, times), 0);
    close(fd);
    free(path);
    spool_note_order(directory);
}

static struct kept_firing begin(const char *trigger, time_t when)
{
    struct kept_firing firing = {.max_bytes = 1000, .from = when - 10, .until = when + 10};
    struct error error;

    strcpy(firing.trigger, trigger);
    strcpy(firing.node, "shop@web");
    assert_int_equal(kept_begin(directory, &firing, when, &error), 0);
    return firing;
}

static bool has(const char *folder, const char *recording)
{
    char *path = xasprintf("%s/kept/%s/%s", directory, folder, recording);
    bool exists = access(path, F_OK) == 0;

    free(path);
    return exists;
}

static void count_left_out(void *context, const char *recording, const struct error *error)
{
    (void)recording;
    assert_true(error->text[0]);
    ++*(int *)context;
}

static void test_recordings_of_the_time_are_kept(void **state)
{
    struct kept_firing firing;
    struct stat status;
    char *path;
    int left_out = 0;

    (void)state;
    make(0, 1);
    make(15, 1);
    make(30, 1);
    firing = begin("queue", at(15, 41)); /* from 10:15:31 to 10:15:51 */
    assert_string_equal(firing.folder, "queue.shop@web.20261124-101541");
    kept_take(directory, &firing, count_left_out, &left_out);
    assert_false(has(firing.folder, "agent-web-20261124-101500.bfr"));
    assert_false(has(firing.folder, "agent-web-20261124-101515.bfr"));
    assert_true(has(firing.folder, "agent-web-20261124-101530.bfr"));
    make(45, 1);
    make(52, 1);
    kept_take(directory, &firing, count_left_out, &left_out);
    assert_true(has(firing.folder, "agent-web-20261124-101545.bfr"));
    assert_false(has(firing.folder, "agent-web-20261124-101552.bfr"));
    assert_int_equal(left_out, 0);
    path = xasprintf("%s/agent-web-20261124-101545.bfr", directory);
    assert_int_equal(stat(path, &status), 0);
    assert_int_equal(status.st_nlink, 2);
    free(path);
}

/* Where links can't be made: on another file system. */
static void test_recordings_are_copied_to_another_file_system(void **state)
{
    char other[] = "/dev/shm/beamflame-kept-XXXXXX", *path, *command;
    struct stat here, there;
    struct kept_firing firing;
    int left_out = 0;

    (void)state;
    if (!mkdtemp(other))
        skip();
    path = xasprintf("%s/kept", directory);
    assert_int_equal(symlink(other, path), 0);
    free(path);
    make(0, 700);
    firing = begin("queue", at(15, 5));
    kept_take(directory, &firing, count_left_out, &left_out);
    path = xasprintf("%s/kept/%s/agent-web-20261124-101500.bfr", directory, firing.folder);
    assert_int_equal(stat(path, &there), 0);
    assert_int_equal(stat(directory, &here), 0);
    assert_int_equal(there.st_size, 700);
    assert_int_equal(there.st_nlink, 1);
    assert_int_equal(left_out, 0);
    command = xasprintf("rm -rf '%s'", other);
    assert_int_equal(system(command), 0);
    free(command);
    free(path);
    if (here.st_dev == there.st_dev)
        skip();
}

static void test_firings_of_one_second_have_folders_of_their_own(void **state)
{
    struct kept_firing one, other;

    (void)state;
    one = begin("queue", at(20, 0));
    other = begin("queue", at(20, 0));
    assert_string_equal(one.folder, "queue.shop@web.20261124-102000");
    assert_string_equal(other.folder, "queue.shop@web.20261124-102001");
}

static void test_a_firing_does_not_exceed_its_size(void **state)
{
    struct kept_firing firing;
    int left_out = 0;

    (void)state;
    make(0, 600);
    make(15, 600);
    firing = begin("queue", at(15, 20));
    kept_take(directory, &firing, count_left_out, &left_out);
    assert_true(has(firing.folder, "agent-web-20261124-101500.bfr"));
    assert_false(has(firing.folder, "agent-web-20261124-101515.bfr"));
    assert_int_equal(left_out, 1);
    kept_take(directory, &firing, count_left_out, &left_out);
    assert_int_equal(left_out, 1);
}

struct removed {
    int count;
    char folder[KEPT_FOLDER_ROOM];
};

static void note_removed(void *context, const char *node, const char *folder)
{
    struct removed *removed = context;

    assert_string_equal(node, "shop@web");
    removed->count++;
    strcpy(removed->folder, folder);
}

static void test_oldest_firings_of_a_trigger_are_removed(void **state)
{
    struct removed removed = {0};
    struct kept_firing firings[3];
    int left_out = 0;

    (void)state;
    make(0, 400);
    for (int i = 0; i < 3; i++) {
        firings[i] = begin("queue", at(15, i));
        kept_take(directory, &firings[i], count_left_out, &left_out);
    }
    begin("queue-2", at(14, 0));
    kept_trim(directory, "queue", 3, 1200, note_removed, &removed);
    assert_int_equal(removed.count, 0);
    kept_trim(directory, "queue", 3, 1199, note_removed, &removed);
    assert_int_equal(removed.count, 1);
    assert_string_equal(removed.folder, firings[0].folder);
    assert_false(has(firings[0].folder, ""));
    kept_trim(directory, "queue", 1, 1200, note_removed, &removed);
    assert_int_equal(removed.count, 2);
    assert_string_equal(removed.folder, firings[1].folder);
    assert_true(has(firings[2].folder, "agent-web-20261124-101500.bfr"));
    assert_true(has("queue-2.shop@web.20261124-101400", ""));
}

static void test_counts_that_did_not_fire_longest_make_room(void **state)
{
    struct trigger_counts *counts = xcalloc(1, sizeof(*counts));
    char node[KEPT_NODE_ROOM];

    (void)state;
    assert_null(trigger_counts_find(counts, "queue", "n0"));
    for (int i = 0; i < TRIGGER_COUNTS_MAX; i++) {
        snprintf(node, sizeof(node), "n%d", i);
        trigger_counts_of(counts, "queue", node)->fired_at = 1000 - (uint64_t)i;
    }
    trigger_counts_of(counts, "queue", "n7")->fired++;
    assert_int_equal(trigger_counts_find(counts, "queue", "n7")->fired, 1);
    assert_int_equal(trigger_counts_of(counts, "queue", "new")->fired, 0);
    assert_null(trigger_counts_find(counts, "queue", "n255"));
    assert_non_null(trigger_counts_find(counts, "queue", "n254"));
    assert_non_null(trigger_counts_find(counts, "queue", "new"));
    free(counts);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_recordings_of_the_time_are_kept, make_directory,
                                        remove_directory),
        cmocka_unit_test_setup_teardown(test_recordings_are_copied_to_another_file_system,
                                        make_directory, remove_directory),
        cmocka_unit_test_setup_teardown(test_firings_of_one_second_have_folders_of_their_own,
                                        make_directory, remove_directory),
        cmocka_unit_test_setup_teardown(test_a_firing_does_not_exceed_its_size, make_directory,
                                        remove_directory),
        cmocka_unit_test_setup_teardown(test_oldest_firings_of_a_trigger_are_removed,
                                        make_directory, remove_directory),
        cmocka_unit_test(test_counts_that_did_not_fire_longest_make_room),
    };

    return cmocka_run_group_tests_name("kept", tests, NULL, NULL);
}
