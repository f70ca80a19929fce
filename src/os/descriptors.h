// SPDX-License-Identifier: Apache-2.0
/* The descriptors of this process, and the limit on them. Sampling needs two on each CPU, events
 * some on each hook. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <sys/socket.h>

#include "util/error.h"

/* Open /dev/null in place of standard input, output and error if they are closed. Else the next
 * opened file would take their place and get the program's messages. Reading and writing still
 * fail, as with a closed descriptor. */
void descriptors_fill_standard(void);

/* Raise the limit as far as this process may: to the hard limit. */
void descriptors_raise(void);

/* Check that some more descriptors can be opened. Call it before a library that reports their lack
 * as another error. Return 0, or -1 with error. */
int descriptors_check(struct error *error);

/* Close all descriptors but these. A process that shared its table has one of its own afterwards.
 * Sorts `kept`. Return 0, or -1 if there is no memory for a table: then nothing is closed. */
int descriptors_keep_only(int *kept, size_t count);

/* If the errno `code` says that there can be no more descriptors, set an error that names the limit
 * and what to do. Return false for any other code, and leave the error as it is. */
bool descriptors_ran_out(int code, struct error *error);

/* ---- messages of Unix sockets that carry a descriptor (cmsg(3)) ---- */

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

/* ---- descriptor_leave.c ---- */

/* Descriptors whose close() may wait for a file server that does not answer (os/patient_open.h). */

/* Close `fd` without waiting. This must be the only thread of the process: it gets another table of
 * descriptors. False if no process can be started; then `fd` stays open. */
bool descriptor_leave(int fd);
