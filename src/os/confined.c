// SPDX-License-Identifier: Apache-2.0
#include "os/confined.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdnoreturn.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "os/child.h"
#include "os/own_limits.h"
#include "os/privileges.h"
#include "util/alloc.h"
#include "util/stop.h"

/* An exit code that is not in enum error_code. */
enum { OUT_OF_MEMORY = 125 };

/* Return the bytes of address space that this process may still take: `wanted`, or less if it has a
 * lower limit already. */
static uint64_t memory_room(uint64_t wanted)
{
    uint64_t has = own_limits_memory(OWN_ADDRESS_SPACE);
    struct rlimit limit;

    if (getrlimit(RLIMIT_AS, &limit) || limit.rlim_cur == RLIM_INFINITY || limit.rlim_cur < has)
        return wanted;
    return limit.rlim_cur - has < wanted ? limit.rlim_cur - has : wanted;
}

/* ---- the process ---- */

static noreturn void end_without_memory(void)
{
    _exit(OUT_OF_MEMORY);
}

/* A signal that ends or stops this process as it does its parent: the writing end of a pipe, Ctrl-Z
 * on a terminal. Unlike its parent it has no handler. */
static void take_again(int number, const struct sigaction *before)
{
    signal(number, before->sa_handler == SIG_IGN ? SIG_IGN : SIG_DFL);
}

static void begin(int socket, int log_file)
{
    int kept[] = {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO, socket, log_file};
    struct sigaction pipe, stop;

    sigaction(SIGPIPE, NULL, &pipe);
    sigaction(SIGTSTP, NULL, &stop);
    child_begin("beamflame-out", kept, log_file < 0 ? 4 : 5);
    take_again(SIGPIPE, &pipe);
    take_again(SIGTSTP, &stop);
}

static noreturn void run_here(const struct confined_work *work, pid_t parent, int socket,
                              const sigset_t *signals)
{
    int code;

    child_end_with(parent);
    begin(socket, work->log_file);
    pthread_sigmask(SIG_SETMASK, signals, NULL);
    file_broker_ask_through(socket);
    alloc_fail_by(end_without_memory);
    own_limits_set_room(memory_room(work->memory));
    tzset(); /* reads files */
    privileges_confine();
    code = work->run(work->context);
    fflush(NULL);
    _exit(code);
}

/* ---- its parent ---- */

/* Start the process, and return its pid; -1 with errno. */
static pid_t start(const struct confined_work *work, int *ret_socket)
{
    pid_t parent = getpid(), child;
    sigset_t every, before;
    int sockets[2], code;

    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets))
        return -1;
    fflush(NULL);
    signal(SIGCHLD, SIG_DFL); /* else its end could not be waited for */
    sigfillset(&every);
    pthread_sigmask(SIG_SETMASK, &every, &before);
    child = fork();
    if (child == 0)
        run_here(work, parent, sockets[1], &before);
    code = errno;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    close(sockets[1]);
    if (child < 0)
        close(sockets[0]);
    *ret_socket = sockets[0];
    errno = code;
    return child;
}

static int died(int number, struct error *error)
{
    struct sigaction pipe;

    sigaction(SIGPIPE, NULL, &pipe);
    if (number == SIGPIPE && pipe.sa_handler != SIG_IGN)
        stop_now(SIGPIPE);
    if (number == SIGKILL)
        return error_set(error, ERROR_FAILED,
                         "signal 9 ended the process that writes the outputs: somebody killed it, "
                         "or the machine had no memory left (see the kernel's log)");
    return error_set(error, ERROR_FAILED,
                     "signal %d ended the process that writes the outputs, which is a fault of "
                     "beamflame: report it",
                     number);
}

static int ran_out_of_memory(uint64_t memory, struct error *error)
{
    return error_set(error, ERROR_FAILED,
                     "the process that writes the outputs needs more than %llu MB of memory: give "
                     "more by --max-memory, or write fewer formats at once",
                     (unsigned long long)memory >> 20);
}

int confined_run(const struct confined_work *work, struct confined_end *ret_end,
                 struct error *error)
{
    uint64_t memory = memory_room(work->memory);
    int socket, status = 0;
    pid_t child = start(work, &socket);
    int code = errno;

    privileges_render(work->fence);
    if (child < 0)
        return error_set(error, ERROR_FAILED,
                         "can't start the process that writes the outputs: %s: %s", strerror(code),
                         CHILD_ADVICE);
    ret_end->complete = file_broker_serve(&work->files, socket);
    close(socket);
    while (waitpid(child, &status, 0) < 0 && errno == EINTR)
        ;
    if (WIFSIGNALED(status))
        return died(WTERMSIG(status), error);
    ret_end->code = WEXITSTATUS(status);
    return ret_end->code == OUT_OF_MEMORY ? ran_out_of_memory(memory, error) : 0;
}
