// SPDX-License-Identifier: Apache-2.0
#include "os/patient_open.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "os/descriptors.h"
#include "os/patience.h"
#include "os/procfs.h"
#include "util/alloc.h"

struct opening {
    int (*open_file)(void *work);
    void (*drop)(void *work);
    void *work;
    int socket;
    bool is_open;
};

static void run_opening(void *work)
{
    struct opening *opening = work;
    int fd = opening->open_file(opening->work);

    opening->is_open = fd >= 0;
    if (fd < 0)
        return;
    descriptor_send(opening->socket, fd);
    close(fd);
}

static void drop_opening(void *work)
{
    struct opening *opening = work;

    opening->drop(opening->work);
    free(opening);
}

/* Let a process open the file. As patience_run(); *ret_socket becomes a socket with the
 * descriptor, or -1. `kept`: a descriptor that `open_file` uses; -1: none. */
static bool open_apart(int kept, int (*open_file)(void *work), void (*drop)(void *work), void *work,
                       int *ret_socket)
{
    struct opening *opening;
    bool has_ended, is_open = false;
    int sockets[2], code;

    *ret_socket = -1;
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets))
        return true; /* nothing hangs */
    opening = xcalloc(1, sizeof(*opening));
    *opening = (struct opening){open_file, drop, work, sockets[1], false};
    has_ended = patience_run_with((const int[]){sockets[1], kept}, kept >= 0 ? 2 : 1, run_opening,
                                  drop_opening, opening);
    code = errno;
    if (has_ended) {
        is_open = opening->is_open;
        free(opening);
    }
    close(sockets[1]);
    if (is_open)
        *ret_socket = sockets[0];
    else
        close(sockets[0]);
    errno = code;
    return has_ended;
}

bool patient_open_into_socket(int (*open_file)(void *work), void (*drop)(void *work), void *work,
                              int *ret_socket)
{
    return open_apart(-1, open_file, drop, work, ret_socket);
}

bool patient_open(int (*open_file)(void *work), void (*drop)(void *work), void *work, int *ret_fd)
{
    bool has_ended;
    int socket;

    if (patience_has_ended()) {
        *ret_fd = open_file(work);
        return true;
    }
    has_ended = patient_open_into_socket(open_file, drop, work, &socket);
    *ret_fd = -1;
    if (socket >= 0) {
        *ret_fd = descriptor_receive(socket);
        close(socket);
    }
    return has_ended;
}

static int open_readable(void *work)
{
    const int *path_fd = work;
    int fd = procfs_reopen(*path_fd);
    char byte;

    if (fd >= 0)
        (void)!pread(fd, &byte, sizeof(byte), 0);
    return fd;
}

int patient_open_for_reading(int fd)
{
    int *work = xcalloc(1, sizeof(*work)), socket;

    *work = fd;
    if (open_apart(fd, open_readable, free, work, &socket)) {
        free(work);
        errno = socket < 0 ? ENOENT : 0;
    }
    return socket;
}
