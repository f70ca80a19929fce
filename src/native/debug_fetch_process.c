// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "native/debug_fetch.h"
#include "os/child.h"
#include "os/fence.h"
#include "os/own_limits.h"
#include "os/privileges.h"
#include "util/alloc.h"
#include "util/clock.h"
#include "util/log.h"

enum {
    SOCKET = 3,
    MEMORY = 512 << 20, /* of address space: libcurl, certificates, the stacks of its threads */
    PRIORITY = 10,      /* as of nice(1): VMs that are profiled come first */
    FAILURES_MAX = 3,   /* in a row: then the servers are not asked again */
};

static const uint64_t SAY_NS = 500000000, SECOND = 1000000000;

/* The file that is being fetched. */
static struct {
    struct debug_fetch_reply reply;
    uint64_t begin_ns, said_ns; /* CLOCK_MONOTONIC */
} file;

static volatile sig_atomic_t is_too_large;

/* The file has reached RLIMIT_FSIZE. */
static void note_too_large(int number)
{
    (void)number;
    is_too_large = 1;
}

static void send_reply(void)
{
    (void)!send(SOCKET, &file.reply, sizeof(file.reply), MSG_NOSIGNAL);
}

static bool other_side_has_ended(void)
{
    struct pollfd side = {.fd = SOCKET, .events = POLLIN};

    return poll(&side, 1, 0) > 0 && side.revents & (POLLHUP | POLLERR);
}

/* libdebuginfod calls this at least once a second. Not 0 ends the fetching of the file. */
static int note_progress(struct debuginfod_client *client, long got, long size)
{
    uint64_t now = clock_ns(CLOCK_MONOTONIC);

    (void)client;
    if (other_side_has_ended())
        return 1;
    if (size > (long)DEBUG_FETCH_FILE_MB << 20)
        is_too_large = 1;
    if (now - file.said_ns >= SAY_NS && size > 0) {
        file.said_ns = now;
        file.reply.got = (uint64_t)got;
        file.reply.size = (uint64_t)size;
        send_reply();
    }
    return is_too_large || now - file.begin_ns > DEBUG_FETCH_SECONDS * SECOND;
}

/* What a return value of libdebuginfod below 0 means. */
static enum debug_fetch_result result_of(int code)
{
    if (is_too_large || code == -EFBIG)
        return DEBUG_FETCH_TOO_LARGE;
    if (clock_ns(CLOCK_MONOTONIC) - file.begin_ns > DEBUG_FETCH_SECONDS * SECOND ||
        code == -ETIME || code == -ETIMEDOUT)
        return DEBUG_FETCH_TOO_SLOW;
    return code == -ENOENT ? DEBUG_FETCH_UNKNOWN : DEBUG_FETCH_FAILED;
}

static bool has_room(const char *cache)
{
    struct statvfs disk;

    return statvfs(cache, &disk) == 0 &&
           (uint64_t)disk.f_bavail * disk.f_frsize >> 20 >= DEBUG_FETCH_ROOM_MB;
}

static void get(const struct debuginfod_library *library, struct debuginfod_client *client)
{
    char *path = NULL;
    int fd;

    is_too_large = 0;
    file.reply.result = DEBUG_FETCH_UNDER_WAY;
    file.begin_ns = file.said_ns = clock_ns(CLOCK_MONOTONIC);
    fd = library->find_debuginfo(client, file.reply.id.bytes, (int)file.reply.id.size, &path);
    file.reply.result = fd >= 0 ? DEBUG_FETCH_ARRIVED : result_of(fd);
    file.reply.code = fd >= 0 ? 0 : -fd;
    free(path);
    if (fd >= 0)
        close(fd);
}

/* Get a file, unless the last ones have failed or there is no room. Count failures in a row. */
static void try_to_get(const struct debuginfod_library *library, struct debuginfod_client *client,
                       const char *cache, unsigned int *failures)
{
    if (!client) {
        file.reply.result = DEBUG_FETCH_NO_LIBRARY;
    } else if (!has_room(cache)) {
        file.reply.result = DEBUG_FETCH_NO_ROOM;
    } else if (*failures < FAILURES_MAX) {
        get(library, client);
        *failures =
            file.reply.result == DEBUG_FETCH_TOO_SLOW || file.reply.result == DEBUG_FETCH_FAILED
                ? *failures + 1
                : 0;
    } /* else the result is that of the last file */
}

static void drop(const char *cache, const struct build_id *id)
{
    char *path = xasprintf("%s/%s/debuginfo", cache, build_id_text(id).text);

    unlink(path);
    free(path);
}

static void serve(const struct debuginfod_library *library, struct debuginfod_client *client,
                  const char *cache)
{
    struct debug_fetch_request request;
    unsigned int failures = 0;

    while (recv(SOCKET, &request, sizeof(request), 0) == sizeof(request)) {
        if (request.call == DEBUG_FETCH_DROP) {
            drop(cache, &request.id);
            continue;
        }
        file.reply.id = request.id;
        file.reply.got = file.reply.size = 0;
        try_to_get(library, client, cache, &failures);
        send_reply();
    }
}

/* Wait for a request, or until the other side closes the socket. */
static void await_request(void)
{
    struct pollfd side = {.fd = SOCKET, .events = POLLIN};

    while (poll(&side, 1, -1) < 0 && errno == EINTR)
        ;
}

static void begin(int socket, pid_t parent)
{
    int kept[] = {SOCKET, STDERR_FILENO};
    sigset_t none;

    child_end_with(parent);
    if (socket != SOCKET)
        dup2(socket, SOCKET);
    child_begin("beamflame-fetch", kept, 2);
    log_listen(LOG_OFF, NULL); /* the other side says what happens */
    signal(SIGXFSZ, note_too_large);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    setpriority(PRIO_PROCESS, 0, PRIORITY);
}

/* The library reads these. A user's own limits of time and size stay. */
static void set_environment(const char *urls, const char *cache)
{
    char seconds[16];

    snprintf(seconds, sizeof(seconds), "%d", DEBUG_FETCH_SILENCE_SECONDS);
    setenv("DEBUGINFOD_URLS", urls, 1);
    setenv("DEBUGINFOD_CACHE_PATH", cache, 1);
    setenv("DEBUGINFOD_TIMEOUT", seconds, 0);
    unsetenv("DEBUGINFOD_PROGRESS"); /* they print */
    unsetenv("DEBUGINFOD_VERBOSE");
}

noreturn void debug_fetch_process_run(int socket, const char *urls, const char *cache, pid_t parent)
{
    const struct debuginfod_library *library;
    struct debuginfod_client *client = NULL;
    struct file_fence *fence;

    begin(socket, parent);
    set_environment(urls, cache);
    fence = file_fence_new();
    file_fence_write_in(fence, cache);
    own_limits_set(RLIMIT_FSIZE, (uint64_t)DEBUG_FETCH_FILE_MB << 20);
    own_limits_set_room(MEMORY);
    privileges_send(fence);
    await_request();                /* no library is loaded while the recorder attaches */
    library = debuginfod_library(); /* the filter lets no code be loaded */
    if (library)
        client = library->begin();
    if (client)
        library->set_progressfn(client, note_progress);
    privileges_send_only();
    serve(library, client, cache);
    _exit(0);
}
