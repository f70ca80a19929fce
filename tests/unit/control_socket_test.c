// SPDX-License-Identifier: Apache-2.0
/* The socket by which recordings are steered: who may talk, and that no peer delays a recorder. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "os/control_socket.h"
#include "test_folder.h"
#include "util/alloc.h"
#include "util/clock.h"

#define FOLDER "steered"

static struct control_socket *control;

static int set_up(void **state)
{
    struct error error;

    (void)state;
    if (folder_enter())
        return -1;
    control = control_socket_open(FOLDER, &error);
    return control ? 0 : -1;
}

static int tear_down(void **state)
{
    control_socket_close(control);
    control = NULL;
    return leave_folder(state);
}

/* Return a socket that is connected to a recorder. */
static int peer(pid_t recorder)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);

    snprintf(address.sun_path, sizeof(address.sun_path), FOLDER "/%d.sock", (int)recorder);
    assert_int_equal(connect(fd, (struct sockaddr *)&address, sizeof(address)), 0);
    return fd;
}

/* In another process, ask the recorder and end with the exit code; `answer` is what must come. */
static pid_t ask(const char *request, const char *answer)
{
    pid_t recorder = getpid(), child = fork();
    struct buffer text = {0};
    struct error error;

    if (child)
        return child;
    if (control_socket_ask(FOLDER, recorder, request, &text, &error))
        _exit(strcmp(error.text, answer) ? 100 : (int)error.code);
    buffer_byte(&text, '\0');
    _exit(strcmp(text.data, answer) ? 101 : 0);
}

static int exit_code(pid_t child)
{
    int status;

    assert_int_equal(waitpid(child, &status, 0), child);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* Return the next request, which must come within 10 s. */
static const char *request(void)
{
    const char *text = NULL;

    for (int i = 0; i < 1000 && !text; i++, usleep(10000))
        text = control_socket_take(control);
    assert_non_null(text);
    return text;
}

static void test_a_request_has_its_answer(void **state)
{
    pid_t child = ask("mark \xf0\x9f\x94\xa5", "marked");

    (void)state;
    assert_string_equal(request(), "mark \xf0\x9f\x94\xa5");
    control_socket_answer(control, true, "marked");
    assert_int_equal(exit_code(child), 0);
    child = ask("status", "it waits");
    assert_string_equal(request(), "status");
    control_socket_answer(control, false, "it waits");
    assert_int_equal(exit_code(child), ERROR_FAILED);
}

/* Others can't open the file, whatever the umask. */
static void test_the_socket_is_for_its_user_alone(void **state)
{
    char *path = xasprintf(FOLDER "/%d.sock", (int)getpid());
    struct stat status;

    (void)state;
    assert_int_equal(stat(path, &status), 0);
    assert_int_equal(status.st_mode & 07777, 0600);
    control_socket_close(control);
    control = NULL;
    assert_int_equal(stat(path, &status), -1);
    free(path);
}

/* A user who got at the socket nevertheless is refused, because the kernel names the user. */
static void test_another_user_is_refused(void **state)
{
    char *path = xasprintf(FOLDER "/%d.sock", (int)getpid());
    pid_t child;

    (void)state;
    if (geteuid() != 0)
        skip();
    assert_int_equal(chmod(".", 0755) | chmod(path, 0666), 0);
    free(path);
    child = fork();
    if (!child) {
        if (setgid(65534) || setuid(65534))
            _exit(1);
        send(peer(getppid()), "stop", 4, 0);
        _exit(0);
    }
    assert_int_equal(exit_code(child), 0);
    assert_null(control_socket_take(control));
    assert_null(control_socket_take(control));
}

/* Peers that say nothing, too much, or read nothing: a request of another has its answer. */
static void test_no_peer_delays_the_recorder(void **state)
{
    char long_text[CONTROL_SOCKET_REQUEST + 1];
    uint64_t began = clock_ns(CLOCK_MONOTONIC), slowest = 0;
    int silent[4], loud = peer(getpid()), deaf = peer(getpid());
    pid_t child;

    (void)state;
    memset(long_text, 'x', sizeof(long_text));
    assert_true(send(loud, long_text, sizeof(long_text), 0) > 0);
    assert_true(send(deaf, "status", 6, 0) > 0);
    for (int i = 0; i < 4; i++)
        silent[i] = peer(getpid());
    assert_string_equal(request(), "status");
    close(deaf);
    control_socket_answer(control, true, "nobody reads this");
    child = ask("stop", "it ends");
    for (const char *text = NULL; !text; usleep(10000)) {
        uint64_t before = clock_ns(CLOCK_MONOTONIC), took;

        assert_true(before - began < 10000000000);
        text = control_socket_take(control);
        took = clock_ns(CLOCK_MONOTONIC) - before;
        slowest = took > slowest ? took : slowest;
        if (text)
            assert_string_equal(text, "stop");
    }
    control_socket_answer(control, true, "it ends");
    assert_int_equal(exit_code(child), 0);
    assert_true(slowest < 500000000);
    for (int i = 0; i < 4; i++)
        close(silent[i]);
    close(loud);
}

/* The file of a recorder that was killed is removed; other files stay. */
static void test_sockets_of_ended_processes_are_removed(void **state)
{
    struct error error;
    struct buffer answer = {0};
    pid_t child = fork(), *pids;
    char *path;
    size_t count;

    (void)state;
    if (!child) {
        struct control_socket *own = control_socket_open(FOLDER, &error);

        _exit(own ? 0 : 1);
    }
    assert_int_equal(exit_code(child), 0);
    path = xasprintf(FOLDER "/%d.sock", (int)child);
    assert_int_equal(access(path, F_OK), 0);
    assert_int_equal(control_socket_ask(FOLDER, child, "status", &answer, &error), -1);
    assert_int_equal(error.code, ERROR_NO_PROCESS);
    fclose(fopen(FOLDER "/0.sock", "w"));
    pids = control_socket_list(FOLDER, &count);
    assert_int_equal(count, 1);
    assert_int_equal(pids[0], getpid());
    free(pids);
    assert_int_equal(access(path, F_OK), -1);
    assert_int_equal(access(FOLDER "/0.sock", F_OK), 0);
    free(path);
    unlink(FOLDER "/0.sock");
}

static void test_a_folder_that_cannot_be_made_is_an_error(void **state)
{
    struct error error;
    size_t count;

    (void)state;
    assert_null(control_socket_open("missing/" FOLDER, &error));
    assert_string_equal(error.text,
                        "can't make folder missing/" FOLDER ": No such file or directory");
    assert_null(control_socket_list("missing/" FOLDER, &count));
    assert_int_equal(count, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_a_request_has_its_answer, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_the_socket_is_for_its_user_alone, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_another_user_is_refused, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_no_peer_delays_the_recorder, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_sockets_of_ended_processes_are_removed, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(test_a_folder_that_cannot_be_made_is_an_error, set_up,
                                        tear_down),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
