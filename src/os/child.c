// SPDX-License-Identifier: Apache-2.0
#include "os/child.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "os/descriptors.h"
#include "os/privileges.h"
#include "os/thread_wait.h"
#include "util/alloc.h"

void child_begin(const char *name, int *kept, size_t count)
{
    const int ignored[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTSTP, SIGPIPE, SIGUSR1, SIGUSR2};

    for (size_t i = 0; i < sizeof(ignored) / sizeof(ignored[0]); i++)
        signal(ignored[i], SIG_IGN);
    prctl(PR_SET_NAME, name);
    (void)descriptors_keep_only(kept, count);
}

void child_end_with(pid_t parent)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
        _exit(0);
}

enum {
    PAUSE_US = 500,
    PAUSES = 100,    /* between two looks: 50 ms */
    FIRST_LOOKS = 5, /* at the first child that hangs */
    LATER_LOOKS = 1,
    STACK_BYTES = 64 << 10,
};

static void *reap(void *argument)
{
    const pid_t *pid = argument;

    privileges_give_up();
    while (waitpid(*pid, NULL, 0) < 0 && errno == EINTR)
        ;
    free(argument);
    return NULL;
}

/* Let a thread wait, which does not delay the end of this program. Without it the child stays a
 * zombie until then. */
static void leave(pid_t pid)
{
    pid_t *argument = xcalloc(1, sizeof(*argument));
    pthread_attr_t attributes;
    sigset_t all, before;
    pthread_t thread;

    *argument = pid;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, STACK_BYTES);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    if (pthread_create(&thread, &attributes, reap, argument))
        free(argument);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attributes);
}

void child_await(pid_t pid)
{
    static _Atomic bool any_left;
    struct thread_wait wait = {0};
    unsigned int looks = any_left ? LATER_LOOKS : FIRST_LOOKS;

    for (unsigned int pauses = 1; waitpid(pid, NULL, WNOHANG) == 0; pauses++) {
        if (pauses % PAUSES == 0 && thread_wait_look(&wait, pid) >= looks) {
            any_left = true;
            leave(pid);
            return;
        }
        usleep(PAUSE_US);
    }
}

int child_refused(const char *what, pid_t pid, struct error *error)
{
    return error_set(error, ERROR_FAILED, "can't start %s of process %d: %s", what, (int)pid,
                     CHILD_ADVICE);
}

/* Start processes that live until the other end of the pipe `fds` is closed. Return how many of
 * `count` were started, with errno if these are fewer. */
static int start_waiting(const int fds[2], pid_t *children, int count)
{
    char byte;

    for (int i = 0; i < count; i++) {
        children[i] = fork();
        if (children[i] < 0)
            return i;
        if (children[i] == 0) {
            close(fds[1]);
            (void)!read(fds[0], &byte, sizeof(byte));
            _exit(0);
        }
    }
    return count;
}

int child_room(void)
{
    enum {
        ROOM = 4
    }; /* a thread and its process (os/patience.h), a parser and its server (native/parser.h) */
    pid_t children[ROOM];
    int fds[2], started, code;

    if (pipe2(fds, O_CLOEXEC))
        return errno;
    started = start_waiting(fds, children, ROOM);
    code = errno;
    close(fds[1]);
    close(fds[0]);
    for (int i = 0; i < started; i++)
        while (waitpid(children[i], NULL, 0) < 0 && errno == EINTR)
            ;
    return started == ROOM ? 0 : code;
}

int child_check_room(struct error *error)
{
    int code = child_room();

    return code ? error_set(error, ERROR_FAILED, "can't start the processes that read a VM: %s: %s",
                            strerror(code), CHILD_ADVICE)
                : 0;
}
