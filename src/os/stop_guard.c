// SPDX-License-Identifier: Apache-2.0
#include "os/stop_guard.h"

#include <pthread.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

#include "os/capabilities.h"
#include "os/memory.h"
#include "os/thread_wait.h"
#include "util/error.h"
#include "util/stop.h"

static const uint64_t LOOK_NS = 250000000;

enum { LONG_LOOKS = 4, LONGEST_LOOKS = 20 }; /* 1 s, 5 s */

static void (*say_held)(pid_t pid);

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

static void *watch(void *argument)
{
    const struct timespec pause = {.tv_nsec = (long)LOOK_NS};
    struct thread_wait wait = {0};
    unsigned int looks;
    pid_t held;

    (void)argument;
    capabilities_keep(0);
    for (;; nanosleep(&pause, NULL)) {
        looks = thread_wait_look(&wait, memory_reader(&held));
        if (looks < LONG_LOOKS)
            continue;
        take_signals();
        if (!stop_requested && looks < LONGEST_LOOKS)
            continue;
        say_held(held);
        _exit(ERROR_UNSUPPORTED);
    }
}

void stop_guard_start(void (*say)(pid_t pid))
{
    pthread_attr_t attributes;
    sigset_t all, before;
    pthread_t thread;

    say_held = say;
    pthread_attr_init(&attributes);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    (void)pthread_create(&thread, &attributes, watch, NULL);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attributes);
}
