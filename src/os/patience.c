// SPDX-License-Identifier: Apache-2.0
#include "os/patience.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

#include "os/privileges.h"
#include "os/thread_wait.h"
#include "util/alloc.h"
#include "util/clock.h"
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
    _Atomic pid_t tid;    /* 0: not running yet */
    pthread_mutex_t lock; /* guards what follows */
    pthread_cond_t ended;
    bool has_ended, is_left;
};

static _Atomic bool any_left;

static void free_task(struct task *task)
{
    pthread_mutex_destroy(&task->lock);
    pthread_cond_destroy(&task->ended);
    free(task);
}

static void *run_task(void *argument)
{
    struct task *task = argument;
    bool is_left;

    task->tid = gettid();
    privileges_read_memory();
    task->run(task->work);
    pthread_mutex_lock(&task->lock);
    task->has_ended = true;
    is_left = task->is_left;
    pthread_cond_signal(&task->ended);
    pthread_mutex_unlock(&task->lock);
    if (is_left) {
        task->drop(task->work);
        free_task(task);
    }
    return NULL;
}

static struct task *task_new(void (*run)(void *work), void (*drop)(void *work), void *work)
{
    struct task *task = xcalloc(1, sizeof(*task));
    pthread_condattr_t attributes;

    *task = (struct task){.run = run, .drop = drop, .work = work};
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
    sigset_t all, before;
    bool started;

    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, STACK_BYTES);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    started = pthread_create(thread, &attributes, run_task, task) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
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
    pthread_mutex_unlock(&task->lock);
    return has_ended;
}

bool run_patiently(void (*run)(void *work), void (*drop)(void *work), void *work)
{
    struct task *task = task_new(run, drop, work);
    pthread_t thread;

    if (!start(task, &thread)) {
        drop(work);
        free_task(task);
        return false;
    }
    if (await(task)) {
        pthread_join(thread, NULL);
        free_task(task);
        return true;
    }
    any_left = true;
    pthread_detach(thread);
    return false;
}
