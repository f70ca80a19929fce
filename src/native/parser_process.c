// SPDX-License-Identifier: Apache-2.0
#include "native/parser.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/uio.h>
#include <unistd.h>

#include "elf/service.h"
#include "os/call_filter.h"
#include "os/capabilities.h"
#include "os/child.h"
#include "os/descriptors.h"
#include "os/own_limits.h"
#include "util/log.h"

enum {
    MEMORY_MAX = 256 << 20, /* beyond what this process had when it was started */
    FILES_MAX = 1100,       /* descriptors: LARGEST_FILE_COUNT files, and some for a moment */
    SOCKET = 3,
};

bool parser_process_send(int socket, const struct elf_request *request, const char *text, int file)
{
    struct elf_request sent = *request;
    struct iovec parts[] = {{&sent, sizeof(sent)}, {(char *)text, request->text_bytes}};
    union descriptor_room room;
    struct msghdr message = {.msg_iov = parts, .msg_iovlen = 2};
    ssize_t size;

    sent.has_descriptor = file >= 0;
    if (file >= 0)
        descriptor_put(&message, &room, file);
    do
        size = sendmsg(socket, &message, MSG_NOSIGNAL);
    while (size < 0 && errno == EINTR);
    return size == (ssize_t)(sizeof(sent) + request->text_bytes);
}

/* ---- what the parser says ---- */

static char said[PARSER_LOG_MAX];
static size_t said_bytes;

/* A log_sink. The other side says the lines with its own area. */
static void note_line(const char *area, const char *line)
{
    size_t size = strlen(line) + 1;

    (void)area;
    if (size > sizeof(said) - said_bytes)
        return;
    memcpy(said + said_bytes, line, size - 1);
    said[said_bytes + size - 1] = '\n';
    said_bytes += size;
}

static void listen_to_log(void)
{
    log_listen(log_wants(LOG_DETAIL)     ? LOG_DETAIL
               : log_wants(LOG_DECISION) ? LOG_DECISION
                                         : LOG_OFF,
               note_line);
}

/* ---- requests ---- */

struct received {
    struct elf_request request;
    char text[ELF_TEXT_MAX + 1];
    int fd;
};

/* Take the descriptor that comes in a socket (parser_process_send()); -1 if there is none. */
static int take_file(int socket)
{
    int fd = descriptor_receive(socket);

    close(socket);
    return fd;
}

static bool receive(struct received *received)
{
    struct iovec parts[] = {{&received->request, sizeof(received->request)},
                            {received->text, ELF_TEXT_MAX}};
    struct msghdr message = {.msg_iov = parts, .msg_iovlen = 2};
    union descriptor_room room;
    ssize_t size;

    descriptor_expect(&message, &room);
    do
        size = recvmsg(SOCKET, &message, MSG_CMSG_CLOEXEC);
    while (size < 0 && errno == EINTR);
    received->fd = size < 0 ? -1 : descriptor_take(&message);
    if (received->fd >= 0)
        received->fd = take_file(received->fd);
    return size >= (ssize_t)sizeof(received->request) &&
           (size_t)size == sizeof(received->request) + received->request.text_bytes &&
           (received->fd >= 0 || !received->request.has_descriptor);
}

static bool reply(const struct buffer *answer)
{
    struct parser_answer header = {(uint32_t)answer->size, (uint32_t)said_bytes};
    struct iovec parts[] = {
        {&header, sizeof(header)}, {answer->data, answer->size}, {said, said_bytes}};
    struct msghdr message = {.msg_iov = parts, .msg_iovlen = 3};
    ssize_t size;

    do
        size = sendmsg(SOCKET, &message, MSG_NOSIGNAL);
    while (size < 0 && errno == EINTR);
    said_bytes = 0;
    return size > 0;
}

static void serve(void)
{
    static struct received received;
    struct elf_service *service = elf_service_new();
    struct buffer answer = {0};

    do {
        if (!receive(&received))
            return;
        answer.size = 0;
        elf_service_answer(service, &received.request, received.text, received.fd, &answer);
    } while (answer.size <= ELF_ANSWER_MAX && reply(&answer));
}

/* ---- rights ---- */

/* Keep only the socket, as descriptor SOCKET. */
static void begin(int socket)
{
    int kept[] = {SOCKET, STDERR_FILENO};
    sigset_t none;

    if (socket != SOCKET)
        dup2(socket, SOCKET);
    /* The sanitizers report on stderr. The other side closes the socket when signals end it. */
    child_begin("beamflame-elf", kept, CALL_FILTER_IS_MISSING ? 2 : 1);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
}

static bool give_up_rights(void)
{
    uint64_t memory = own_limits_memory(OWN_DATA) + MEMORY_MAX;

    own_limits_set(RLIMIT_NOFILE, FILES_MAX);
    own_limits_set(RLIMIT_CORE, 0);
    if (!CALL_FILTER_IS_MISSING)
        own_limits_set(RLIMIT_DATA, memory);
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && prctl(PR_SET_DUMPABLE, 0) == 0 &&
           capabilities_keep(0) == 0 && call_filter_parse_only() == 0;
}

noreturn void parser_process_run(int socket)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    begin(socket);
    listen_to_log();
    if (give_up_rights())
        serve();
    _exit(0);
}
