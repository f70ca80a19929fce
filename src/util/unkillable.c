// SPDX-License-Identifier: Apache-2.0
#include "util/unkillable.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "util/clock.h"

enum { STACK_SIZE = 32768 };

struct unkillable_task {
    void (*run)(void *argument);
    void *argument;
    uint64_t cpu_ns;
};

static int run_task(void *argument)
{
    struct unkillable_task *task = argument;

    setpgid(0, 0); /* a kill of our process group does not reach it either */
    task->run(task->argument);
    task->cpu_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID);
    return 0;
}

/* With CLONE_VFORK this thread sleeps until the new process ends, so `run` can use this thread's
 * errno and other thread-local data. */
uint64_t run_unkillable(void (*run)(void *argument), void *argument)
{
    char stack[STACK_SIZE] __attribute__((aligned(16)));
    struct unkillable_task task = {.run = run, .argument = argument};
    sigset_t all, before;
    pid_t pid;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    pid = clone(run_task, stack + sizeof(stack), CLONE_VM | CLONE_VFORK | CLONE_FILES, &task);
    if (pid < 0)
        run(argument);
    else
        while (waitpid(pid, NULL, __WCLONE) < 0 && errno == EINTR)
            ;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return task.cpu_ns;
}
