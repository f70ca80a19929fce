// SPDX-License-Identifier: Apache-2.0
/* What this process and its children cost. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "os/family.h"
#include "util/clock.h"

#define MS        1000000ULL
#define MEGABYTES (32 << 20)

static void use_cpu(uint64_t ns)
{
    while (clock_ns(CLOCK_PROCESS_CPUTIME_ID) < ns)
        ;
}

/* Start a process whose child uses CPU time and memory. Both wait until the pipe ends. */
static pid_t start_family(int *ret_ready, int *ret_end)
{
    int ready[2], end[2];
    pid_t child;

    assert_int_equal(pipe(ready), 0);
    assert_int_equal(pipe(end), 0);
    child = fork();
    assert_true(child >= 0);
    if (!child) {
        pid_t grandchild = fork();
        char byte = 0;

        close(end[1]);
        if (!grandchild) {
            char *memory = malloc(MEGABYTES);

            memset(memory, 1, MEGABYTES);
            __asm__ volatile("" : : "r"(memory) : "memory");
            use_cpu(300 * MS);
            if (write(ready[1], &byte, 1) != 1)
                _exit(1);
        }
        if (read(end[0], &byte, 1) != 0)
            _exit(1);
        if (grandchild)
            waitpid(grandchild, NULL, 0);
        _exit(0);
    }
    close(ready[1]);
    close(end[0]);
    *ret_ready = ready[0];
    *ret_end = end[1];
    return child;
}

/* A process counts while it runs, and its CPU time when it has ended. */
static void test_descendants_count(void **state)
{
    uint64_t cpu[3], memory[3];
    int ready, end;
    pid_t child;
    char byte;

    (void)state;
    if (!family_cpu_time(getpid(), &cpu[0]))
        skip(); /* the kernel does not list children */
    assert_true(family_memory(getpid(), &memory[0]));
    child = start_family(&ready, &end);
    assert_int_equal(read(ready, &byte, 1), 1);
    assert_true(family_cpu_time(getpid(), &cpu[1]));
    assert_true(family_memory(getpid(), &memory[1]));
    close(end);
    assert_int_equal(waitpid(child, NULL, 0), child);
    assert_true(family_cpu_time(getpid(), &cpu[2]));
    assert_true(family_memory(getpid(), &memory[2]));
    assert_true(cpu[1] >= cpu[0] + 280 * MS); /* the kernel counts in ticks of 10 ms */
    assert_true(cpu[2] >= cpu[1]);
    assert_true(cpu[2] < cpu[0] + 2000 * MS);
    /* Libraries count less while other processes use them too. */
    assert_true(memory[1] >= memory[0] + MEGABYTES * 3 / 4);
    assert_true(memory[2] < memory[1] - MEGABYTES / 2);
    close(ready);
}

static void test_no_process_costs_nothing(void **state)
{
    uint64_t value;

    (void)state;
    assert_false(family_cpu_time(0, &value));
    assert_false(family_memory(0, &value));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_descendants_count),
        cmocka_unit_test(test_no_process_costs_nothing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
