// SPDX-License-Identifier: Apache-2.0
#include "agent/unprivileged.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agent/child_memory.h"
#include "os/child.h"
#include "os/fence.h"
#include "os/own_limits.h"
#include "os/privileges.h"
#include "util/alloc.h"
#include "util/files.h"
#include "util/memory_limit.h"

enum {
    FILE_SHARE = 4,  /* of its memory: the largest file in memory that it may write */
    NO_MEMORY = 100, /* exit code; not one of enum error_code */
    WAIT_US = 2000,
    SECONDS = 60, /* of CPU time that it may take, and twice as long by the clock */
};

static void end_without_memory(void)
{
    _exit(NO_MEMORY);
}

/* SIGXFSZ: a file in memory is too large. */
static void end_at_limit(int number)
{
    (void)number;
    end_without_memory();
}

/* The child leaves the text of an error in its file, and ends with the code. */
static void run(int (*work)(void *context, int out, struct error *error), void *context,
                pid_t parent, int out, int *kept, size_t count)
{
    struct error error;

    child_end_with(parent);
    child_begin("beamflame-make", kept, count);
    signal(SIGXFSZ, end_at_limit);
    own_limits_set(RLIMIT_FSIZE, child_memory() / FILE_SHARE);
    own_limits_set(RLIMIT_CPU, SECONDS);
    own_limits_set_room(child_memory());
    memory_limit_set(UINT64_MAX); /* the room limits it, so there is one message */
    alloc_fail_by(end_without_memory);
    privileges_render(file_fence_new());
    if (work(context, out, &error) == 0)
        _exit(0);
    lseek(out, 0, SEEK_SET);
    if (ftruncate(out, 0) == 0)
        (void)files_write_all(out, error.text, strlen(error.text));
    _exit((int)error.code);
}

/* Wait for the child. Return its error. */
static int finish(pid_t pid, int out, struct error *error)
{
    char text[sizeof(error->text)] = "";
    int status;

    for (int waits = 0; waitpid(pid, &status, WNOHANG) == 0; waits++) {
        if (waits == 2 * SECONDS * 1000000 / WAIT_US)
            kill(pid, SIGKILL);
        usleep(WAIT_US);
    }
    if (WIFSIGNALED(status))
        return error_set(error, ERROR_FAILED, "signal %d ended the process that read the recording",
                         WTERMSIG(status));
    if (WEXITSTATUS(status) == 0)
        return 0;
    if (WEXITSTATUS(status) == NO_MEMORY)
        return error_set(error, ERROR_FAILED,
                         "reading the recordings needs more than %u MB of memory: choose less "
                         "time, or give the agent more",
                         (unsigned)(child_memory() >> 20));
    files_read_at(out, 0, text, sizeof(text) - 1);
    return error_set(error, (enum error_code)WEXITSTATUS(status), "%s", text);
}

int unprivileged_make(int (*work)(void *context, int out, struct error *error), void *context,
                      const int *inputs, size_t count, struct error *error)
{
    int out = memfd_create("made", MFD_CLOEXEC);
    int *kept = xcalloc(count + 2, sizeof(*kept));
    pid_t parent = getpid(), pid = -1;
    int result = -1;

    if (count)
        memcpy(kept, inputs, count * sizeof(*kept));
    kept[count] = out;
    kept[count + 1] = STDERR_FILENO;
    if (out >= 0)
        pid = fork();
    if (pid == 0)
        run(work, context, parent, out, kept, count + 2);
    free(kept);
    if (pid < 0)
        error_set(error, ERROR_FAILED, "can't start the process that reads recordings: %s: %s",
                  strerror(errno), CHILD_ADVICE);
    else
        result = finish(pid, out, error);
    if (result == 0) {
        lseek(out, 0, SEEK_SET);
        return out;
    }
    if (out >= 0)
        close(out);
    return -1;
}
