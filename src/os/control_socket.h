// SPDX-License-Identifier: Apache-2.0
/*
 * The socket by which `beamflame ctl` steers a recording: FOLDER/PID.sock, PID being that of the
 * recorder. Only root and the recorder's own user may talk.
 *
 * A connection has one request and one answer, each one packet of text. The recorder waits for no
 * peer: one that sends nothing is dropped after a second, and an answer that nobody reads is lost.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "util/buffer.h"
#include "util/error.h"

#define CONTROL_SOCKET_FOLDER "/run/beamflame"

enum {
    CONTROL_SOCKET_REQUEST = 512,  /* bytes that a request may have */
    CONTROL_SOCKET_ANSWER = 8192,  /* bytes that an answer may have; the rest is cut off */
    CONTROL_SOCKET_COMMAND = 2048, /* of a command line in JSON, where a byte can take two */
};

/* ---- the recorder ---- */

struct control_socket;

/* Make the folder if it is missing, and listen. Sockets of processes that have ended are removed.
 * Call it before a filter refuses sockets. NULL with error. */
struct control_socket *control_socket_open(const char *folder, struct error *error);

/* Remove the socket. A request that was not answered gets no answer. */
void control_socket_close(struct control_socket *control);

/* Return the next request, which control_socket_answer() must answer; NULL if there is none now.
 * Never waits. It is valid until the answer. */
const char *control_socket_take(struct control_socket *control);

/* Answer the request that was taken. `is_done`: it succeeded; else `text` says why it failed. */
void control_socket_answer(struct control_socket *control, bool is_done, const char *text);

/* ---- who steers ---- */

/* Return the pids of the recorders that listen in the folder, ascending, to be freed. Sockets of
 * those that have ended are removed. */
pid_t *control_socket_list(const char *folder, size_t *ret_count);

/* Send a request to a recorder, and append its answer. -1 with error, also if the recorder refuses
 * the request. */
int control_socket_ask(const char *folder, pid_t pid, const char *request, struct buffer *answer,
                       struct error *error);
