// SPDX-License-Identifier: Apache-2.0
#include "os/descriptor_message.h"

#include <string.h>

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
