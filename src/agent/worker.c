// SPDX-License-Identifier: Apache-2.0
#include "agent/worker.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "os/child.h"
#include "util/clock.h"

enum {
    RESTART_SECONDS = 10, /* between two starts */
    LOOK_US = 20000,
};

static const uint64_t SECOND = 1000000000;

static void run(const struct worker_job *job, int end_fd)
{
    int kept[WORKER_DESCRIPTORS + 2] = {end_fd, STDERR_FILENO};
    size_t count = 2;

    for (size_t i = 0; i < WORKER_DESCRIPTORS; i++)
        if (job->kept[i] >= 0)
            kept[count++] = job->kept[i];
    child_begin(job->name, kept, count);
    job->run(job->context, end_fd);
    _exit(ERROR_FAILED);
}

int worker_start(struct worker *worker, const struct worker_job *job, struct error *error)
{
    int ends[2];

    *worker = (struct worker){.end_fd = -1, .started = clock_ns(CLOCK_MONOTONIC)};
    if (pipe2(ends, O_CLOEXEC))
        return error_set(error, ERROR_FAILED, "no pipe can be made: %s", strerror(errno));
    worker->pid = fork();
    if (worker->pid == 0)
        run(job, ends[0]);
    close(ends[0]);
    if (worker->pid < 0) {
        close(ends[1]);
        worker->pid = 0;
        return error_set(error, ERROR_FAILED, "can't start the process %s: %s", job->name,
                         CHILD_ADVICE);
    }
    worker->end_fd = ends[1];
    return 0;
}

bool worker_runs(struct worker *worker)
{
    int status;

    if (!worker->pid || waitpid(worker->pid, &status, WNOHANG) != worker->pid)
        return worker->pid != 0;
    worker->can_not_run = WIFEXITED(status) && WEXITSTATUS(status) == WORKER_CAN_NOT_RUN;
    worker_ask_to_end(worker, false);
    worker->pid = 0;
    return false;
}

bool worker_must_start(struct worker *worker, uint64_t now)
{
    return !worker_runs(worker) && !worker->can_not_run &&
           now - worker->started >= RESTART_SECONDS * SECOND;
}

void worker_ask_to_end(struct worker *worker, bool hands_over)
{
    if (!worker->pid || worker->end_fd < 0)
        return;
    if (hands_over)
        (void)!write(worker->end_fd, "", 1);
    close(worker->end_fd);
    worker->end_fd = -1;
}

void worker_await(struct worker *worker, uint64_t until)
{
    while (worker_runs(worker) && clock_ns(CLOCK_MONOTONIC) < until)
        usleep(LOOK_US);
    if (!worker->pid)
        return;
    worker_ask_to_end(worker, false);
    kill(worker->pid, SIGKILL);
    child_await(worker->pid);
    worker->pid = 0;
}
