// SPDX-License-Identifier: Apache-2.0
#include "os/patience.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "os/child.h"
#include "os/descriptors.h"
#include "os/privileges.h"
#include "os/thread_start.h"
#include "os/thread_wait.h"
#include "util/alloc.h"
#include "util/clock.h"
#include "util/log.h"
#include "util/stop.h"

static const uint64_t LOOK_NS = 50000000;

enum {
    STACK_BYTES = 64 << 10,
    FIRST_LOOKS = 20, /* 1 s */
    LATER_LOOKS = 5,
};

struct task {
    void (*run)(void *work);
    void (*drop)(void *work);
    void *work;
    int kept[PATIENCE_KEPT_MAX]; /* the descriptors that the process keeps */
    size_t kept_count;
    _Atomic pid_t tid;    /* of the process that does the work; 0: not running yet */
    pthread_mutex_t lock; /* guards what follows */
    pthread_cond_t ended;
    bool has_ended, is_left;
};

static _Atomic bool any_left;
static _Atomic bool caller_works;

void patience_end(void)
{
    caller_works = true;
}

bool patience_has_ended(void)
{
    return caller_works;
}
static atomic_uint left; /* now */

static void free_task(struct task *task)
{
    pthread_mutex_destroy(&task->lock);
    pthread_cond_destroy(&task->ended);
    free(task);
}

static int run_work(void *argument)
{
    struct task *task = argument;

    task->tid = gettid();
    task->run(task->work);
    return 0;
}

static int run_apart(void *argument)
{
    struct task *task = argument;

    task->tid = gettid();
    /* Else a reader of our output would wait too. Without memory for a table of its own, the
     * process uses ours. */
    (void)descriptors_keep_only(task->kept, task->kept_count);
    return run_work(task);
}

/* A file server that does not answer holds a thread so firmly that not even SIGKILL ends it
 * (request_wait_answer() in fs/fuse/dev.c), and a program ends with its last thread. So a process
 * of its own does the work, in the same memory. The process uses this thread's thread-local data,
 * so this thread sleeps until the process or this program has ended. */
static void run_in_process(struct task *task)
{
    char stack[STACK_BYTES] __attribute__((aligned(16)));
    const int shared = CLONE_VM | CLONE_VFORK | CLONE_FILES;
    pid_t pid = clone(run_apart, stack + sizeof(stack), shared, task);

    while (pid >= 0 && waitpid(pid, NULL, __WCLONE) < 0 && errno == EINTR)
        ;
    if (!task->tid) /* there is no process, or it had memory of its own, as under valgrind */
        run_work(task);
}

static void *run_task(void *argument)
{
    struct task *task = argument;
    bool is_left;

    privileges_read_memory();
    run_in_process(task);
    pthread_mutex_lock(&task->lock);
    task->has_ended = true;
    is_left = task->is_left;
    pthread_cond_signal(&task->ended);
    pthread_mutex_unlock(&task->lock);
    if (is_left) {
        atomic_fetch_sub(&left, 1);
        task->drop(task->work);
        free_task(task);
    }
    return NULL;
}

static struct task *task_new(void (*run)(void *work), void (*drop)(void *work), void *work,
                             const int *kept, size_t count)
{
    struct task *task = xcalloc(1, sizeof(*task));
    pthread_condattr_t attributes;

    *task = (struct task){.run = run, .drop = drop, .work = work, .kept_count = count};
    for (size_t i = 0; i < count; i++)
        task->kept[i] = kept[i];
    pthread_mutex_init(&task->lock, NULL);
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&task->ended, &attributes);
    pthread_condattr_destroy(&attributes);
    return task;
}

/* Signals are for the other threads: this one may never return to take them. */
static bool start(struct task *task, pthread_t *thread)
{
    pthread_attr_t attributes;
    bool started;

    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, 2 * (size_t)STACK_BYTES);
    started = thread_start(thread, &attributes, run_task, task) == 0;
    pthread_attr_destroy(&attributes);
    return started;
}

/* Wait for the end of the task, or leave it. True if it has ended. */
static bool await(struct task *task)
{
    unsigned int looks = any_left ? LATER_LOOKS : FIRST_LOOKS;
    struct thread_wait wait = {0};
    bool has_ended;

    pthread_mutex_lock(&task->lock);
    while (!task->has_ended) {
        uint64_t next = clock_ns(CLOCK_MONOTONIC) + LOOK_NS;
        struct timespec time = {(time_t)(next / 1000000000), (long)(next % 1000000000)};

        if (pthread_cond_timedwait(&task->ended, &task->lock, &time) == ETIMEDOUT &&
            (stop_is_overdue() || thread_wait_look(&wait, task->tid) >= looks))
            break;
    }
    has_ended = task->has_ended;
    task->is_left = !has_ended;
    if (!has_ended)
        atomic_fetch_add(&left, 1);
    pthread_mutex_unlock(&task->lock);
    return has_ended;
}

unsigned int patience_left(void)
{
    return atomic_load(&left);
}

bool patience_run_with(const int *kept, size_t count, void (*run)(void *work),
                       void (*drop)(void *work), void *work)
{
    struct task *task;
    pthread_t thread;

    if (patience_has_ended()) {
        run(work);
        return true;
    }
    task = task_new(run, drop, work, kept, count);
    if (!start(task, &thread)) {
        drop(work);
        free_task(task);
        log_decision("patience", "no thread can be started: " CHILD_ADVICE);
        errno = EAGAIN;
        return false;
    }
    if (await(task)) {
        pthread_join(thread, NULL);
        free_task(task);
        return true;
    }
    any_left = true;
    pthread_detach(thread);
    errno = EBUSY;
    return false;
}

bool patience_run(void (*run)(void *work), void (*drop)(void *work), void *work)
{
    return patience_run_with(NULL, 0, run, drop, work);
}
