// SPDX-License-Identifier: Apache-2.0
/* Files are written where the caller means, and nowhere else that another user has prepared. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/time.h>
#include <sys/wait.h>

#include "file_place_case.h"
#include "util/folder.h"

/* A new file has the mode of the umask; one that is replaced keeps its mode and owner. */
static void test_replaced_file_keeps_mode_and_owner(void **state)
{
    struct stat status;
    struct error error;

    (void)state;
    assert_int_equal(write_new("a", &error), 0);
    assert_int_equal(mode_of("a"), 0644);
    make("b", "old", 0600);
    assert_int_equal(write_new("b", &error), 0);
    assert_int_equal(mode_of("b"), 0600);
    make("c", "old", 04640);
    if (geteuid() == 0)
        assert_int_equal(chown("c", SOMEBODY, SOMEBODY), 0);
    assert_int_equal(write_new("c", &error), 0);
    assert_string_equal(content("c"), "new");
    assert_int_equal(mode_of("c"), 0640);
    assert_int_equal(stat("c", &status), 0);
    assert_int_equal(status.st_uid, geteuid() ? geteuid() : SOMEBODY);
}

/* Another user who takes the names that the pid gives does not keep the file from being written. */
static void test_temporary_names_cannot_be_taken_in_advance(void **state)
{
    struct error error;
    char name[64];

    (void)state;
    for (int i = 0; i < 200; i++) {
        snprintf(name, sizeof(name), ".a.%d-%d.tmp", (int)getpid(), i);
        make(name, "", 0600);
    }
    assert_int_equal(write_new("a", &error), 0);
    assert_string_equal(content("a"), "new");
}

static int count_files(void)
{
    DIR *directory = opendir(".");
    int count = 0;

    for (struct dirent *entry; (entry = readdir(directory));)
        count += entry->d_type == DT_REG;
    closedir(directory);
    return count;
}

/* The temporary file of a process that was killed is removed, whatever its random number. */
static void test_file_that_a_killed_process_left_is_removed(void **state)
{
    struct file_place place;
    struct error error;
    char name[64];
    int status;

    (void)state;
    assert_int_equal(file_place_open("a", &place, &error), 0);
    for (int i = 0; i < 20; i++) {
        pid_t child = fork();

        if (child == 0)
            _exit(file_place_create(&place, O_WRONLY, &(char *){NULL}) < 0);
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_int_equal(status, 0);
    }
    snprintf(name, sizeof(name), ".a.%d-0123456789abcdef.tmp", (int)getpid());
    make(name, "", 0600);
    assert_int_equal(count_files(), 21);
    file_place_clean(&place);
    assert_int_equal(count_files(), 1);
    assert_true(exists(name)); /* its process runs */
    file_place_close(&place);
}

/* A file with another name too does not change under that name. */
static void test_file_with_other_names_is_replaced_not_changed(void **state)
{
    struct error error;

    (void)state;
    make("other", "old", 0600);
    assert_int_equal(link("other", "a"), 0);
    assert_int_equal(write_new("a", &error), 0);
    assert_string_equal(content("other"), "old");
    assert_string_equal(content("a"), "new");
}

/* A held folder that was moved away, and another one or a link in its place, get nothing. */
static void test_held_folder_that_is_replaced_gets_nothing(void **state)
{
    struct file_place place;
    struct error error;

    (void)state;
    assert_int_equal(mkdir("out", 0755), 0);
    assert_true(folder_hold("out") >= 0);
    assert_int_equal(write_new("out/a", &error), 0);
    assert_int_equal(rename("out", "moved"), 0);
    assert_int_equal(file_place_open("out/b", &place, &error), -1);
    assert_non_null(strstr(error.text, "its folder was removed or replaced"));
    assert_int_equal(mkdir("out", 0755), 0);
    assert_int_equal(file_place_open("out/b", &place, &error), -1);
    assert_non_null(strstr(error.text, "its folder was removed or replaced"));
    assert_int_equal(file_place_rename("out/a", "out/b"), -1);
    assert_int_equal(file_place_unlink("out/a"), -1);
    assert_int_equal(rmdir("out"), 0);
    assert_int_equal(symlink("moved", "out"), 0); /* the same folder */
    assert_int_equal(file_place_unlink("out/a"), 0);
    folder_release("out");
    assert_int_equal(write_new("out/b", &error), 0);
    unlink("moved/b");
}

/* In a folder that others can write, the name of the temporary file can become another file's. That
 * file keeps its mode, and its name. */
static void test_other_file_with_the_temporary_name_is_not_published(void **state)
{
    struct file_place place;
    struct error error;
    char *temporary;
    int fd;

    (void)state;
    make("victim", "old", 0600);
    assert_int_equal(file_place_open("a", &place, &error), 0);
    fd = file_place_create(&place, O_WRONLY, &temporary);
    assert_true(fd >= 0);
    assert_int_equal(rename("victim", temporary), 0);
    assert_int_equal(file_place_publish(&place, temporary), -1);
    assert_int_equal(mode_of(temporary), 0600);
    assert_false(exists("a"));
    close(fd);
    file_place_remove(&place, temporary);
    free(temporary);
    file_place_close(&place);
}

/* A file or pipe that another user has put into a shared folder is not used. The owner of the
 * folder may have files in it. */
static void test_planted_file_is_refused(void **state)
{
    struct error error;

    (void)state;
    need_root();
    make("a", "old", 0666);
    assert_int_equal(mkfifo("pipe", 0666), 0);
    assert_int_equal(chown("a", SOMEBODY, SOMEBODY), 0);
    assert_int_equal(chown("pipe", SOMEBODY, SOMEBODY), 0);
    assert_int_equal(chmod(".", 01777), 0);
    assert_refused("a", "another user");
    assert_refused("pipe", "another user");
    assert_int_equal(chown(".", SOMEBODY, SOMEBODY), 0);
    assert_int_equal(write_new("a", &error), 0);
}

static void nothing(int signal)
{
    (void)signal;
}

/* Waiting for the reader of a pipe ends with a signal. */
static void test_wait_for_a_reader_ends_with_a_signal(void **state)
{
    const struct sigaction action = {.sa_handler = nothing};
    const struct itimerval soon = {.it_value = {.tv_usec = 50000},
                                   .it_interval = {.tv_usec = 50000}};
    struct file_place place;
    struct error error;

    (void)state;
    assert_int_equal(mkfifo("pipe", 0600), 0);
    assert_int_equal(file_place_open("pipe", &place, &error), 0);
    assert_true(place.in_place);
    sigaction(SIGALRM, &action, NULL);
    setitimer(ITIMER_REAL, &soon, NULL);
    assert_int_equal(file_place_write_in_place(&place), -1);
    assert_int_equal(errno, EINTR);
    setitimer(ITIMER_REAL, &(struct itimerval){0}, NULL);
    file_place_close(&place);
}

/* /dev/fd/N is the descriptor itself, whatever file it is of. */
static void test_name_of_a_descriptor_is_that_descriptor(void **state)
{
    struct file_place place;
    struct error error;
    char path[32];
    int fd, copy;

    (void)state;
    make("a", "old", 0600);
    fd = open("a", O_WRONLY | O_APPEND);
    snprintf(path, sizeof(path), "/dev/fd/%d", fd);
    assert_int_equal(file_place_open(path, &place, &error), 0);
    assert_true(place.in_place);
    copy = file_place_write_in_place(&place);
    assert_int_equal(write(copy, "new", 3), 3);
    close(copy);
    close(fd);
    file_place_close(&place);
    assert_string_equal(content("a"), "oldnew");
}

/* Links in a circle, folders and names that cannot be are errors. */
static void test_place_that_does_not_exist_is_an_error(void **state)
{
    struct file_place place;
    struct error error;

    (void)state;
    assert_int_equal(symlink("b", "a"), 0);
    assert_int_equal(symlink("a", "b"), 0);
    assert_int_equal(mkdir("folder", 0700), 0);
    assert_int_equal(file_place_open("a", &place, &error), -1);
    assert_non_null(strstr(error.text, "Too many levels"));
    assert_int_equal(file_place_open("folder", &place, &error), -1);
    assert_non_null(strstr(error.text, "Is a directory"));
    assert_int_equal(file_place_open("folder/", &place, &error), -1);
    assert_int_equal(file_place_open("none/a", &place, &error), -1);
    assert_non_null(strstr(error.text, "No such file"));
}

/* A file is known again only while its name is its own. */
static void test_place_knows_its_file(void **state)
{
    struct file_place place;
    struct error error;
    int fd;

    (void)state;
    make("a", "old", 0600);
    fd = open("a", O_RDONLY);
    assert_int_equal(file_place_open("a", &place, &error), 0);
    assert_true(file_place_has(&place, fd));
    assert_int_equal(rename("a", "b"), 0);
    assert_false(file_place_has(&place, fd));
    make("a", "other", 0600);
    assert_false(file_place_has(&place, fd));
    close(fd);
    file_place_close(&place);
}

/* A pipe without a reader is an error. A pipe that nobody empties stops no writer. */
static void test_appending_to_a_pipe_does_not_wait(void **state)
{
    static const char text[4096];
    struct error error = {0};
    int reader, fd;

    (void)state;
    assert_int_equal(mkfifo("pipe", 0600), 0);
    alarm(5); /* ends a wait */
    assert_int_equal(file_place_append("pipe", &error), -1);
    assert_string_equal(error.text, "can't write pipe: No such device or address");
    reader = open("pipe", O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    fd = file_place_append("pipe", &error);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, sizeof(text)), sizeof(text));
    while (write(fd, text, sizeof(text)) > 0)
        ;
    assert_int_equal(errno, EAGAIN);
    alarm(0);
    close(fd);
    close(reader);
}

/* Text is appended to a file of this name alone: no link, no second name of a file elsewhere. */
static void test_file_is_appended_to(void **state)
{
    struct error error;
    int fd = file_place_append("a", &error);

    (void)state;
    assert_int_equal(write(fd, "1", 1), 1);
    close(fd);
    fd = file_place_append("a", &error);
    assert_int_equal(write(fd, "2", 1), 1);
    close(fd);
    assert_string_equal(content("a"), "12");
    assert_int_equal(chmod(".", 01777), 0);
    assert_int_equal(link("a", "b"), 0);
    assert_int_equal(symlink("a", "c"), 0);
    assert_int_equal(file_place_append("b", &error), -1);
    assert_int_equal(file_place_append("c", &error), -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_FOLDER(test_replaced_file_keeps_mode_and_owner),
        IN_FOLDER(test_temporary_names_cannot_be_taken_in_advance),
        IN_FOLDER(test_file_that_a_killed_process_left_is_removed),
        IN_FOLDER(test_file_with_other_names_is_replaced_not_changed),
        IN_FOLDER(test_held_folder_that_is_replaced_gets_nothing),
        IN_FOLDER(test_other_file_with_the_temporary_name_is_not_published),
        IN_FOLDER(test_planted_file_is_refused),
        IN_FOLDER(test_wait_for_a_reader_ends_with_a_signal),
        IN_FOLDER(test_name_of_a_descriptor_is_that_descriptor),
        IN_FOLDER(test_place_that_does_not_exist_is_an_error),
        IN_FOLDER(test_place_knows_its_file),
        IN_FOLDER(test_appending_to_a_pipe_does_not_wait),
        IN_FOLDER(test_file_is_appended_to),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
