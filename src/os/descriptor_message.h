// SPDX-License-Identifier: Apache-2.0
/* Messages of Unix sockets that carry a descriptor (cmsg(3)). */
#pragma once

#include <sys/socket.h>

/* Room for one descriptor. */
union descriptor_room {
    struct cmsghdr header;
    char bytes[CMSG_SPACE(sizeof(int))];
};

/* Let a message carry `fd`. It uses `room` until it is sent. */
void descriptor_put(struct msghdr *message, union descriptor_room *room, int fd);

/* Make `room` for a descriptor in a message that is to be received. */
void descriptor_expect(struct msghdr *message, union descriptor_room *room);

/* Return the descriptor that a received message carried; -1 if it carried none. */
int descriptor_take(struct msghdr *message);

/* Send a message of one byte that carries `fd`. */
void descriptor_send(int socket, int fd);

/* Return the descriptor of such a message that has been sent to `socket`; -1 if there is none. */
int descriptor_receive(int socket);
