// SPDX-License-Identifier: Apache-2.0
/*
 * A process for probes: the test's own program, started from a file name that is deleted
 * afterwards. Its threads call probed() at a rate that the test sets.
 */
#pragma once

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "native/mappings.h"
#include "native/memory.h"
#include "util/clock.h"

enum { TARGET_THREADS = 3 };

/* Memory shared by test and target. */
struct target_state {
    volatile uint64_t calls[TARGET_THREADS];
    volatile double rate;                     /* calls per second of each thread; 0: none */
    volatile double followed[TARGET_THREADS]; /* the last rate that the thread applied */
    volatile uint64_t address;                /* of probed() in the target */
    volatile int running;
};

struct target {
    pid_t pid;
    struct target_state *state;
    struct memory *memory;
    struct mappings *mappings;
};

/* Begins with an instruction that the kernel emulates. */
__asm__(".pushsection .text\n.balign 16\n.type probed, @function\nprobed:\n"
        "push %rbp\npop %rbp\nret\n.size probed, . - probed\n.popsection\n");
void probed(void) __attribute__((visibility("hidden")));

/* ---- in the target ---- */

struct target_thread {
    struct target_state *state;
    int number;
};

/* Make the calls that are due every 200 us, or continuously if that is not enough. Calls of a time
 * without CPU are not made up for, because that would raise the rate. */
static void *target_run(void *argument)
{
    struct target_thread *thread = argument;
    struct target_state *state = thread->state;
    double due = 0;
    uint64_t last = clock_ns(CLOCK_MONOTONIC);

    __atomic_fetch_add(&state->running, 1, __ATOMIC_SEQ_CST);
    for (;;) {
        const struct timespec pause = {.tv_nsec = 200000};
        uint64_t now = clock_ns(CLOCK_MONOTONIC);
        double rate = state->rate;

        due += (double)(now - last) * rate / 1e9;
        last = now;
        due = due > 1 + rate / 1000 ? 1 + rate / 1000 : due;
        for (; due >= 1; due--) {
            probed();
            state->calls[thread->number]++;
        }
        state->followed[thread->number] = rate;
        nanosleep(&pause, NULL);
    }
    return NULL;
}

/* Call this first in main(): in the target it does not return. */
static void target_main(int count, char **arguments)
{
    static struct target_thread threads[TARGET_THREADS];
    struct target_state *state;
    pthread_t id;

    if (count != 3 || strcmp(arguments[1], "--target") != 0)
        return;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    state = mmap(NULL, sizeof(*state), PROT_READ | PROT_WRITE, MAP_SHARED, atoi(arguments[2]), 0);
    if (state == MAP_FAILED)
        _exit(1);
    state->address = (uintptr_t)probed;
    for (int i = 0; i < TARGET_THREADS; i++) {
        threads[i] = (struct target_thread){state, i};
        if (i > 0 && pthread_create(&id, NULL, target_run, &threads[i]) != 0)
            _exit(1);
    }
    target_run(&threads[0]);
}

/* ---- in the test ---- */

static struct target target_start(void)
{
    struct target target = {0};
    char own[1024] = "", path[1100], number[16];
    int fd = memfd_create("target", 0);

    assert_int_equal(ftruncate(fd, sizeof(struct target_state)), 0);
    target.state =
        mmap(NULL, sizeof(struct target_state), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    assert_true(target.state != MAP_FAILED);
    assert_true(readlink("/proc/self/exe", own, sizeof(own) - 1) > 0);
    snprintf(path, sizeof(path), "%s-target-%d", own, (int)getpid());
    assert_int_equal(link(own, path), 0);
    snprintf(number, sizeof(number), "%d", fd);
    target.pid = fork();
    if (target.pid == 0) {
        execl(path, path, "--target", number, (char *)NULL);
        _exit(127);
    }
    while (target.state->running < TARGET_THREADS)
        usleep(1000);
    unlink(path);
    close(fd);
    target.memory = memory_of_process(target.pid);
    target.mappings = mappings_new(target.pid, target.memory, &(struct error){0});
    assert_non_null(target.mappings);
    return target;
}

/* Kill the target; may be called again. */
static void target_kill(struct target *target)
{
    if (target->pid == 0)
        return;
    kill(target->pid, SIGKILL);
    assert_int_equal(waitpid(target->pid, NULL, 0), target->pid);
    target->pid = 0;
}

static void target_free(struct target *target)
{
    mappings_free(target->mappings);
    memory_free(target->memory);
    munmap(target->state, sizeof(*target->state));
}

static uint64_t target_calls(const struct target *target)
{
    uint64_t sum = 0;

    for (int i = 0; i < TARGET_THREADS; i++)
        sum += target->state->calls[i];
    return sum;
}

/* Change the rate, and wait until each thread has the new rate. */
__attribute__((unused)) static void target_set_rate(struct target *target, double rate)
{
    target->state->rate = rate;
    for (int i = 0; i < TARGET_THREADS; i++)
        while (target->state->followed[i] != rate)
            usleep(1000);
}

/* True if there is a breakpoint in the code of probed(). */
static bool target_is_probed(const struct target *target)
{
    uint8_t byte = 0;

    assert_true(memory_read(target->memory, target->state->address, &byte, 1));
    assert_true(byte == 0x55 || byte == 0xcc);
    return byte == 0xcc;
}
