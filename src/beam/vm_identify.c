// SPDX-License-Identifier: Apache-2.0
/* Finds out whether an OS process is a VM, and whether its memory may be read. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "beam/vm_internal.h"
#include "os/capabilities.h"
#include "os/child.h"
#include "os/patience.h"
#include "os/patient_open.h"
#include "os/process.h"
#include "util/alloc.h"
#include "util/clock.h"

/* A process of another user can be read with CAP_SYS_PTRACE. Its files in /proc, such as its
 * executable, also need the permission to open them. */
static uint64_t capabilities_to_read(pid_t pid)
{
    const uint64_t trace = CAPABILITY(CAP_SYS_PTRACE);
    struct stat status;
    uint64_t set = 0;
    char path[64];

    snprintf(path, sizeof(path), "/proc/%d", pid);
    capabilities_of_self(&set);
    if (stat(path, &status) == 0 && status.st_uid == geteuid() && !(set & trace))
        return trace;
    return CAPABILITIES_TO_READ;
}

static int open_error(pid_t pid, const char *what, struct error *error)
{
    if (errno == EACCES || errno == EPERM)
        return capabilities_refused(capabilities_to_read(pid), error, "read %s of process %d", what,
                                    pid);
    if (process_exists(pid))
        return error_set(error, ERROR_NO_PROCESS,
                         "process %d has no executable: it is a kernel thread, or it is ending",
                         pid);
    return process_missing(pid, error);
}

/* Open /proc/PID/`name`; -1 with errno. */
static int open_proc(pid_t pid, const char *name)
{
    char path[64];

    snprintf(path, sizeof(path), "/proc/%d/%s", pid, name);
    return open(path, O_RDONLY | O_CLOEXEC);
}

struct identification {
    pid_t pid;
    int refused; /* errno of opening the executable; 0: it was opened */
    struct build build;
    struct error error;
    int result;
};

static void identify(void *work)
{
    struct identification *own = work;
    int fd = open_proc(own->pid, "exe");

    own->refused = fd < 0 ? errno : 0;
    if (fd < 0)
        return;
    own->result = build_identify(fd, &own->build, &own->error);
    close(fd);
}

/* Errors name the capabilities that the caller lacks. identify() can't tell: its process has fewer.
 */
static int result_of(const struct identification *own, struct build *build, struct error *error)
{
    if (own->refused) {
        errno = own->refused;
        return open_error(own->pid, "the executable", error);
    }
    if (own->result > 0)
        *build = own->build;
    if (own->result < 0)
        *error = own->error;
    return own->result;
}

static int refuse_silent(pid_t pid, struct error *error)
{
    return error_set(error, ERROR_UNSUPPORTED,
                     "the executable of process %d can't be read: its file server does not answer",
                     (int)pid);
}

static int refuse_unread(pid_t pid, struct error *error)
{
    return error_set(error, ERROR_UNSUPPORTED,
                     "the executable of process %d is not read: it may be on a file server, and "
                     "too many others do not answer",
                     (int)pid);
}

int vm_identify(pid_t pid, struct build *build, struct error *error)
{
    struct identification *own;
    struct executable executable;
    bool has_device = process_executable(pid, &executable); /* this asks no server */
    enum silence silence = has_device ? silent_servers_look(pid, executable.device) : SILENCE_NONE;
    uint64_t began = clock_ns(CLOCK_MONOTONIC);
    int result;

    if (silence != SILENCE_NONE)
        return silence == SILENCE_KNOWN ? refuse_silent(pid, error) : refuse_unread(pid, error);
    own = xcalloc(1, sizeof(*own));
    own->pid = pid;
    if (!patience_run(identify, free, own)) {
        if (errno == EAGAIN)
            return child_refused("a thread to read the executable", pid, error);
        if (has_device)
            silent_servers_note(executable.device, clock_ns(CLOCK_MONOTONIC) - began);
        return refuse_silent(pid, error);
    }
    if (has_device)
        silent_servers_note_answer(executable.device);
    result = result_of(own, build, error);
    free(own);
    return result;
}

/* Opening /proc/PID/mem requires the same right as process_vm_readv(). */
int vm_identify_permitted(pid_t pid, struct error *error)
{
    int fd = open_proc(pid, "mem");
    char what[48];

    if (fd >= 0) {
        close(fd);
        return 0;
    }
    open_error(pid, "the memory", error);
    snprintf(what, sizeof(what), "read the memory of process %d", pid);
    if (error->code == ERROR_PERMISSION)
        capabilities_scope_forbids(error, what);
    return -1;
}
