// SPDX-License-Identifier: Apache-2.0
#include "native/debug_fetch.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "os/child.h"
#include "util/alloc.h"
#include "util/log.h"

enum {
    FILES_MAX = 1 << 10,
    ASKED_MAX = 16,   /* requests that wait at once: they fit into the socket */
    NAMED_MAX = 8,    /* files that a sentence names */
    REPLIES_MAX = 64, /* that are read at once: the other side may send without end */
    LOOK_US = 5000,
};

/* A file whose debug file is wanted. */
struct fetched {
    struct build_id id;
    char *name; /* the last part of its path */
    enum debug_fetch_result result;
    int code; /* as in struct debug_fetch_reply */
    bool is_rejected;
};

static struct {
    char *urls;  /* NULL: nothing is fetched */
    char *cache; /* NULL: not started */
    pid_t process;
    int socket; /* -1: the process is gone */
    struct fetched *files;
    size_t count, room;
    size_t asked, done; /* the first so many are requested; so many have a result */
    uint32_t version;
    uint64_t got, size; /* of the file that is under way */
} fetch = {.socket = -1};

/* ---- servers ---- */

static bool is_url(const char *text)
{
    return strncmp(text, "http://", 7) == 0 || strncmp(text, "https://", 8) == 0;
}

bool debug_fetch_is_server(const char *text)
{
    return is_url(text) || strcmp(text, DEBUG_FETCH_FROM_ENVIRONMENT) == 0;
}

int debug_fetch_add_servers(const char *text, struct error *error)
{
    const char *added = is_url(text) ? text : getenv("DEBUGINFOD_URLS");
    char *before = fetch.urls;

    if (!added || !*added)
        return error_set(error, ERROR_USAGE,
                         "DEBUGINFOD_URLS is not set (sudo removes it): name the server, as in "
                         "--symbols https://debuginfod.elfutils.org");
    fetch.urls = before ? xasprintf("%s %s", before, added) : xstrdup(added);
    free(before);
    return 0;
}

bool debug_fetch_is_wanted(void)
{
    return fetch.urls != NULL;
}

/* ---- the cache ---- */

/* The directory that the clients of debuginfod use (debuginfod_find_debuginfo(3), "CACHE"). NULL if
 * the environment does not say. */
static char *cache_path(void)
{
    const char *path = getenv("DEBUGINFOD_CACHE_PATH"), *xdg = getenv("XDG_CACHE_HOME");
    const char *home = getenv("HOME");
    char *old;

    if (path && *path)
        return xstrdup(path);
    old = home && *home ? xasprintf("%s/.debuginfod_client_cache", home) : NULL;
    if (old && access(old, F_OK) == 0)
        return old;
    free(old);
    if (xdg && *xdg)
        return xasprintf("%s/debuginfod_client", xdg);
    return home && *home ? xasprintf("%s/.cache/debuginfod_client", home) : NULL;
}

static int refuse_cache(const char *path, const char *why, struct error *error)
{
    return error_set(error, ERROR_USAGE,
                     "can't keep debug files in %s: %s; name another directory by "
                     "DEBUGINFOD_CACHE_PATH",
                     path, why);
}

/* Make the directory, and those above it. Root uses no directory of another user, who could not use
 * what root makes in it. */
static int make_directory(const char *path, struct error *error)
{
    const char *slash = strrchr(path, '/');
    struct stat status;
    char *above;
    int failed;

    if (stat(path, &status) == 0)
        return geteuid() == 0 && status.st_uid != 0
                   ? refuse_cache(path, "another user owns it", error)
                   : 0;
    if (errno != ENOENT)
        return refuse_cache(path, strerror(errno), error);
    above = slash ? xstrndup(path, slash == path ? 1 : (size_t)(slash - path)) : xstrdup(".");
    failed = make_directory(above, error);
    free(above);
    if (!failed && mkdir(path, 0700) && errno != EEXIST)
        failed = refuse_cache(path, strerror(errno), error);
    return failed;
}

static char *make_cache(struct error *error)
{
    char *path = cache_path(), *real = NULL;

    if (!path)
        error_set(error, ERROR_USAGE,
                  "there is no directory for debug files: neither HOME nor DEBUGINFOD_CACHE_PATH "
                  "is set");
    else if (make_directory(path, error) == 0 && !(real = realpath(path, NULL)))
        refuse_cache(path, strerror(errno), error);
    free(path);
    return real;
}

/* ---- the process ---- */

int debug_fetch_start(struct error *error)
{
    pid_t parent = getpid();
    int sockets[2];

    if (!fetch.urls)
        return 0;
    fetch.cache = make_cache(error);
    if (!fetch.cache)
        return -1;
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets))
        return error_set(error, ERROR_FAILED, "can't make a socket: %s", strerror(errno));
    fetch.process = fork();
    if (fetch.process == 0)
        debug_fetch_process_run(sockets[1], fetch.urls, fetch.cache, parent);
    close(sockets[1]);
    fetch.socket = sockets[0];
    if (fetch.process < 0)
        return error_set(error, ERROR_FAILED,
                         "can't start the process that fetches debug files: %s: %s",
                         strerror(errno), CHILD_ADVICE);
    log_decision("debuginfod", "debug files come from %s into %s", fetch.urls, fetch.cache);
    return 0;
}

static void close_socket(void)
{
    if (fetch.socket >= 0)
        close(fetch.socket);
    fetch.socket = -1;
}

/* Send a request. False if the process has ended. */
static bool request(enum debug_fetch_call call, const struct build_id *id)
{
    const struct debug_fetch_request sent = {.call = call, .id = *id};

    return send(fetch.socket, &sent, sizeof(sent), MSG_NOSIGNAL | MSG_DONTWAIT) == sizeof(sent);
}

/* ---- files ---- */

static struct fetched *find(const struct build_id *id)
{
    for (size_t i = 0; i < fetch.count; i++)
        if (build_id_equal(&fetch.files[i].id, id))
            return &fetch.files[i];
    return NULL;
}

static void request_more(void)
{
    while (fetch.socket >= 0 && fetch.asked < fetch.count && fetch.asked - fetch.done < ASKED_MAX)
        if (!request(DEBUG_FETCH_GET, &fetch.files[fetch.asked++].id))
            close_socket();
}

bool debug_fetch_want(const struct build_id *id, const char *path)
{
    const char *slash = strrchr(path, '/');

    if (fetch.socket < 0 || !id->size)
        return false;
    if (find(id))
        return true;
    if (fetch.count == FILES_MAX)
        return false;
    fetch.files = xgrow(fetch.files, &fetch.room, fetch.count, sizeof(*fetch.files));
    fetch.files[fetch.count++] =
        (struct fetched){.id = *id, .name = xstrdup(slash ? slash + 1 : path)};
    request_more();
    return true;
}

uint32_t debug_fetch_version(void)
{
    return fetch.version;
}

bool debug_fetch_has(const struct build_id *id)
{
    const struct fetched *file = find(id);

    return file && file->result == DEBUG_FETCH_ARRIVED && !file->is_rejected;
}

void debug_fetch_reject(const struct build_id *id)
{
    struct fetched *file = find(id);

    if (!file || file->is_rejected)
        return;
    file->is_rejected = true;
    log_decision("debuginfod", "the file for %s, build id %s, is not its debug file", file->name,
                 build_id_text(id).text);
    if (fetch.socket >= 0 && !request(DEBUG_FETCH_DROP, id))
        close_socket();
}

const char *debug_fetch_cache(void)
{
    return fetch.cache;
}

/* ---- replies ---- */

/* True if the other side may say this. */
static bool is_sound(const struct debug_fetch_reply *reply, ssize_t size)
{
    return size == sizeof(*reply) && reply->result < DEBUG_FETCH_RESULTS && reply->id.size > 0 &&
           reply->id.size <= BUILD_ID_MAX;
}

static void note(const struct debug_fetch_reply *reply)
{
    struct fetched *file = find(&reply->id);

    if (!file || file->result != DEBUG_FETCH_UNDER_WAY)
        return;
    fetch.got = reply->got;
    fetch.size = reply->size;
    if (reply->result == DEBUG_FETCH_UNDER_WAY)
        return;
    fetch.got = fetch.size = 0;
    file->result = reply->result;
    file->code = reply->code;
    fetch.done++;
    fetch.version += reply->result == DEBUG_FETCH_ARRIVED;
    log_decision("debuginfod", "the debug file of %s, build id %s: %s", file->name,
                 build_id_text(&file->id).text,
                 reply->result == DEBUG_FETCH_ARRIVED ? "it has arrived" : "it is not fetched");
}

void debug_fetch_step(void)
{
    struct debug_fetch_reply reply;
    ssize_t size;

    for (int replies = 0; fetch.socket >= 0 && replies < REPLIES_MAX; replies++) {
        size = recv(fetch.socket, &reply, sizeof(reply), MSG_DONTWAIT);
        if (size < 0 && (errno == EAGAIN || errno == EINTR))
            break;
        if (is_sound(&reply, size))
            note(&reply);
        else
            close_socket();
    }
    request_more();
}

void debug_fetch_progress(struct buffer *text)
{
    if (fetch.socket < 0 || fetch.done == fetch.count)
        return;
    buffer_format(text, "  debug files: %zu of %zu", fetch.done, fetch.count);
    if (fetch.size)
        buffer_format(text, ", next %llu of %llu MB", (unsigned long long)fetch.got >> 20,
                      (unsigned long long)fetch.size >> 20);
}

/* ---- the end ---- */

/* Append why a file has no debug file. */
static void put_reason(const struct fetched *file, bool has_ended, struct buffer *text)
{
    switch (file->result) {
    case DEBUG_FETCH_UNDER_WAY:
        buffer_text(text, has_ended ? "the process that fetches them has ended"
                                    : "the recording ended before they arrived");
        break;
    case DEBUG_FETCH_ARRIVED:
        buffer_text(text, "the servers sent a file of another build");
        break;
    case DEBUG_FETCH_UNKNOWN:
        buffer_text(text, "the servers do not have them");
        break;
    case DEBUG_FETCH_TOO_LARGE:
        buffer_format(text, "they have more than %d MB", DEBUG_FETCH_FILE_MB);
        break;
    case DEBUG_FETCH_TOO_SLOW:
        buffer_text(text, "the servers did not send them in time");
        break;
    case DEBUG_FETCH_NO_ROOM:
        buffer_format(text, "less than %d MB is free on the disk of %s", DEBUG_FETCH_ROOM_MB,
                      fetch.cache);
        break;
    case DEBUG_FETCH_NO_LIBRARY:
        buffer_text(text, "can't load libdebuginfod.so.1 (install libdebuginfod1)");
        break;
    case DEBUG_FETCH_FAILED:
    case DEBUG_FETCH_RESULTS:
        buffer_text(text, strerror(file->code));
        break;
    }
}

static bool has_no_debug_file(const struct fetched *file)
{
    return file->result != DEBUG_FETCH_ARRIVED || file->is_rejected;
}

/* Say that these files and those after them with the same reason have no debug file. Frees their
 * names, and leaves those with other reasons. */
static void say_like(size_t first, bool has_ended, debug_fetch_say say)
{
    const struct fetched like = fetch.files[first];
    struct buffer text = {0};
    size_t count = 0;

    for (size_t i = first; i < fetch.count; i++) {
        struct fetched *file = &fetch.files[i];

        if (!file->name || !has_no_debug_file(file) || file->result != like.result ||
            file->code != like.code)
            continue;
        if (count++ < NAMED_MAX)
            buffer_format(&text, "%s%s", count > 1 ? ", " : "", file->name);
        free(file->name);
        file->name = NULL;
    }
    if (count > NAMED_MAX)
        buffer_format(&text, " and %zu more", count - NAMED_MAX);
    buffer_text(&text, ": ");
    put_reason(&like, has_ended, &text);
    say("no debug files of %.*s", (int)text.size, text.data);
    buffer_free(&text);
}

static void await_process(void)
{
    for (int waits = 0; waitpid(fetch.process, NULL, WNOHANG) == 0; waits++) {
        if (waits == DEBUG_FETCH_END_MS * 1000 / LOOK_US) {
            kill(fetch.process, SIGKILL);
            child_await(fetch.process);
            return;
        }
        usleep(LOOK_US);
    }
}

void debug_fetch_end(debug_fetch_say say)
{
    bool has_ended;

    if (fetch.process <= 0)
        return;
    debug_fetch_step();
    has_ended = fetch.socket < 0;
    close_socket();
    await_process();
    fetch.process = 0;
    for (size_t i = 0; i < fetch.count; i++)
        if (fetch.files[i].name && has_no_debug_file(&fetch.files[i]))
            say_like(i, has_ended, say);
}
