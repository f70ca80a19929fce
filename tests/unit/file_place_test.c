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

#include "test_folder.h"
#include "util/file_place.h"
#include "util/folder.h"

enum { SOMEBODY = 65534 };

static int enter_folder(void **state)
{
    (void)state;
    umask(022);
    return folder_enter();
}

static void make(const char *name, const char *text, mode_t mode)
{
    FILE *file = fopen(name, "w");

    assert_non_null(file);
    fputs(text, file);
    fclose(file);
    assert_int_equal(chmod(name, mode), 0);
}

static const char *content(const char *name)
{
    static char text[64];
    FILE *file = fopen(name, "r");

    assert_non_null(file);
    text[fread(text, 1, sizeof(text) - 1, file)] = '\0';
    fclose(file);
    return text;
}

static mode_t mode_of(const char *name)
{
    struct stat status;

    assert_int_equal(stat(name, &status), 0);
    return status.st_mode & 07777;
}

/* Write "new" to the path. Return 0, or -1 with error. */
static int write_new(const char *path, struct error *error)
{
    struct file_place place;
    struct stat status;
    char *temporary;
    int fd;

    if (file_place_open(path, &place, error))
        return -1;
    assert_false(place.in_place);
    fd = file_place_create(&place, O_WRONLY, &temporary);
    assert_true(fd >= 0);
    assert_int_equal(fstat(fd, &status), 0);
    assert_int_equal(status.st_mode & 07777, 0600); /* nobody else can read or lock a half */
    assert_int_equal(write(fd, "new", 3), 3);
    close(fd);
    assert_int_equal(file_place_publish(&place, temporary), 0);
    free(temporary);
    file_place_close(&place);
    return 0;
}

static void assert_refused(const char *path, const char *says)
{
    struct file_place place;
    struct error error = {0};

    assert_int_equal(file_place_open(path, &place, &error), -1);
    assert_int_equal(error.code, ERROR_FAILED);
    if (!strstr(error.text, says) || strncmp(error.text, path, strlen(path)) != 0)
        fail_msg("%s", error.text);
}

static void need_root(void)
{
    if (geteuid())
        skip();
}

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

/* What has another name too is not changed under that name. */
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

/* The caller's own link, where nobody else can make links, is followed: also to a file that does
 * not exist yet, and through other links. */
static void test_own_link_is_followed(void **state)
{
    struct error error;

    (void)state;
    assert_int_equal(mkdir("below", 0755), 0);
    assert_int_equal(symlink("below/second", "first"), 0);
    assert_int_equal(symlink("../real", "below/second"), 0);
    assert_int_equal(write_new("first", &error), 0);
    assert_string_equal(content("real"), "new");
    assert_true(exists("below/second"));
    unlink("below/second");
}

/* A link is refused if others can make links in its folder, whoever owns it. */
static void test_link_in_a_shared_folder_is_refused(void **state)
{
    static const mode_t modes[] = {01777, 0777, 0775};

    (void)state;
    make("victim", "old", 0600);
    assert_int_equal(symlink("victim", "a"), 0);
    for (size_t i = 0; i < sizeof(modes) / sizeof(*modes); i++) {
        assert_int_equal(chmod(".", modes[i]), 0);
        assert_refused("a", "name the file itself");
    }
    assert_string_equal(content("victim"), "old");
}

/* A link of another user is refused everywhere, and so is a link in another user's folder. */
static void test_link_of_another_user_is_refused(void **state)
{
    (void)state;
    need_root();
    assert_int_equal(symlink("victim", "a"), 0);
    assert_int_equal(lchown("a", SOMEBODY, SOMEBODY), 0);
    assert_refused("a", "name the file itself");
    assert_int_equal(lchown("a", 0, 0), 0);
    assert_int_equal(chown(".", SOMEBODY, SOMEBODY), 0);
    assert_refused("a", "name the file itself");
    assert_false(exists("victim"));
}

/* A link in the middle of a path is followed if it is root's or the user's own, whoever can write
 * to its folder, and if it belongs to the owner of a folder where nobody else can make links. */
static void test_link_to_a_folder_is_followed(void **state)
{
    struct error error;

    (void)state;
    assert_int_equal(mkdir("real", 0755), 0);
    assert_int_equal(symlink("real", "own"), 0);
    assert_int_equal(symlink("own/../own/./", "second"), 0);
    assert_int_equal(write_new("own/a", &error), 0);
    assert_string_equal(content("real/a"), "new");
    assert_int_equal(chmod(".", 01777), 0);
    assert_int_equal(write_new("second//b", &error), 0);
    assert_string_equal(content("real/b"), "new");
    if (geteuid() == 0) {
        assert_int_equal(chmod(".", 0755), 0);
        assert_int_equal(chown(".", SOMEBODY, SOMEBODY), 0);
        assert_int_equal(lchown("own", SOMEBODY, SOMEBODY), 0);
        assert_int_equal(write_new("own/c", &error), 0);
        assert_string_equal(content("real/c"), "new");
    }
    unlink("real/a");
    unlink("real/b");
    unlink("real/c");
}

/* A path of many links ends, and so does one that leads in a circle. */
static void test_circle_of_links_to_folders_is_an_error(void **state)
{
    struct file_place place;
    struct error error;

    (void)state;
    assert_int_equal(symlink("b", "a"), 0);
    assert_int_equal(symlink("a", "b"), 0);
    assert_int_equal(file_place_open("a/x", &place, &error), -1);
    assert_non_null(strstr(error.text, strerror(ELOOP)));
    make("file", "", 0600);
    assert_int_equal(file_place_open("file/x", &place, &error), -1);
    assert_non_null(strstr(error.text, strerror(ENOTDIR)));
}

/* A link of another user in the middle of a path is refused, whatever fs.protected_symlinks says:
 * in a folder of root, and in one where others can make links too. */
static void test_planted_link_to_a_folder_is_refused(void **state)
{
    static const mode_t modes[] = {0755, 01777, 0777};

    (void)state;
    need_root();
    assert_int_equal(mkdir("real", 0755), 0);
    assert_int_equal(symlink("real", "a"), 0);
    assert_int_equal(symlink("a", "own"), 0);
    assert_int_equal(lchown("a", SOMEBODY, SOMEBODY), 0);
    for (size_t i = 0; i < sizeof(modes) / sizeof(*modes); i++) {
        assert_int_equal(chmod(".", modes[i]), 0);
        assert_refused("a/x", "leads through 'a', a symbolic link");
        assert_refused("real/../own/x", "leads through 'a', a symbolic link");
    }
    assert_int_equal(chown(".", SOMEBODY, SOMEBODY), 0);
    assert_refused("a/x", "leads through 'a', a symbolic link");
    assert_false(exists("real/x"));
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

/* A pipe that nobody reads is an error, and one that nobody empties stops no writer. */
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

#define IN_FOLDER(test) cmocka_unit_test_setup_teardown(test, enter_folder, leave_folder)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_FOLDER(test_replaced_file_keeps_mode_and_owner),
        IN_FOLDER(test_temporary_names_cannot_be_taken_in_advance),
        IN_FOLDER(test_file_that_a_killed_process_left_is_removed),
        IN_FOLDER(test_file_with_other_names_is_replaced_not_changed),
        IN_FOLDER(test_own_link_is_followed),
        IN_FOLDER(test_link_in_a_shared_folder_is_refused),
        IN_FOLDER(test_link_of_another_user_is_refused),
        IN_FOLDER(test_link_to_a_folder_is_followed),
        IN_FOLDER(test_circle_of_links_to_folders_is_an_error),
        IN_FOLDER(test_planted_link_to_a_folder_is_refused),
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
