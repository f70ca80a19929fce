// SPDX-License-Identifier: Apache-2.0
#include "os/patient_file.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <stdnoreturn.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include "os/call_filter.h"
#include "os/capabilities.h"
#include "os/child.h"
#include "os/descriptors.h"
#include "os/local_disk.h"
#include "os/patient_open.h"
#include "os/thread_wait.h"
#include "util/alloc.h"
#include "util/files.h"

enum {
    BLOCK = 1 << 16,
    SLICE_MS = 100,
    HANGING_LOOKS = 10, /* 1 s */
};

struct patient_file {
    int fd; /* -1: a process reads */
    struct stat status;
    pid_t child;
    int socket;
    bool is_silent;
};

struct request {
    uint64_t offset, size; /* of size 0: for the descriptor itself */
};

struct answer {
    int64_t size; /* what follows; -1: an error */
    int64_t code; /* errno */
};

/* ---- the process that reads ---- */

static int answer_with_block(int socket, int fd, const struct request *request)
{
    static char block[BLOCK];
    size_t size = request->size < sizeof(block) ? request->size : sizeof(block);
    ssize_t got = pread(fd, block, size, (off_t)request->offset);
    struct answer answer = {got, got < 0 ? errno : 0};
    struct iovec parts[] = {{&answer, sizeof(answer)}, {block, got < 0 ? 0 : (size_t)got}};
    struct msghdr message = {.msg_iov = parts, .msg_iovlen = 2};

    return sendmsg(socket, &message, MSG_NOSIGNAL) < 0 ? -1 : 0;
}

static void serve(int socket, int fd)
{
    struct request request;

    while (read(socket, &request, sizeof(request)) == (ssize_t)sizeof(request)) {
        if (!request.size)
            descriptor_send(socket, fd);
        else if (answer_with_block(socket, fd, &request))
            return;
    }
}

static bool give_up_rights(void)
{
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && prctl(PR_SET_DUMPABLE, 0) == 0 &&
           setrlimit(RLIMIT_CORE, &(struct rlimit){0}) == 0 && capabilities_keep(0) == 0 &&
           call_filter_parse_only() == 0;
}

static noreturn void run(int socket, int fd)
{
    int kept[] = {socket, fd};

    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (fd < 0)
        _exit(1);
    child_begin("beamflame-read", kept, 2);
    if (give_up_rights())
        serve(socket, fd);
    _exit(0);
}

/* Let a process read the file of `fd`, or the one whose descriptor is in the socket `source`. -1
 * with errno. */
static int start(struct patient_file *file, int fd, int source)
{
    int sockets[2];

    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets))
        return -1;
    file->child = fork();
    if (file->child == 0)
        run(sockets[1], fd < 0 ? descriptor_receive(source) : fd);
    close(sockets[1]);
    file->socket = sockets[0];
    return file->child < 0 ? -1 : 0;
}

static void end(struct patient_file *file)
{
    if (file->socket >= 0)
        close(file->socket);
    if (file->child > 0 && kill(file->child, SIGKILL) == 0)
        child_await(file->child);
    file->child = 0;
    file->socket = -1;
}

/* ---- opening ---- */

struct input_opening {
    char *path;
    bool pipes;
    /* of the process that opens */
    struct stat status;
    bool is_local, is_refused;
    int code; /* errno */
};

static void drop_opening(void *work)
{
    struct input_opening *opening = work;

    free(opening->path);
    free(opening);
}

/* A folder is readable, too: reading it has its own error. */
static bool is_input(mode_t mode, bool pipes)
{
    return S_ISREG(mode) || S_ISDIR(mode) || (pipes && S_ISFIFO(mode));
}

static int open_named(void *work)
{
    struct input_opening *opening = work;
    int fd = -1;

    if (stat(opening->path, &opening->status) == 0) {
        opening->is_refused = !is_input(opening->status.st_mode, opening->pipes);
        if (!opening->is_refused)
            fd = open(opening->path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    }
    if (!opening->is_refused && (fd < 0 || fstat(fd, &opening->status)))
        opening->code = errno;
    else if (fd >= 0 && is_input(opening->status.st_mode, opening->pipes)) {
        opening->is_local = S_ISFIFO(opening->status.st_mode) || local_disk_has(fd);
        return fd;
    } else
        opening->is_refused = true; /* perhaps it was replaced meanwhile */
    if (fd >= 0)
        close(fd);
    return -1;
}

/* True for the path of a descriptor of this process: the process that opens files has another file
 * there. */
static bool is_own_descriptor(const char *path)
{
    static const char *const names[] = {"/dev/fd/", "/dev/stdin", "/proc/self/fd/"};

    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
        if (!strncmp(path, names[i], strlen(names[i])))
            return true;
    return false;
}

static int cannot_read(const char *path, const char *why, struct error *error)
{
    return error_set(error, ERROR_FAILED, "can't read '%s': %s", path, why);
}

static int refuse(const struct input_opening *opening, struct error *error)
{
    if (!opening->is_refused)
        return cannot_read(opening->path, strerror(opening->code), error);
    return error_set(error, ERROR_FAILED, "'%s' is not a regular file%s", opening->path,
                     opening->pipes ? " or a pipe" : "");
}

/* Take the file that is open, as a descriptor or in a socket. -1 with error. */
static int take(struct patient_file *file, const struct input_opening *opening, int fd, int socket,
                struct error *error)
{
    file->status = opening->status;
    if (fd < 0 && socket < 0)
        return refuse(opening, error);
    file->fd = fd;
    if (fd < 0 && opening->is_local)
        file->fd = descriptor_receive(socket);
    if (file->fd < 0 && (opening->is_local || start(file, -1, socket)))
        return cannot_read(opening->path, strerror(errno), error);
    return 0;
}

struct patient_file *patient_file_open(const char *path, bool pipes, struct error *error)
{
    struct patient_file *file = xcalloc(1, sizeof(*file));
    struct input_opening *opening = xcalloc(1, sizeof(*opening));
    bool is_open = true;
    int fd = -1, socket = -1, result;

    *file = (struct patient_file){.fd = -1, .socket = -1};
    *opening = (struct input_opening){.path = xstrdup(path), .pipes = pipes};
    if (is_own_descriptor(path))
        fd = open_named(opening);
    else
        is_open = patient_open_into_socket(open_named, drop_opening, opening, &socket);
    result = is_open ? take(file, opening, fd, socket, error)
                     : cannot_read(path, patient_file_problem(errno), error);
    if (is_open)
        drop_opening(opening);
    if (socket >= 0)
        close(socket);
    if (!result)
        return file;
    patient_file_close(file);
    return NULL;
}

struct patient_file *patient_file_of(int fd)
{
    struct patient_file *file = xcalloc(1, sizeof(*file));

    *file = (struct patient_file){.fd = -1, .socket = -1};
    if (!start(file, fd, -1))
        return file;
    patient_file_close(file);
    return NULL;
}

int patient_file_descriptor(struct patient_file *file)
{
    struct request request = {0};
    struct pollfd waiting = {.fd = file->socket, .events = POLLIN};

    if (write(file->socket, &request, sizeof(request)) < 0 ||
        poll(&waiting, 1, SLICE_MS * HANGING_LOOKS) <= 0)
        return -1;
    return descriptor_receive(file->socket);
}

void patient_file_close(struct patient_file *file)
{
    if (!file)
        return;
    if (file->fd >= 0)
        close(file->fd);
    end(file);
    free(file);
}

const struct stat *patient_file_status(const struct patient_file *file)
{
    return &file->status;
}

int patient_file_take(struct patient_file *file)
{
    int fd = file->fd;

    file->fd = -1;
    return fd;
}

/* ---- reading ---- */

/* Wait for the answer. False if the process hangs in one wait: for the server. */
static bool wait_for_answer(const struct patient_file *file)
{
    struct pollfd waiting = {.fd = file->socket, .events = POLLIN};
    struct thread_wait wait = {0};

    while (poll(&waiting, 1, SLICE_MS) <= 0)
        if (thread_wait_look(&wait, file->child) >= HANGING_LOOKS)
            return false;
    return true;
}

/* Let the process read a block at most. Return its size, or -1 with errno. */
static ssize_t read_block(struct patient_file *file, uint64_t offset, void *buffer, size_t size)
{
    struct request request = {offset, size < BLOCK ? size : BLOCK};
    struct answer answer = {-1, EIO};
    struct iovec asked = {&request, sizeof(request)};
    struct iovec parts[] = {{&answer, sizeof(answer)}, {buffer, request.size}};
    struct msghdr question = {.msg_iov = &asked, .msg_iovlen = 1};
    struct msghdr message = {.msg_iov = parts, .msg_iovlen = 2};
    ssize_t got = -1;

    errno = EBUSY;
    if (file->socket < 0)
        return -1;
    if (sendmsg(file->socket, &question, MSG_NOSIGNAL) > 0) {
        if (!wait_for_answer(file)) {
            end(file);
            file->is_silent = true;
            errno = EBUSY;
            return -1;
        }
        got = recvmsg(file->socket, &message, 0);
    }
    if (got < (ssize_t)sizeof(answer) ||
        (answer.size >= 0 && (size_t)got != sizeof(answer) + (size_t)answer.size))
        answer = (struct answer){-1, EIO};
    errno = answer.size < 0 ? (int)answer.code : 0;
    return answer.size;
}

size_t patient_file_read(struct patient_file *file, uint64_t offset, void *buffer, size_t size)
{
    size_t done = 0;

    errno = 0;
    if (file->fd >= 0)
        return files_read_at(file->fd, offset, buffer, size);
    while (done < size) {
        ssize_t got = read_block(file, offset + done, (char *)buffer + done, size - done);

        if (got <= 0)
            break;
        done += (size_t)got;
    }
    return done;
}

bool patient_file_is_silent(const struct patient_file *file)
{
    return file->is_silent;
}

const char *patient_file_problem(int code)
{
    if (code == EBUSY)
        return "its file server does not answer";
    return code == EAGAIN ? "no process can be started: " CHILD_ADVICE : strerror(code);
}
