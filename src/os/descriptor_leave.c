// SPDX-License-Identifier: Apache-2.0
#include "os/descriptors.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "os/child.h"

/*
 * close() takes the descriptor out of the table, and then waits for the server. So a process closes
 * it that shares the table. Once the descriptor is gone, this process takes a copy of the table. A
 * second process closes the others in the first table: whoever reads them would wait for them.
 */

enum { STACK_BYTES = 16 << 10, PAUSE_US = 200 };

static int close_it(void *argument)
{
    const int *fd = argument;

    close(*fd);
    return 0;
}

/* Wait until the main process has its own table, or has ended. */
static int close_others(void *argument)
{
    const pid_t *parent = argument;
    sigset_t signals;
    int number;

    sigemptyset(&signals);
    sigaddset(&signals, SIGTERM);
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (getppid() == *parent)
        sigwait(&signals, &number);
    close_range(0, UINT_MAX, 0);
    return 0;
}

/* Start a process with its own memory, and with the table of descriptors of this one. `signal` is
 * sent at its end. */
static pid_t start(int (*run)(void *argument), void *argument, int signal)
{
    char stack[STACK_BYTES] __attribute__((aligned(16)));

    return clone(run, stack + sizeof(stack), CLONE_FILES | signal, argument);
}

static bool is_taken_out(int fd, pid_t closing)
{
    while (fcntl(fd, F_GETFD) >= 0 && waitpid(closing, NULL, WNOHANG | __WALL) == 0)
        usleep(PAUSE_US);
    return fcntl(fd, F_GETFD) < 0;
}

bool descriptor_leave(int fd)
{
    pid_t parent = getpid(), others, closing;
    sigset_t every, before;
    bool is_left = false;

    sigfillset(&every);
    pthread_sigmask(SIG_SETMASK, &every, &before);
    others = start(close_others, &parent, SIGCHLD);
    /* Nobody waits for the end of this one. */
    closing = others < 0 ? -1 : start(close_it, &fd, 0);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (closing > 0)
        is_left = is_taken_out(fd, closing);
    if (others < 0)
        return false;
    if (is_left && unshare(CLONE_FILES) == 0)
        kill(others, SIGTERM);
    else
        kill(others, SIGKILL);
    child_await(others);
    return is_left;
}
