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

#include "agent/sent_list.h"
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

static void note(void *context, const char *name)
{
    strcat(context, name);
    strcat(context, " ");
}

/* The oldest go first, until the others fit. What is too old goes in any case. */
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

static void test_list_of_sent_recordings_outlives_the_agent(void **state)
{
    struct sent_list *sent = sent_list_open(directory, "central");
    struct spool_list spool;
    struct error error;

    (void)state;
    make("a-1", 1, 0);
    make("agent-a-20261124-101500.bfr", 1, 2);
    make("agent-a-20261124-101600.bfr", 1, 1);
    assert_int_equal(spool_list(directory, &spool, &error), 0);
    assert_int_equal(sent_list_count(sent, "agent-a-20261124-101500.bfr"), 0);
    assert_int_equal(sent_list_set(sent, "agent-a-20261124-101500.bfr", SIZE_MAX, &spool, &error),
                     0);
    assert_int_equal(sent_list_set(sent, "agent-a-20261124-101600.bfr", 3, &spool, &error), 0);
    sent_list_free(sent);
    sent = sent_list_open(directory, "central");
    assert_true(sent_list_count(sent, "agent-a-20261124-101500.bfr") == SIZE_MAX);
    assert_int_equal(sent_list_count(sent, "agent-a-20261124-101600.bfr"), 3);
    /* Recordings that have left the spool leave the list. */
    spool.count--;
    assert_int_equal(sent_list_set(sent, "agent-a-20261124-101500.bfr", SIZE_MAX, &spool, &error),
                     0);
    assert_int_equal(sent_list_count(sent, "agent-a-20261124-101600.bfr"), 0);
    spool.count++;
    spool_list_free(&spool);
    sent_list_free(sent);
}

static void test_damaged_list_is_read_as_far_as_it_can_be(void **state)
{
    static const char text[] = "\0\n\nno-count\nagent-a-20261124-101500.bfr all\nb x\nc -1";
    char *path = xasprintf("%s/central.sent", directory);
    int fd = open(path, O_WRONLY | O_CREAT, 0600);
    struct sent_list *sent;

    (void)state;
    assert_int_equal(write(fd, text + 1, sizeof(text) - 2), sizeof(text) - 2);
    close(fd);
    sent = sent_list_open(directory, "central");
    assert_true(sent_list_count(sent, "agent-a-20261124-101500.bfr") == SIZE_MAX);
    assert_int_equal(sent_list_count(sent, "b"), 0);
    sent_list_free(sent);
    free(path);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, make_directory, remove_directory)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_recordings_are_in_the_order_of_time_whatever_the_host),
        TEST(test_trimmed_spool_has_the_newest_recordings),
        TEST(test_spool_is_used_by_one_agent),
        TEST(test_left_recordings_become_complete),
        TEST(test_spool_that_can_not_be_made_is_named),
        TEST(test_list_of_sent_recordings_outlives_the_agent),
        TEST(test_damaged_list_is_read_as_far_as_it_can_be),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
