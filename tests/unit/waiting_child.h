// SPDX-License-Identifier: Apache-2.0
/* A child process that prepares itself and then waits. */
#pragma once

#include <signal.h>
#include <stdbool.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

/* Start it. `prepare` runs in the child, and returns false on failure; NULL: nothing is prepared.
 * The child ends with this process at the latest. */
static inline pid_t child_start(bool (*prepare)(void))
{
    char prepared = 0;
    int ready[2];
    pid_t pid;

    assert_int_equal(pipe(ready), 0);
    pid = fork();
    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        prepared = !prepare || prepare();
        (void)!write(ready[1], &prepared, 1);
        pause();
        _exit(1);
    }
    close(ready[1]);
    assert_int_equal(read(ready[0], &prepared, 1), 1);
    close(ready[0]);
    assert_true(prepared);
    return pid;
}

static inline void child_end(pid_t pid)
{
    kill(pid, SIGKILL);
    assert_int_equal(waitpid(pid, NULL, 0), pid);
}
