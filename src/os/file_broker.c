// SPDX-License-Identifier: Apache-2.0
#include "os/file_broker.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "os/descriptors.h"
#include "os/placed_file.h"
#include "util/alloc.h"

enum {
    OUTPUTS_MAX = 1 << 12 /* one for each event of each request; a hostile process asks for more */
};

enum broker_call { CALL_INPUT, CALL_TEMPORARY, CALL_OPEN, CALL_LOOK, CALL_PUBLISH, CALL_COMPLETE };

struct broker_request {
    uint32_t call;
    uint32_t id;
    char path[PATH_MAX];
};

/* Comes with a descriptor if the request is to open, and `failed` is 0. */
struct broker_reply {
    int failed;
    uint32_t id;
    struct error error;
};

/* Send `size` bytes, with `fd` unless it is -1. False if the other side has ended. */
static bool send_with(int socket, void *data, size_t size, int fd)
{
    struct iovec part = {data, size};
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
    union descriptor_room room;
    ssize_t sent;

    if (fd >= 0)
        descriptor_put(&message, &room, fd);
    do
        sent = sendmsg(socket, &message, MSG_NOSIGNAL);
    while (sent < 0 && errno == EINTR);
    return sent == (ssize_t)size;
}

/* Receive `size` bytes. *ret_fd becomes the descriptor that comes with them, or -1; NULL: none is
 * taken. False if the other side has ended, or sends anything else. */
static bool receive_with(int socket, void *data, size_t size, int *ret_fd)
{
    struct iovec part = {data, size};
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
    union descriptor_room room;
    ssize_t got;

    if (ret_fd)
        descriptor_expect(&message, &room);
    do
        got = recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
    while (got < 0 && errno == EINTR);
    if (ret_fd)
        *ret_fd = got > 0 ? descriptor_take(&message) : -1;
    return got == (ssize_t)size;
}

/* ---- the process with the rights ---- */

struct server {
    const struct file_broker *broker;
    int socket;
    struct broker_output {
        struct placed_file file;
        char *path;
    } * outputs;
    size_t count, room;
    bool complete;
};

static int open_output(struct server *server, const char *path, uint32_t *ret_id,
                       struct error *error)
{
    struct placed_file file;
    int fd;

    if (!server->broker->permits(server->broker->context, path) || server->count == OUTPUTS_MAX)
        return error_set(error, ERROR_FAILED, "can't write %.300s: it is not an output", path);
    fd = placed_file_open(&file, path, error);
    if (fd < 0) {
        placed_file_close(&file);
        return -1;
    }
    server->outputs =
        xgrow(server->outputs, &server->room, server->count, sizeof(*server->outputs));
    server->outputs[server->count++] = (struct broker_output){file, xstrdup(path)};
    *ret_id = (uint32_t)server->count;
    return fd;
}

static int publish(struct server *server, uint32_t id, struct error *error)
{
    struct broker_output *output;

    if (!id || id > server->count)
        return error_set(error, ERROR_FAILED, "there is no output %u", id);
    output = &server->outputs[id - 1];
    return placed_file_publish(&output->file, output->path, error);
}

/* Serve a request. Return the descriptor to pass, or -1; reply->failed is set. */
static int answer(struct server *server, const struct broker_request *request,
                  struct broker_reply *reply)
{
    const struct file_broker *broker = server->broker;
    int fd = -1;

    switch (request->call) {
    case CALL_INPUT:
        fd = broker->open_input(broker->context, request->path, &reply->error);
        break;
    case CALL_TEMPORARY:
        fd = broker->open_temporary
                 ? broker->open_temporary(broker->context, &reply->error)
                 : error_set(&reply->error, ERROR_FAILED, "there are no temporary files");
        break;
    case CALL_OPEN:
        fd = open_output(server, request->path, &reply->id, &reply->error);
        break;
    case CALL_LOOK:
        reply->id = broker->permits(broker->context, request->path) &&
                    placed_file_is_in_place(request->path);
        return -1;
    case CALL_PUBLISH:
        reply->failed = publish(server, request->id, &reply->error);
        return -1;
    default:
        server->complete = true;
        return -1;
    }
    reply->failed = fd < 0;
    return fd;
}

bool file_broker_serve(const struct file_broker *broker, int socket)
{
    struct server server = {.broker = broker, .socket = socket};
    struct broker_request request = {0};

    while (receive_with(socket, &request, sizeof(request), NULL)) {
        struct broker_reply reply = {0};
        bool sent;
        int fd;

        request.path[sizeof(request.path) - 1] = '\0';
        fd = answer(&server, &request, &reply);
        sent = send_with(socket, &reply, sizeof(reply), fd);
        if (fd >= 0)
            close(fd);
        if (!sent)
            break;
    }
    for (size_t i = 0; i < server.count; i++) {
        placed_file_close(&server.outputs[i].file);
        free(server.outputs[i].path);
    }
    free(server.outputs);
    return server.complete;
}

/* ---- the process without ---- */

static int asked = -1;

void file_broker_ask_through(int socket)
{
    asked = socket;
}

bool file_broker_is_asked(void)
{
    return asked >= 0;
}

/* Ask, and return the answer: 0, or -1 with error. If `ret_fd` is not NULL, the answer has a
 * descriptor too. */
static int ask(enum broker_call call, const char *path, uint32_t *id, int *ret_fd,
               struct error *error)
{
    struct broker_request request = {.call = call, .id = id ? *id : 0};
    struct broker_reply reply = {0};

    if (strlen(path) >= sizeof(request.path))
        return error_set(error, ERROR_FAILED, "can't open %.300s: %s", path,
                         strerror(ENAMETOOLONG));
    memcpy(request.path, path, strlen(path));
    if (!send_with(asked, &request, sizeof(request), -1) ||
        !receive_with(asked, &reply, sizeof(reply), ret_fd))
        return error_set(error, ERROR_FAILED, "can't open %.300s: the other process is gone", path);
    if (reply.failed) {
        *error = reply.error;
        return -1;
    }
    if (id)
        *id = reply.id;
    return ret_fd && *ret_fd < 0
               ? error_set(error, ERROR_FAILED, "can't open %.300s: %s", path, strerror(EMFILE))
               : 0;
}

int file_broker_input(const char *path, struct error *error)
{
    int fd = -1;

    return ask(CALL_INPUT, path, NULL, &fd, error) ? -1 : fd;
}

int file_broker_temporary(struct error *error)
{
    int fd = -1;

    return ask(CALL_TEMPORARY, "", NULL, &fd, error) ? -1 : fd;
}

int file_broker_open(const char *path, uint32_t *ret_id, struct error *error)
{
    uint32_t id = 0;
    int fd = -1;

    if (ask(CALL_OPEN, path, &id, &fd, error))
        return -1;
    *ret_id = id;
    return fd;
}

bool file_broker_is_in_place(const char *path)
{
    uint32_t is_in_place = 0;
    struct error ignored;

    return !ask(CALL_LOOK, path, &is_in_place, NULL, &ignored) && is_in_place;
}

int file_broker_publish(uint32_t id, struct error *error)
{
    return ask(CALL_PUBLISH, "", &id, NULL, error);
}

void file_broker_complete(void)
{
    struct error ignored;

    ask(CALL_COMPLETE, "", NULL, NULL, &ignored);
}
