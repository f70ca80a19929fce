// SPDX-License-Identifier: Apache-2.0
#include "os/parser_process.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include "elf/service.h"
#include "os/call_filter.h"
#include "os/capabilities.h"
#include "os/kernel_settings.h"
#include "util/log.h"

enum {
    MEMORY_MAX = 256 << 20, /* beyond what this process had when it was started */
    FILES_MAX = 1100, /* descriptors: LARGEST_FILE_COUNT files, and what is open for a moment */
    SOCKET = 3,
};

/* Room for one descriptor (cmsg(3)). */
union control {
    struct cmsghdr header;
    char bytes[CMSG_SPACE(sizeof(int))];
};

bool parser_send(int socket, const struct elf_request *request, const char *text, int fd)
{
    struct elf_request sent = *request;
    struct iovec parts[] = {{&sent, sizeof(sent)}, {(char *)text, request->text_bytes}};
    union control control = {.header = {.cmsg_len = CMSG_LEN(sizeof(int)),
                                        .cmsg_level = SOL_SOCKET,
                                        .cmsg_type = SCM_RIGHTS}};
    struct msghdr message = {.msg_iov = parts, .msg_iovlen = 2};
    ssize_t size;

    sent.has_descriptor = fd >= 0;
    if (fd >= 0) {
        memcpy(CMSG_DATA(&control.header), &fd, sizeof(fd));
        message.msg_control = control.bytes;
        message.msg_controllen = sizeof(control.bytes);
    }
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

static bool receive(struct received *received)
{
    struct iovec parts[] = {{&received->request, sizeof(received->request)},
                            {received->text, ELF_TEXT_MAX}};
    union control control;
    struct msghdr message = {.msg_iov = parts,
                             .msg_iovlen = 2,
                             .msg_control = control.bytes,
                             .msg_controllen = sizeof(control.bytes)};
    const struct cmsghdr *header;
    ssize_t size;

    do
        size = recvmsg(SOCKET, &message, MSG_CMSG_CLOEXEC);
    while (size < 0 && errno == EINTR);
    received->fd = -1;
    header = CMSG_FIRSTHDR(&message);
    if (header && header->cmsg_type == SCM_RIGHTS)
        memcpy(&received->fd, CMSG_DATA(header), sizeof(received->fd));
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

/* Bytes of private memory that this process has (proc_pid_statm(5): the 6th number, in pages). */
static uint64_t memory_now(void)
{
    char text[128] = "", *at = text;
    unsigned long pages = 0;
    int fd = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);

    if (fd >= 0 && read(fd, text, sizeof(text) - 1) > 0)
        for (int i = 0; i < 6; i++)
            pages = strtoul(at, &at, 10);
    if (fd >= 0)
        close(fd);
    return pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

static void limit(int resource, uint64_t value)
{
    setrlimit(resource, &(struct rlimit){value, value});
}

/* Signals of the terminal and the user are for the other side, which then closes the socket. */
static void ignore_signals(void)
{
    const int ignored[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTSTP, SIGPIPE, SIGUSR1, SIGUSR2};
    sigset_t none;

    for (size_t i = 0; i < sizeof(ignored) / sizeof(ignored[0]); i++)
        signal(ignored[i], SIG_IGN);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
}

/* Close all descriptors that fork() has copied, except the socket. */
static void keep_only(int socket)
{
    if (socket != SOCKET)
        dup2(socket, SOCKET);
    for (int fd = 0; fd < SOCKET; fd++)
        if (!CALL_FILTER_IS_MISSING || fd != STDERR_FILENO) /* the sanitizers report there */
            close(fd);
    close_range(SOCKET + 1, UINT_MAX, 0);
}

static bool give_up_rights(void)
{
    uint64_t memory = memory_now() + MEMORY_MAX;

    limit(RLIMIT_NOFILE, FILES_MAX);
    limit(RLIMIT_CORE, 0);
    if (!CALL_FILTER_IS_MISSING)
        limit(RLIMIT_DATA, memory);
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && prctl(PR_SET_DUMPABLE, 0) == 0 &&
           capabilities_keep(0) == 0 && call_filter_parse_only() == 0;
}

noreturn void parser_process_run(int socket)
{
    ignore_signals();
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    prctl(PR_SET_NAME, "beamflame-elf");
    keep_only(socket);
    listen_to_log();
    if (give_up_rights())
        serve();
    _exit(0);
}
