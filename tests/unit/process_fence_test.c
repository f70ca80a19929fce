// SPDX-License-Identifier: Apache-2.0
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "os/fence.h"

enum { NO_FENCE = 77 };

static struct sockaddr_un address;
static socklen_t address_size;

/* Listen at an abstract address of this process. */
static int listen_abstract(void)
{
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

    address.sun_family = AF_UNIX;
    snprintf(address.sun_path + 1, sizeof(address.sun_path) - 1, "beamflame-fence-%d", getpid());
    address_size =
        (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + strlen(address.sun_path + 1));
    assert_int_equal(bind(fd, (struct sockaddr *)&address, address_size), 0);
    assert_int_equal(listen(fd, 1), 0);
    return fd;
}

/* Connect; return 0 or errno. */
static int problem_of_connecting(void)
{
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    int result = connect(fd, (struct sockaddr *)&address, address_size) ? errno : 0;

    close(fd);
    return result;
}

/* Return the action that the fence wrongly permits or forbids. */
static int look_from_inside(pid_t parent)
{
    pid_t child;
    int status;

    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    if (process_fence_close())
        return NO_FENCE;
    if (kill(parent, 0) == 0 || errno != EPERM)
        return 1;
    if (problem_of_connecting() != EPERM)
        return 2;
    child = fork();
    if (child == 0) {
        pause();
        _exit(0);
    }
    if (kill(child, SIGKILL) || waitpid(child, &status, 0) != child || !WIFSIGNALED(status))
        return 3;
    return kill(getpid(), 0) ? 4 : 0;
}

static void test_fence_leads_to_no_other_process(void **state)
{
    int fd = listen_abstract(), status;
    pid_t parent = getpid(), child;

    (void)state;
    assert_int_equal(problem_of_connecting(), 0);
    child = fork();
    if (child == 0)
        _exit(look_from_inside(parent));
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    close(fd);
    if (WEXITSTATUS(status) == NO_FENCE)
        skip();
    assert_int_equal(WEXITSTATUS(status), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fence_leads_to_no_other_process),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
