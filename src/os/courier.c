// SPDX-License-Identifier: Apache-2.0
#include "os/courier.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <stdnoreturn.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "os/child.h"
#include "os/descriptors.h"
#include "os/local_disk.h"
#include "os/patience.h"
#include "os/patient_file.h"
#include "os/placed_file.h"
#include "os/privileges.h"
#include "os/process.h"
#include "os/thread_wait.h"
#include "util/alloc.h"
#include "util/file_place.h"
#include "util/files.h"
#include "util/log.h"

enum {
    BLOCK = 1 << 16,
    SLICE_MS = 100,
    HANGING_LOOKS = 10, /* 1 s */
};

enum parcel_call { CALL_CHECK, CALL_FIND, CALL_DELIVER, CALL_RUN };

/* CALL_DELIVER comes with a descriptor. */
struct parcel {
    enum parcel_call call;
    void (*run)(void *context);
    void *context;
    char path[PATH_MAX];
};

struct receipt {
    int failed;
    bool in_place, found;
    struct error error;
};

enum folder_kind { FOLDER_LOCAL, FOLDER_REMOTE, FOLDER_SILENT };

struct left_process {
    pid_t pid; /* 0: none */
    struct process_identity identity;
};

/* The process, and the known folders. */
static struct {
    pid_t pid; /* 0: not started, or left behind */
    struct process_identity identity;
    int socket;
    int status; /* /proc/PID/status of the process */
    /* The newest process that was left behind. This program and its children share the memory:
     * while that process hangs, the server is silent, and none of them starts another. */
    struct left_process *left;
    struct known_folder {
        char *path;
        enum folder_kind kind;
    } * folders;
    size_t count, room;
    bool is_here; /* this is the process */
} courier = {.socket = -1, .status = -1};

static int cannot_write(const char *path, int code, struct error *error)
{
    return error_set(error, ERROR_FAILED, "can't write %.300s: %s", path,
                     patient_file_problem(code));
}

/* ---- the process ---- */

static bool main_process_is_gone(int socket)
{
    struct pollfd look = {.fd = socket};

    return poll(&look, 1, 0) > 0 && look.revents & (POLLHUP | POLLERR);
}

/* Return 0, or -1 with errno. */
static int copy(int from, int to, int socket)
{
    static char block[BLOCK];
    uint64_t at = 0;
    size_t got;

    while (errno = 0, (got = files_read_at(from, at, block, sizeof(block))) > 0) {
        if (main_process_is_gone(socket)) {
            errno = EINTR;
            return -1;
        }
        if (files_write_all(to, block, got))
            return -1;
        at += got;
    }
    return errno ? -1 : 0;
}

static int deliver(const char *path, int from, int socket, struct error *error)
{
    struct placed_file file;
    int to = placed_file_open(&file, path, error), failed = to < 0 ? -1 : 0;

    if (to >= 0) {
        failed = copy(from, to, socket) ? cannot_write(path, errno, error) : 0;
        if (close(to) && !failed)
            failed = cannot_write(path, errno, error);
    }
    /* The process that has left this one behind has reported that the output failed. */
    if (!failed && main_process_is_gone(socket))
        failed = cannot_write(path, EINTR, error);
    if (!failed)
        failed = placed_file_publish(&file, path, error);
    placed_file_close(&file);
    return failed;
}

/* True if the folder has the name, also of a link. */
static bool find(const char *path)
{
    const char *slash = strrchr(path, '/');
    char *refused = NULL;
    struct stat status;
    int folder = file_place_folder(path, &refused);
    bool found =
        folder >= 0 && fstatat(folder, slash ? slash + 1 : path, &status, AT_SYMLINK_NOFOLLOW) == 0;

    free(refused);
    if (folder >= 0)
        close(folder);
    return found;
}

/* `fd`: of the contents, or -1. */
static struct receipt handle(const struct parcel *parcel, int fd, int socket)
{
    struct receipt receipt = {0};

    switch (parcel->call) {
    case CALL_CHECK:
        receipt.failed = placed_file_check(parcel->path, &receipt.in_place, &receipt.error);
        break;
    case CALL_FIND:
        receipt.found = find(parcel->path);
        break;
    case CALL_DELIVER:
        receipt.failed = deliver(parcel->path, fd, socket, &receipt.error);
        break;
    case CALL_RUN:
        parcel->run(parcel->context);
        break;
    }
    return receipt;
}

static void serve(int socket)
{
    static struct parcel parcel;
    struct iovec part = {&parcel, sizeof(parcel)};

    for (;;) {
        struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
        struct receipt receipt;
        union descriptor_room room;
        int fd;

        descriptor_expect(&message, &room);
        if (recvmsg(socket, &message, MSG_CMSG_CLOEXEC) != (ssize_t)sizeof(parcel))
            return;
        fd = descriptor_take(&message);
        receipt = handle(&parcel, fd, socket);
        if (fd >= 0)
            close(fd);
        if (write(socket, &receipt, sizeof(receipt)) < 0)
            return;
    }
}

static noreturn void run_process(int socket)
{
    int kept[] = {socket};

    child_begin("beamflame-put", kept, 1);
    log_listen(LOG_OFF, NULL); /* its file is closed */
    courier.is_here = true;
    privileges_render(NULL);
    serve(socket);
    _exit(0);
}

/* ---- the program ---- */

static struct left_process *shared_memory(void)
{
    struct left_process *left =
        mmap(NULL, sizeof(*left), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

    return left == MAP_FAILED ? NULL : left;
}

static bool another_hangs(void)
{
    return courier.left && courier.left->pid &&
           process_runs(courier.left->pid, &courier.left->identity);
}

static int start(void)
{
    char status[32];
    int sockets[2];

    if (courier.pid)
        return 0;
    if (!courier.left && !(courier.left = shared_memory()))
        return -1;
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets))
        return -1;
    courier.pid = fork();
    if (courier.pid == 0)
        run_process(sockets[1]);
    close(sockets[1]);
    courier.socket = sockets[0];
    if (courier.pid < 0) {
        courier.pid = 0;
        return -1;
    }
    /* Later this program may open nothing in /proc. */
    courier.identity = process_identity(courier.pid);
    snprintf(status, sizeof(status), "/proc/%d/status", (int)courier.pid);
    courier.status = open(status, O_RDONLY | O_CLOEXEC);
    return 0;
}

static void close_process(void)
{
    if (courier.socket >= 0)
        close(courier.socket);
    if (courier.status >= 0)
        close(courier.status);
    courier.pid = 0;
    courier.socket = courier.status = -1;
}

/* The process hangs: it ends when the server answers. */
static void leave(void)
{
    kill(courier.pid, SIGKILL);
    *courier.left = (struct left_process){courier.pid, courier.identity};
    close_process();
    for (size_t i = 0; i < courier.count; i++)
        if (courier.folders[i].kind == FOLDER_REMOTE)
            courier.folders[i].kind = FOLDER_SILENT;
}

/* Wait for the answer. False if the process hangs in one wait: for the server. */
static bool wait_for_answer(void)
{
    struct pollfd waiting = {.fd = courier.socket, .events = POLLIN};
    struct thread_wait wait = {0};

    while (poll(&waiting, 1, SLICE_MS) <= 0)
        if (thread_wait_look_at(&wait, courier.pid, courier.status) >= HANGING_LOOKS)
            return false;
    return true;
}

/* Let the process do what the parcel says with the file `path`. `fd`: of the contents, or -1. The
 * parcel is reused. */
static int ask(struct parcel *parcel, const char *path, int fd, struct receipt *ret_receipt,
               struct error *error)
{
    struct iovec part = {parcel, sizeof(*parcel)};
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
    struct receipt receipt = {.failed = -1};
    union descriptor_room room;

    if (strlen(path) >= sizeof(parcel->path))
        return cannot_write(path, ENAMETOOLONG, error);
    memcpy(parcel->path, path, strlen(path) + 1);
    if (fd >= 0)
        descriptor_put(&message, &room, fd);
    if (!courier.pid)
        return cannot_write(path, EBUSY, error);
    if (sendmsg(courier.socket, &message, MSG_NOSIGNAL) < 0)
        return cannot_write(path, errno, error);
    if (!wait_for_answer()) {
        leave();
        return cannot_write(path, EBUSY, error);
    }
    if (read(courier.socket, &receipt, sizeof(receipt)) != (ssize_t)sizeof(receipt))
        return cannot_write(path, EPIPE, error);
    *ret_receipt = receipt;
    if (receipt.failed)
        *error = receipt.error;
    return receipt.failed;
}

int courier_check(const char *path, bool *ret_in_place, struct error *error)
{
    struct parcel parcel = {.call = CALL_CHECK};
    struct receipt receipt = {0};
    int failed = ask(&parcel, path, -1, &receipt, error);

    *ret_in_place = receipt.in_place;
    return failed;
}

bool courier_finds(const char *path)
{
    struct parcel parcel = {.call = CALL_FIND};
    struct receipt receipt = {0};
    struct error ignored;

    return ask(&parcel, path, -1, &receipt, &ignored) == 0 && receipt.found;
}

int courier_deliver(const char *path, int fd, struct error *error)
{
    struct parcel parcel = {.call = CALL_DELIVER};
    struct receipt ignored;

    return ask(&parcel, path, fd, &ignored, error);
}

int courier_run(void (*run)(void *context), void *context, const char *path, struct error *error)
{
    struct parcel parcel = {.call = CALL_RUN, .run = run, .context = context};
    struct receipt ignored;

    return ask(&parcel, path, -1, &ignored, error);
}

int courier_local_file(void)
{
    const char *const folders[] = {getenv("TMPDIR"), "/var/tmp", "/tmp"};

    for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]); i++) {
        int fd = folders[i] ? open(folders[i], O_TMPFILE | O_RDWR | O_CLOEXEC, 0600) : -1;

        if (fd >= 0)
            return fd;
    }
    return memfd_create("beamflame-output", MFD_CLOEXEC);
}

void courier_try_again(void)
{
    if (!courier.pid && courier.left && courier.left->pid && !another_hangs())
        courier_renew();
}

void courier_renew(void)
{
    close_process();
    for (size_t i = 0; i < courier.count; i++)
        if (courier.folders[i].kind == FOLDER_SILENT)
            courier.folders[i].kind = FOLDER_REMOTE;
}

/* ---- folders ---- */

struct look {
    char *path;
    bool is_remote;
};

static void drop_look(void *work)
{
    struct look *look = work;

    free(look->path);
    free(look);
}

/* A link can lead from a local folder to a server. */
static void look_at(void *work)
{
    struct look *look = work;
    char *refused = NULL;
    int folder = file_place_folder(look->path, &refused);
    struct file_place place;
    struct error ignored;

    free(refused);
    if (folder >= 0) {
        look->is_remote = !local_disk_has(folder);
        close(folder);
    }
    if (look->is_remote || file_place_open(look->path, &place, &ignored))
        return;
    look->is_remote = place.own < 0 && !local_disk_has(place.directory);
    file_place_close(&place);
}

static struct known_folder *find_folder(const char *path)
{
    const char *slash = strrchr(path, '/');
    size_t size = slash ? (size_t)(slash - path) + 1 : 0;

    for (size_t i = 0; i < courier.count; i++)
        if (strlen(courier.folders[i].path) == size && !memcmp(courier.folders[i].path, path, size))
            return &courier.folders[i];
    return NULL;
}

static struct known_folder *add_folder(const char *path, enum folder_kind kind)
{
    const char *slash = strrchr(path, '/');

    courier.folders =
        xgrow(courier.folders, &courier.room, courier.count, sizeof(*courier.folders));
    courier.folders[courier.count] =
        (struct known_folder){xstrndup(path, slash ? (size_t)(slash - path) + 1 : 0), kind};
    return &courier.folders[courier.count++];
}

static enum folder_kind kind_of(const char *path)
{
    struct look *look = xcalloc(1, sizeof(*look));
    enum folder_kind kind;

    look->path = xstrdup(path);
    if (!patience_run(look_at, drop_look, look))
        return errno == EBUSY ? FOLDER_SILENT : FOLDER_LOCAL;
    kind = look->is_remote ? FOLDER_REMOTE : FOLDER_LOCAL;
    drop_look(look);
    return kind;
}

/* The names of own descriptors mean others in a process of its own. */
static bool is_own_descriptor(const char *path)
{
    return !strncmp(path, "/dev/", 5) || !strncmp(path, "/proc/self/", 11);
}

int courier_look(const char *path, struct error *error)
{
    struct known_folder *folder = find_folder(path);

    if (courier.is_here || is_own_descriptor(path))
        return 0;
    if (!folder && patience_has_ended())
        return 0;
    if (!folder)
        folder = add_folder(path, kind_of(path));
    if (folder->kind == FOLDER_SILENT)
        return cannot_write(path, EBUSY, error);
    if (folder->kind == FOLDER_LOCAL)
        return 0;
    if (!courier.pid && another_hangs()) {
        folder->kind = FOLDER_SILENT;
        return cannot_write(path, EBUSY, error);
    }
    log_decision("output", "%s is on a file server: it is written by a process of its own", path);
    if (start())
        return error_set(error, ERROR_FAILED, "can't write %.300s: no process can be started: %s",
                         path, CHILD_ADVICE);
    return 0;
}

bool courier_has(const char *path)
{
    const struct known_folder *folder = courier.is_here ? NULL : find_folder(path);

    return folder && folder->kind != FOLDER_LOCAL;
}
