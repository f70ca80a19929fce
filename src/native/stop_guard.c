// SPDX-License-Identifier: Apache-2.0
#include "native/memory.h"

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <time.h>
#include <unistd.h>

#include "os/privileges.h"
#include "os/thread_start.h"
#include "os/thread_wait.h"
#include "util/clock.h"
#include "util/error.h"
#include "util/stop.h"

static const uint64_t LOOK_NS = 250000000;

enum { LONG_LOOKS = 4, LONGEST_LOOKS = 20 }; /* 1 s, 5 s */

static struct {
    void (*say)(pid_t pid);
    pthread_t thread;
    bool runs;
    pthread_mutex_t lock; /* guards `ends` */
    pthread_cond_t changed;
    bool ends;
} guard = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* Take the signals that wait for a thread that is held. */
static void take_signals(void)
{
    static const int numbers[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
    sigset_t set;

    sigemptyset(&set);
    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
        sigaddset(&set, numbers[i]);
    pthread_sigmask(SIG_UNBLOCK, &set, NULL);
    pthread_sigmask(SIG_BLOCK, &set, NULL);
}

/* Sleep until the next look. False if the guard is to end. */
static bool pause_watch(void)
{
    uint64_t next = clock_ns(CLOCK_MONOTONIC) + LOOK_NS;
    struct timespec until = {(time_t)(next / 1000000000), (long)(next % 1000000000)};
    bool continues;

    pthread_mutex_lock(&guard.lock);
    if (!guard.ends)
        pthread_cond_timedwait(&guard.changed, &guard.lock, &until);
    continues = !guard.ends;
    pthread_mutex_unlock(&guard.lock);
    return continues;
}

static void *watch(void *argument)
{
    struct thread_wait wait = {0};
    unsigned int looks;
    pid_t held;

    (void)argument;
    privileges_give_up();
    while (pause_watch()) {
        looks = thread_wait_look(&wait, memory_process_reader(&held));
        if (looks < LONG_LOOKS)
            continue;
        take_signals();
        if (!stop_requested && looks < LONGEST_LOOKS)
            continue;
        guard.say(held);
        _exit(ERROR_UNSUPPORTED);
    }
    return NULL;
}

void stop_guard_start(void (*say)(pid_t pid))
{
    pthread_condattr_t attributes;

    guard.say = say;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&guard.changed, &attributes);
    pthread_condattr_destroy(&attributes);
    guard.runs = thread_start(&guard.thread, NULL, watch, NULL) == 0;
}

void stop_guard_end(void)
{
    if (!guard.runs)
        return;
    pthread_mutex_lock(&guard.lock);
    guard.ends = true;
    pthread_cond_signal(&guard.changed);
    pthread_mutex_unlock(&guard.lock);
    pthread_join(guard.thread, NULL);
    guard.runs = false;
}
