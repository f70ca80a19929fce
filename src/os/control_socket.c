// SPDX-License-Identifier: Apache-2.0
#include "os/control_socket.h"

#include <dirent.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "util/alloc.h"
#include "util/clock.h"

enum {
    BACKLOG = 16,
    PEERS = 4,        /* that may be connected at once; others wait */
    ASK_SECONDS = 10, /* for an answer: a step of a recording can take seconds */
};

/* The first byte of an answer. */
enum { DONE = '+', FAILED = '-' };

static const uint64_t SILENT_NS = 1000000000;

struct control_peer {
    int fd;         /* -1: none */
    uint64_t since; /* ns, CLOCK_MONOTONIC */
};

struct control_socket {
    int fd;
    pid_t owner; /* the process that made it */
    struct sockaddr_un address;
    struct control_peer peers[PEERS];
    struct control_peer *asking; /* its request was taken; NULL: none */
    char request[CONTROL_SOCKET_REQUEST + 1];
};

static int set_address(const char *folder, pid_t pid, struct sockaddr_un *address,
                       struct error *error)
{
    int length;

    *address = (struct sockaddr_un){.sun_family = AF_UNIX};
    length = snprintf(address->sun_path, sizeof(address->sun_path), "%s/%d.sock", folder, (int)pid);
    if (length < 0 || (size_t)length >= sizeof(address->sun_path))
        return error_set(error, ERROR_FAILED, "the path of folder %s is too long for a socket",
                         folder);
    return 0;
}

/* True for root and this user. A peer of another user namespace is neither. */
static bool may_talk(int fd, struct ucred *ret_peer)
{
    socklen_t size = sizeof(*ret_peer);

    return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, ret_peer, &size) == 0 &&
           (ret_peer->uid == 0 || ret_peer->uid == geteuid());
}

/* Return a connected socket, or -1 with errno: EAGAIN where too many peers wait. `flags`:
 * SOCK_NONBLOCK does not wait for them. */
static int connect_to(const struct sockaddr_un *address, int flags)
{
    const struct timeval patience = {.tv_sec = ASK_SECONDS};
    int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | flags, 0), code;

    if (fd < 0)
        return -1;
    setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience));
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
    if (connect(fd, (const struct sockaddr *)address, sizeof(*address)) == 0)
        return fd;
    code = errno;
    close(fd);
    errno = code;
    return -1;
}

/* ---- the recorder ---- */

static int listen_at(const struct sockaddr_un *address)
{
    int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), failed, code;
    mode_t mask;

    if (fd < 0)
        return -1;
    mask = umask(0177); /* a socket file is for this user alone */
    failed = bind(fd, (const struct sockaddr *)address, sizeof(*address));
    code = errno;
    umask(mask);
    if (!failed && listen(fd, BACKLOG) == 0)
        return fd;
    if (!failed) {
        code = errno;
        unlink(address->sun_path);
    }
    close(fd);
    errno = code;
    return -1;
}

/* Return a socket that listens, or -1 with error. */
static int begin(const char *folder, const struct sockaddr_un *address, struct error *error)
{
    size_t ignored;
    int fd;

    if (mkdir(folder, 0755) && errno != EEXIST)
        return error_set(error, ERROR_FAILED, "can't make folder %s: %s", folder, strerror(errno));
    free(control_socket_list(folder, &ignored)); /* removes what is left at this path, too */
    fd = listen_at(address);
    return fd >= 0 ? fd
                   : error_set(error, ERROR_FAILED, "can't listen at %s: %s", address->sun_path,
                               strerror(errno));
}

struct control_socket *control_socket_open(const char *folder, struct error *error)
{
    struct control_socket *control;
    struct sockaddr_un address;
    int fd;

    if (set_address(folder, getpid(), &address, error))
        return NULL;
    fd = begin(folder, &address, error);
    if (fd < 0)
        return NULL;
    control = xcalloc(1, sizeof(*control));
    control->fd = fd;
    control->owner = getpid();
    control->address = address;
    for (size_t i = 0; i < PEERS; i++)
        control->peers[i].fd = -1;
    return control;
}

static void drop(struct control_peer *peer)
{
    close(peer->fd);
    peer->fd = -1;
}

void control_socket_close(struct control_socket *control)
{
    if (!control)
        return;
    for (size_t i = 0; i < PEERS; i++)
        if (control->peers[i].fd >= 0)
            drop(&control->peers[i]);
    close(control->fd);
    if (control->owner == getpid())
        unlink(control->address.sun_path);
    free(control);
}

/* Let a peer in at a free place, if one waits. */
static void let_in(struct control_socket *control, struct control_peer *place)
{
    struct ucred peer;

    place->fd = accept4(control->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    place->since = clock_ns(CLOCK_MONOTONIC);
    if (place->fd >= 0 && !may_talk(place->fd, &peer))
        drop(place);
}

/* Read a peer's request. False if there is none yet, or if the peer is dropped. */
static bool read_request(struct control_socket *control, struct control_peer *peer)
{
    ssize_t size = recv(peer->fd, control->request, CONTROL_SOCKET_REQUEST, MSG_TRUNC);

    if (size > 0 && size <= CONTROL_SOCKET_REQUEST) {
        control->request[size] = '\0';
        return true;
    }
    if (size >= 0 || errno != EAGAIN || clock_ns(CLOCK_MONOTONIC) - peer->since > SILENT_NS)
        drop(peer);
    return false;
}

const char *control_socket_take(struct control_socket *control)
{
    for (size_t i = 0; i < PEERS; i++) {
        struct control_peer *peer = &control->peers[i];

        if (peer->fd < 0)
            let_in(control, peer);
        if (peer->fd >= 0 && read_request(control, peer)) {
            control->asking = peer;
            return control->request;
        }
    }
    return NULL;
}

void control_socket_answer(struct control_socket *control, bool is_done, const char *text)
{
    char answer[CONTROL_SOCKET_ANSWER];
    size_t size = strlen(text);

    if (size > sizeof(answer) - 1)
        size = sizeof(answer) - 1;
    answer[0] = is_done ? DONE : FAILED;
    memcpy(answer + 1, text, size);
    (void)!send(control->asking->fd, answer, size + 1, MSG_NOSIGNAL | MSG_DONTWAIT);
    drop(control->asking);
    control->asking = NULL;
}

/* ---- who steers ---- */

/* The pid in "PID.sock"; 0 for any other name. */
static pid_t pid_of(const char *name)
{
    char *end;
    long pid = strtol(name, &end, 10);

    return name[0] >= '1' && name[0] <= '9' && !strcmp(end, ".sock") && pid <= INT32_MAX
               ? (pid_t)pid
               : 0;
}

/* Nobody accepts connections at the socket of a process that has ended. */
static bool listens(const char *folder, pid_t pid)
{
    struct sockaddr_un address;
    struct error ignored;
    int fd;

    if (set_address(folder, pid, &address, &ignored))
        return false;
    fd = connect_to(&address, SOCK_NONBLOCK);
    if (fd >= 0)
        close(fd);
    else if (errno == ECONNREFUSED)
        unlink(address.sun_path);
    return fd >= 0 || errno == EAGAIN;
}

static int ascending(const void *a, const void *b)
{
    pid_t one = *(const pid_t *)a, other = *(const pid_t *)b;

    return (one > other) - (one < other);
}

pid_t *control_socket_list(const char *folder, size_t *ret_count)
{
    DIR *directory = opendir(folder);
    const struct dirent *entry;
    pid_t *pids = NULL;
    size_t count = 0, room = 0;

    while (directory && (entry = readdir(directory))) {
        pid_t pid = pid_of(entry->d_name);

        if (!pid || !listens(folder, pid))
            continue;
        pids = xgrow(pids, &room, count, sizeof(*pids));
        pids[count++] = pid;
    }
    if (directory)
        closedir(directory);
    if (count)
        qsort(pids, count, sizeof(*pids), ascending);
    *ret_count = count;
    return pids;
}

static int ask(int fd, pid_t pid, const char *request, struct buffer *answer, struct error *error)
{
    char text[CONTROL_SOCKET_ANSWER];
    struct ucred peer;
    ssize_t size;

    if (strlen(request) > CONTROL_SOCKET_REQUEST)
        return error_set(error, ERROR_USAGE, "a request has at most %d bytes: write a shorter text",
                         CONTROL_SOCKET_REQUEST);
    if (!may_talk(fd, &peer))
        return error_set(error, ERROR_PERMISSION,
                         "the process that listens as recorder %d is of another user", (int)pid);
    if (send(fd, request, strlen(request), MSG_NOSIGNAL) < 0)
        return error_set(error, ERROR_FAILED, "can't talk to recorder %d: %s", (int)pid,
                         strerror(errno));
    size = recv(fd, text, sizeof(text), 0);
    if (size < 0 && errno == EAGAIN)
        return error_set(error, ERROR_FAILED, "recorder %d does not answer within %d s", (int)pid,
                         ASK_SECONDS);
    if (size <= 0)
        return error_set(error, ERROR_FAILED, "recorder %d ended before it answered", (int)pid);
    if (text[0] != DONE)
        return error_set(error, ERROR_FAILED, "%.*s", (int)size - 1, text + 1);
    buffer_put(answer, text + 1, (size_t)size - 1);
    return 0;
}

int control_socket_ask(const char *folder, pid_t pid, const char *request, struct buffer *answer,
                       struct error *error)
{
    struct sockaddr_un address;
    int fd, result;

    if (set_address(folder, pid, &address, error))
        return -1;
    fd = connect_to(&address, 0);
    if (fd < 0 && errno == EACCES)
        return error_set(error, ERROR_PERMISSION, "not permitted to steer recorder %d: run as root",
                         (int)pid);
    if (fd < 0 && (errno == ENOENT || errno == ECONNREFUSED))
        return error_set(error, ERROR_NO_PROCESS,
                         "process %d is no recording that can be steered; 'beamflame ctl list' "
                         "lists those that run",
                         (int)pid);
    if (fd < 0)
        return error_set(error, ERROR_FAILED, "can't talk to recorder %d: %s", (int)pid,
                         strerror(errno));
    result = ask(fd, pid, request, answer, error);
    close(fd);
    return result;
}
