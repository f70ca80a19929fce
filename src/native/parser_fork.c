// SPDX-License-Identifier: Apache-2.0
/*
 * The fork server of parsers. A fork copies the table of all pages of a process, and each page that
 * the process writes to while the child lives. The memory of this program grows with the VMs that
 * it profiles, and an agent starts a parser for each. So a process is forked once, before the
 * program has much memory, and that one forks all parsers.
 *
 * It forks with CLONE_PARENT: parsers are children of this process, which alone can kill them and
 * wait for them.
 */
#include "native/parser.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "os/call_filter.h"
#include "os/capabilities.h"
#include "os/child.h"
#include "os/descriptors.h"

enum {
    SOCKET = 3,         /* of the server */
    PATIENCE_MS = 15000 /* a machine may be busy */
};

static struct {
    pthread_mutex_t lock;
    pid_t owner; /* the process that started it: not one that fork() made of it later */
    pid_t child; /* 0: none */
    int socket;
} server = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* ---- the server ---- */

/* Fork a process whose parent is the parent of this one. The function of the C library has no flags
 * for this; what it does besides is for programs with threads. */
static pid_t fork_sibling(void)
{
    return (pid_t)syscall(SYS_clone, CLONE_PARENT | SIGCHLD, 0, 0, 0, 0);
}

/* Fork a parser for each descriptor that comes. Answer with its pid, or with a negated errno. */
static noreturn void serve(void)
{
    struct pollfd order = {.fd = SOCKET, .events = POLLIN};

    for (;;) {
        int32_t answer;
        int socket;

        if (poll(&order, 1, -1) < 0)
            continue;
        socket = descriptor_receive(SOCKET);
        if (socket < 0)
            _exit(0);
        answer = fork_sibling();
        if (answer == 0)
            parser_process_run(socket);
        if (answer < 0)
            answer = -errno;
        close(socket);
        if (write(SOCKET, &answer, sizeof(answer)) != sizeof(answer))
            _exit(0);
    }
}

static noreturn void run(int socket, pid_t parent)
{
    int kept[] = {SOCKET, STDERR_FILENO};

    if (socket != SOCKET)
        dup2(socket, SOCKET);
    child_begin("beamflame-fork", kept, CALL_FILTER_IS_MISSING ? 2 : 1);
    child_end_with(parent);
    if (capabilities_keep(0) == 0)
        serve();
    _exit(0);
}

/* ---- its owner ---- */

static bool start(void)
{
    pid_t parent = getpid();
    int sockets[2];

    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets))
        return false;
    server.child = fork();
    if (server.child == 0)
        run(sockets[1], parent);
    close(sockets[1]);
    if (server.child < 0) {
        server.child = 0;
        close(sockets[0]);
        return false;
    }
    server.socket = sockets[0];
    server.owner = parent;
    return true;
}

static void end(void)
{
    close(server.socket);
    if (server.owner == getpid() && kill(server.child, SIGKILL) == 0)
        child_await(server.child);
    server.child = 0;
}

/* Let the server fork. Return the pid, or -1 with errno: EPIPE if there is no answer. */
static pid_t order(int socket)
{
    struct pollfd answered = {.fd = server.socket, .events = POLLIN};
    int32_t answer;
    int ready;

    descriptor_send(server.socket, socket);
    do
        ready = poll(&answered, 1, PATIENCE_MS);
    while (ready < 0 && errno == EINTR);
    if (ready <= 0 || recv(server.socket, &answer, sizeof(answer), 0) != sizeof(answer)) {
        errno = EPIPE;
        return -1;
    }
    if (answer > 0)
        return answer;
    errno = -answer;
    return -1;
}

pid_t parser_fork(int socket)
{
    pid_t pid = -1;

    pthread_mutex_lock(&server.lock);
    if (server.child && server.owner != getpid())
        end();
    if (server.child || start()) {
        pid = order(socket);
        if (pid < 0 && errno == EPIPE) { /* it was killed, perhaps for lack of memory */
            end();
            if (start())
                pid = order(socket);
        }
    }
    pthread_mutex_unlock(&server.lock);
    return pid;
}
