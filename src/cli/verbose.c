// SPDX-License-Identifier: Apache-2.0
#include "cli/verbose.h"

#include <errno.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "cli/message.h"
#include "util/alloc.h"
#include "util/clock.h"
#include "util/file_place.h"
#include "util/log.h"

/* A line may come from the thread that closes probes in time. So it waits for a reader of standard
 * error for READER_MS at most. A pipe keeps room for other messages, whose writers wait. */
enum { READER_MS = 100, UNREAD_MAX = 32 << 10 };

static struct {
    int file; /* -1: standard error */
    uint64_t start;
    int level, given;    /* enum log_level; of -v alone */
    atomic_bool stuck;   /* the reader does not read */
    atomic_uint dropped; /* lines since then */
} verbose = {.file = -1};

/* Lines that the file did not take, of this process and of those that it forks. */
static struct lost {
    atomic_uint lines;
    atomic_int code; /* errno of the last one */
} * lost;

static struct lost *lost_new(void)
{
    void *shared =
        mmap(NULL, sizeof(*lost), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

    return shared == MAP_FAILED ? NULL : shared;
}

static bool has_room(void)
{
    struct pollfd reader = {.fd = STDERR_FILENO, .events = POLLOUT};
    struct stat status;
    int unread;

    if (poll(&reader, 1, 0) == 0)
        return false;
    if (fstat(STDERR_FILENO, &status) || !S_ISFIFO(status.st_mode))
        return true;
    return ioctl(STDERR_FILENO, FIONREAD, &unread) || unread < UNREAD_MAX;
}

static bool may_write(void)
{
    const struct timespec pause = {.tv_nsec = 1000000};

    for (int ms = atomic_load(&verbose.stuck) ? READER_MS : 0; !has_room(); ms++) {
        if (ms >= READER_MS)
            return false;
        nanosleep(&pause, NULL);
    }
    return true;
}

/* One write() a line, so that lines of threads do not mix. Return 0, or an errno if the line was
 * not written to its end. */
static int put(int fd, const char *area, const char *line)
{
    double seconds = (double)(clock_ns(CLOCK_MONOTONIC) - verbose.start) / 1e9;
    const char *clear = fd == STDERR_FILENO && isatty(fd) ? "\r\033[K" : "";
    char *text = xasprintf("%sbeamflame: [%.3f] %s: %s\n", clear, seconds, area, line);
    ssize_t size = (ssize_t)strlen(text), written = write(fd, text, (size_t)size);
    int code = written == size ? 0 : written < 0 ? errno : ENOSPC;

    free(text);
    return code;
}

/* Say how many lines were dropped, if the reader of standard error reads again. */
static void say_dropped(void)
{
    char text[64];

    if (!atomic_exchange(&verbose.stuck, false))
        return;
    snprintf(text, sizeof(text), "%u lines were dropped: nobody read them",
             atomic_exchange(&verbose.dropped, 0));
    put(STDERR_FILENO, "log", text);
}

static void print(const char *area, const char *line)
{
    if (!may_write()) {
        atomic_store(&verbose.stuck, true);
        atomic_fetch_add(&verbose.dropped, 1);
        return;
    }
    say_dropped();
    put(STDERR_FILENO, area, line);
}

static void put_into_file(const char *area, const char *line)
{
    int code = put(verbose.file, area, line);

    if (!code || !lost)
        return;
    atomic_fetch_add(&lost->lines, 1);
    atomic_store(&lost->code, code);
}

/* The option and the variable can both be given: the higher level counts. */
static void listen_to(int level)
{
    if (level > verbose.level)
        verbose.level = level;
    log_listen((enum log_level)verbose.level, verbose.file >= 0 ? put_into_file : print);
}

/* ---- the option ---- */

static int add_verbose(void *target, char *argument, struct error *error)
{
    (void)target;
    (void)argument;
    (void)error;
    if (verbose.given < LOG_DETAIL)
        verbose.given++;
    listen_to(verbose.given);
    return 0;
}

const struct command_option verbose_option_list[] = {
    {"verbose", 'v', NULL,
     "Print each decision with its reason, such as how a hook was found. Give it twice (-vv) for "
     "details: each window of probes, the budget every second.",
     add_verbose, NULL},
    {0},
};

/* ---- the variable ---- */

/* Return the text behind a level at the start of `value`: "" or ":PATH". NULL if there is no level,
 * or more of another word. */
static const char *behind_level(const char *value, enum log_level *ret_level)
{
    static const struct {
        const char *name;
        enum log_level level;
    } levels[] = {
        {"0", LOG_OFF},         {"1", LOG_DECISION}, {"2", LOG_DETAIL}, {"decision", LOG_DECISION},
        {"detail", LOG_DETAIL},
    };

    for (size_t i = 0; i < sizeof(levels) / sizeof(levels[0]); i++) {
        size_t size = strlen(levels[i].name);

        if (strncmp(value, levels[i].name, size) || (value[size] && value[size] != ':'))
            continue;
        *ret_level = levels[i].level;
        return value + size;
    }
    return NULL;
}

void verbose_start(const char *value)
{
    enum log_level level = LOG_DECISION;
    const char *behind, *path;
    struct error error;

    verbose.start = clock_ns(CLOCK_MONOTONIC);
    if (!value || !*value)
        return;
    behind = behind_level(value, &level);
    path = !behind ? value : *behind ? behind + 1 : NULL;
    if (path) {
        verbose.file = file_place_append(path, &error);
        if (verbose.file < 0) {
            message_warning("nothing is logged to the file of BEAMFLAME_LOG: %s", error.text);
            return;
        }
        if (!lost)
            lost = lost_new();
    }
    listen_to((int)level);
}

void verbose_end(void)
{
    unsigned int lines = lost ? atomic_load(&lost->lines) : 0;
    int code = lines ? atomic_load(&lost->code) : 0;

    if (atomic_load(&verbose.dropped) && may_write())
        say_dropped();
    if (lines)
        message_warning("%u line%s of the log %s lost: %s", lines, lines == 1 ? "" : "s",
                        lines == 1 ? "was" : "were",
                        code == EAGAIN ? "the reader of the pipe was too slow" : strerror(code));
}

int verbose_file(void)
{
    return verbose.file;
}
