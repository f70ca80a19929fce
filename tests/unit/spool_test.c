// SPDX-License-Identifier: Apache-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "agent/name_numbers.h"
#include "agent/spool.h"
#include "util/alloc.h"

static char directory[32];

static int make_directory(void **state)
{
    (void)state;
    strcpy(directory, "/tmp/beamflame-spool-XXXXXX");
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

/* Make a file of `size` bytes that is `age` seconds old. */
static void make(const char *name, off_t size, int age)
{
    char *path = xasprintf("%s/%s", directory, name);
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL, 0600);
    struct timespec times[2] = {{.tv_nsec = UTIME_OMIT}};

    assert_true(fd >= 0);
    assert_int_equal(ftruncate(fd, size), 0);
    clock_gettime(CLOCK_REALTIME, &times[1]);
    times[1].tv_sec -= age;
    assert_int_equal(futimens(fd, times), 0);
    close(fd);
    free(path);
}

/* The names of the spool's recordings, one behind the other. */
static const char *listed(void)
{
    static char text[1024];
    struct spool_list list;
    struct error error;

    text[0] = '\0';
    assert_int_equal(spool_list(directory, &list, &error), 0);
    for (size_t i = 0; i < list.count; i++) {
        strcat(text, list.of[i].name);
        strcat(text, " ");
    }
    spool_list_free(&list);
    return text;
}

static void test_recordings_are_in_the_order_of_time_whatever_the_host(void **state)
{
    (void)state;
    make("agent-z-20261124-101500.bfr", 1, 30);
    make("agent-a-20261124-101515.bfr", 1, 15);
    make("agent-z-20261124-101530.bfr.part", 1, 0);
    make("other-z-20261124-101500.bfr", 1, 0);
    make("pyroscope.sent", 1, 0);
    assert_string_equal(listed(), "agent-z-20261124-101500.bfr agent-a-20261124-101515.bfr ");
}

static void ignore_removed(void *context, const char *name)
{
    (void)context;
    (void)name;
}

/* Recordings are listed again only after one has come or gone. */
static void test_glance_sees_that_recordings_come_and_go(void **state)
{
    struct spool_glance glance = {0};

    (void)state;
    assert_true(spool_may_have_changed(directory, &glance));
    for (int i = 0; i < 3; i++)
        assert_false(spool_may_have_changed(directory, &glance));
    usleep(20000); /* the kernel's time of changes is in ticks */
    make("agent-z-20261124-101500.bfr", 1, 30);
    assert_true(spool_may_have_changed(directory, &glance));
    assert_false(spool_may_have_changed(directory, &glance));
    usleep(20000);
    spool_trim(directory, 0, 0, ignore_removed, NULL);
    assert_true(spool_may_have_changed(directory, &glance));
    assert_false(spool_may_have_changed(directory, &glance));
    glance.time = 0; /* long ago */
    assert_true(spool_may_have_changed(directory, &glance));
}

/* The clock was set back by 60 years, and then by an hour. A recording that comes later is younger,
 * whatever its name and time say. */
static void test_order_and_ages_are_those_of_coming_when_the_clock_is_set_back(void **state)
{
    static const char in_order[] = "agent-a-20861124-101500.bfr agent-a-20261124-111500.bfr "
                                   "agent-a-20261124-101501.bfr agent-a-20261124-101516.bfr ";
    struct spool_list list;
    struct error error;

    (void)state;
    make("agent-a-20861124-101500.bfr", 1, -60 * 365 * 86400);
    spool_note_order(directory);
    make("agent-a-20261124-111500.bfr", 1, -3600 + 30);
    spool_note_order(directory);
    make("agent-a-20261124-101501.bfr", 1, 15);
    make("agent-a-20261124-101516.bfr", 1, 0);
    assert_string_equal(listed(), in_order);
    spool_note_order(directory);
    assert_string_equal(listed(), in_order);
    assert_int_equal(spool_list(directory, &list, &error), 0);
    for (size_t i = 0; i < 3; i++)
        assert_in_range(list.of[i].age, 14, 20);
    spool_list_free(&list);
}

/* A node without a clock of its own starts in 1970: neither that recording nor earlier ones are
 * that old. */
static void test_recording_of_a_clock_far_behind_is_not_older_than_those_before(void **state)
{
    static const int ages[] = {300, 56 * 365 * 86400, 10};
    struct spool_list list;
    struct error error;

    (void)state;
    make("agent-a-20261124-101500.bfr", 1, ages[0]);
    spool_note_order(directory);
    make("agent-a-19700101-000010.bfr", 1, ages[1]);
    spool_note_order(directory);
    make("agent-a-20261124-102000.bfr", 1, ages[2]);
    spool_note_order(directory);
    assert_int_equal(spool_list(directory, &list, &error), 0);
    assert_int_equal(list.count, 3);
    assert_string_equal(list.of[1].name, "agent-a-19700101-000010.bfr");
    for (size_t i = 0; i < 3; i++)
        assert_in_range(list.of[i].age, ages[i == 1 ? 0 : i], ages[i == 1 ? 0 : i] + 60);
    spool_list_free(&list);
}

/* Without it, the spool is in the order of time. */
static void test_damaged_order_is_left_out(void **state)
{
    char *path = xasprintf("%s/spool.order", directory);
    int fd = open(path, O_WRONLY | O_CREAT, 0600);

    (void)state;
    assert_int_equal(
        write(fd, "\377 \377\n1\nagent-a-20261124-101530.bfr 18446744073709551616\n", 56), 56);
    close(fd);
    free(path);
    make("agent-a-20261124-101530.bfr", 1, 0);
    make("agent-a-20261124-101500.bfr", 1, 30);
    assert_string_equal(listed(), "agent-a-20261124-101500.bfr agent-a-20261124-101530.bfr ");
    spool_note_order(directory);
    assert_string_equal(listed(), "agent-a-20261124-101500.bfr agent-a-20261124-101530.bfr ");
}

static void note(void *context, const char *name)
{
    strcat(context, name);
    strcat(context, " ");
}

/* The oldest go first, until the others fit. Recordings that are too old are removed in any
 * case. */
static void test_trimmed_spool_has_the_newest_recordings(void **state)
{
    char removed[512] = "";

    (void)state;
    make("agent-a-20261124-101500.bfr", 400, 400);
    make("agent-a-20261124-101600.bfr", 400, 300);
    make("agent-a-20261124-101700.bfr", 400, 200);
    make("agent-a-20261124-101800.bfr", 400, 100);
    spool_trim(directory, 1600, 1000, note, removed);
    assert_string_equal(removed, "");
    spool_trim(directory, 1599, 1000, note, removed);
    assert_string_equal(removed, "agent-a-20261124-101500.bfr ");
    removed[0] = '\0';
    spool_trim(directory, 10000, 250, note, removed);
    assert_string_equal(removed, "agent-a-20261124-101600.bfr ");
    assert_string_equal(listed(), "agent-a-20261124-101700.bfr agent-a-20261124-101800.bfr ");
}

static void test_oldest_recording_makes_room(void **state)
{
    char removed[200] = "";

    (void)state;
    assert_false(spool_remove_oldest(directory, note, removed));
    make("agent-z-20261124-101515.bfr", 1, 15);
    make("agent-z-20261124-101500.bfr", 1, 30);
    assert_true(spool_remove_oldest(directory, note, removed));
    assert_non_null(strstr(removed, "agent-z-20261124-101500.bfr"));
    assert_string_equal(listed(), "agent-z-20261124-101515.bfr ");
}

/* tests/e2e/agent_disk_test.py has the full one. */
static void test_look_for_room_leaves_nothing(void **state)
{
    char *path = xasprintf("%s/room", directory);

    (void)state;
    assert_false(spool_is_full(directory));
    assert_int_equal(access(path, F_OK), -1);
    free(path);
}

static void test_spool_is_used_by_one_agent(void **state)
{
    struct error error;
    int first = spool_open(directory, &error);

    (void)state;
    assert_true(first >= 0);
    assert_int_equal(spool_open(directory, &error), -1);
    assert_non_null(strstr(error.text, "another agent uses the spool"));
    close(first);
    first = spool_open(directory, &error);
    assert_true(first >= 0);
    close(first);
}

/* A recording that a killed agent was making becomes complete, one that is being made does not. */
static void test_left_recordings_become_complete(void **state)
{
    char *path = xasprintf("%s/agent-a-20261124-101600.bfr.part", directory);
    struct error error;
    int spool, busy;

    (void)state;
    make("agent-a-20261124-101500.bfr.part", 1, 0);
    make("agent-a-20261124-101600.bfr.part", 1, 0);
    busy = open(path, O_RDONLY);
    assert_int_equal(flock(busy, LOCK_EX), 0);
    spool = spool_open(directory, &error);
    assert_true(spool >= 0);
    assert_string_equal(listed(), "agent-a-20261124-101500.bfr ");
    assert_int_equal(access(path, F_OK), 0);
    close(spool);
    close(busy);
    free(path);
}

static void test_spool_that_can_not_be_made_is_named(void **state)
{
    struct error error;

    (void)state;
    assert_int_equal(spool_open("/proc/nothing/here", &error), -1);
    assert_non_null(strstr(error.text, "/proc/nothing/here"));
}

/* ---- what a service has ---- */

static off_t size_of(const char *name)
{
    char *path = xasprintf("%s/%s", directory, name);
    struct stat status;

    assert_int_equal(stat(path, &status), 0);
    free(path);
    return status.st_size;
}

static void test_list_of_sent_recordings_outlives_the_agent(void **state)
{
    struct name_numbers *sent = name_numbers_open(directory, "central", ".sent");
    struct spool_list spool;
    struct error error;

    (void)state;
    make("a-1", 1, 0);
    make("agent-a-20261124-101500.bfr", 1, 2);
    make("agent-a-20261124-101600.bfr", 1, 1);
    assert_int_equal(spool_list(directory, &spool, &error), 0);
    assert_int_equal(name_numbers_get(sent, "agent-a-20261124-101500.bfr"), 0);
    assert_int_equal(
        name_numbers_set(sent, "agent-a-20261124-101500.bfr", SIZE_MAX, &spool, &error), 0);
    assert_int_equal(name_numbers_set(sent, "agent-a-20261124-101600.bfr", 3, &spool, &error), 0);
    name_numbers_free(sent);
    sent = name_numbers_open(directory, "central", ".sent");
    assert_true(name_numbers_get(sent, "agent-a-20261124-101500.bfr") == SIZE_MAX);
    assert_int_equal(name_numbers_get(sent, "agent-a-20261124-101600.bfr"), 3);
    /* Recordings that have left the spool leave the list, which stays short. */
    spool.count--;
    for (size_t i = 0; i < 1000; i++)
        assert_int_equal(name_numbers_set(sent, "agent-a-20261124-101500.bfr", i, &spool, &error),
                         0);
    assert_int_equal(name_numbers_get(sent, "agent-a-20261124-101600.bfr"), 0);
    assert_in_range(size_of("central.sent"), 1, 100 * 120);
    name_numbers_free(sent);
    sent = name_numbers_open(directory, "central", ".sent");
    assert_int_equal(name_numbers_get(sent, "agent-a-20261124-101500.bfr"), 999);
    spool.count++;
    spool_list_free(&spool);
    name_numbers_free(sent);
}

static void test_damaged_list_is_read_as_far_as_it_can_be(void **state)
{
    static const char text[] =
        "\0\n\nno-count\nagent-a-20261124-101500.bfr all\nb x\nc -1\nd 3 4\ne 7\ne 8\ne 9";
    char *path = xasprintf("%s/central.sent", directory);
    int fd = open(path, O_WRONLY | O_CREAT, 0600);
    struct spool_list spool = {.of = &(struct spool_entry){.name = (char *)"e"}, .count = 1};
    struct name_numbers *sent;
    struct error error;

    (void)state;
    assert_int_equal(write(fd, text + 1, sizeof(text) - 2), sizeof(text) - 2);
    close(fd);
    sent = name_numbers_open(directory, "central", ".sent");
    assert_true(name_numbers_get(sent, "agent-a-20261124-101500.bfr") == SIZE_MAX);
    for (const char *name = "b\0c\0d\0"; *name; name += 2)
        assert_int_equal(name_numbers_get(sent, name), 0);
    assert_int_equal(name_numbers_get(sent, "e"), 8); /* the last line is cut off */
    /* Text that is added does not become a part of that line. */
    assert_int_equal(name_numbers_set(sent, "e", 10, &spool, &error), 0);
    name_numbers_free(sent);
    sent = name_numbers_open(directory, "central", ".sent");
    assert_int_equal(name_numbers_get(sent, "e"), 10);
    name_numbers_free(sent);
    free(path);
}

static void test_list_that_is_too_long_is_written_anew(void **state)
{
    static const char name[] = "agent-a-20261124-101500.bfr";
    char *path = xasprintf("%s/central.sent", directory);
    int fd = open(path, O_WRONLY | O_CREAT, 0600);
    struct spool_list spool = {.of = &(struct spool_entry){.name = (char *)name}, .count = 1};
    struct name_numbers *sent;
    struct error error;

    (void)state;
    assert_int_equal(write(fd, "agent-a-20261124-101500.bfr 7\n", 30), 30);
    assert_int_equal(ftruncate(fd, (16 << 20) + 1), 0);
    close(fd);
    sent = name_numbers_open(directory, "central", ".sent");
    assert_int_equal(name_numbers_get(sent, name), 0);
    assert_int_equal(name_numbers_set(sent, name, 8, &spool, &error), 0);
    assert_int_equal(size_of("central.sent"), 30);
    name_numbers_free(sent);
    free(path);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, make_directory, remove_directory)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_recordings_are_in_the_order_of_time_whatever_the_host),
        TEST(test_glance_sees_that_recordings_come_and_go),
        TEST(test_order_and_ages_are_those_of_coming_when_the_clock_is_set_back),
        TEST(test_recording_of_a_clock_far_behind_is_not_older_than_those_before),
        TEST(test_damaged_order_is_left_out),
        TEST(test_trimmed_spool_has_the_newest_recordings),
        TEST(test_oldest_recording_makes_room),
        TEST(test_look_for_room_leaves_nothing),
        TEST(test_spool_is_used_by_one_agent),
        TEST(test_left_recordings_become_complete),
        TEST(test_spool_that_can_not_be_made_is_named),
        TEST(test_list_of_sent_recordings_outlives_the_agent),
        TEST(test_damaged_list_is_read_as_far_as_it_can_be),
        TEST(test_list_that_is_too_long_is_written_anew),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
