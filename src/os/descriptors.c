// SPDX-License-Identifier: Apache-2.0
#include "os/descriptors.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <unistd.h>

#include "util/log.h"

void descriptors_fill_standard(void)
{
    /* open() takes the lowest number that is free: the one that was looked at. */
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
        if (fcntl(fd, F_GETFD) < 0)
            (void)!open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY);
}

void descriptors_raise(void)
{
    struct rlimit limit;
    rlim_t before;

    if (getrlimit(RLIMIT_NOFILE, &limit) || limit.rlim_cur == limit.rlim_max)
        return;
    before = limit.rlim_cur;
    limit.rlim_cur = limit.rlim_max;
    if (setrlimit(RLIMIT_NOFILE, &limit) == 0)
        log_decision("limits", "there can be %llu descriptors instead of %llu",
                     (unsigned long long)limit.rlim_max, (unsigned long long)before);
}

int descriptors_check(struct error *error)
{
    enum { SOME = 8 };
    int opened[SOME], count = 0, code = 0;

    while (count < SOME && !code) {
        opened[count] = eventfd(0, EFD_CLOEXEC);
        if (opened[count] < 0)
            code = errno;
        else
            count++;
    }
    while (count)
        close(opened[--count]);
    return descriptors_ran_out(code, error) ? -1 : 0;
}

static int by_number(const void *a, const void *b)
{
    const int *x = a, *y = b;

    return (*x > *y) - (*x < *y);
}

/* The kernel does not copy what the first call closes (dup_fd() in fs/file.c v6.18). A program that
 * records many VMs has thousands of descriptors; those that are kept were opened last, so they have
 * the lowest free numbers. */
int descriptors_keep_only(int *kept, size_t count)
{
    unsigned int end = UINT_MAX;

    qsort(kept, count, sizeof(*kept), by_number);
    for (size_t i = count; i > 0; i--) {
        unsigned int fd = (unsigned int)kept[i - 1];

        if (fd < end && close_range(fd + 1, end, CLOSE_RANGE_UNSHARE))
            return -1;
        if (fd == 0)
            return 0;
        end = fd - 1;
    }
    return close_range(0, end, CLOSE_RANGE_UNSHARE);
}

bool descriptors_ran_out(int code, struct error *error)
{
    struct rlimit limit = {0};

    if (code == ENFILE) {
        error_set(error, ERROR_FAILED,
                  "this host has too many open files: raise the sysctl fs.file-max");
        return true;
    }
    if (code != EMFILE)
        return false;
    getrlimit(RLIMIT_NOFILE, &limit);
    error_set(error, ERROR_FAILED,
              "%llu open files are too few for the CPUs and hooks of this recording: raise the "
              "hard limit (ulimit -Hn, in a service LimitNOFILE=), or record fewer events",
              (unsigned long long)limit.rlim_cur);
    return true;
}

void descriptor_expect(struct msghdr *message, union descriptor_room *room)
{
    message->msg_control = room->bytes;
    message->msg_controllen = sizeof(room->bytes);
}

void descriptor_put(struct msghdr *message, union descriptor_room *room, int fd)
{
    *room = (union descriptor_room){.header = {.cmsg_len = CMSG_LEN(sizeof(fd)),
                                               .cmsg_level = SOL_SOCKET,
                                               .cmsg_type = SCM_RIGHTS}};
    memcpy(CMSG_DATA(&room->header), &fd, sizeof(fd));
    descriptor_expect(message, room);
}

int descriptor_take(struct msghdr *message)
{
    const struct cmsghdr *header = CMSG_FIRSTHDR(message);
    int fd = -1;

    if (header && header->cmsg_level == SOL_SOCKET && header->cmsg_type == SCM_RIGHTS)
        memcpy(&fd, CMSG_DATA(header), sizeof(fd));
    return fd;
}

void descriptor_send(int socket, int fd)
{
    char byte = 0;
    struct iovec part = {&byte, sizeof(byte)};
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
    union descriptor_room room;

    descriptor_put(&message, &room, fd);
    sendmsg(socket, &message, MSG_NOSIGNAL);
}

int descriptor_receive(int socket)
{
    char byte;
    struct iovec part = {&byte, sizeof(byte)};
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
    union descriptor_room room;

    descriptor_expect(&message, &room);
    if (recvmsg(socket, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC) <= 0)
        return -1;
    return descriptor_take(&message);
}
