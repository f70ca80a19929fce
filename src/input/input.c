// SPDX-License-Identifier: Apache-2.0
#include "input/input.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "input/input_internal.h"
#include "input/perf_internal.h"
#include "os/patient_file.h"
#include "os/standard_input.h"
#include "recording/recording.h"
#include "recording/recording_format.h"
#include "util/alloc.h"
#include "util/clock.h"
#include "util/disk_room.h"
#include "util/files.h"
#include "util/log.h"

#define STANDARD_INPUT "standard input"

/* The time that a program has to open a pipe. */
static const uint64_t WRITER_NS = 2000000000;

/* Read from a pipe that is open with O_NONBLOCK. Wait a limited time until a program opens it for
 * writing. Then set `*writer`, after which reads block as usual. */
static ssize_t read_pipe(int fd, void *block, size_t size, bool *writer)
{
    const struct timespec pause = {.tv_nsec = 20000000};
    const uint64_t until = clock_ns(CLOCK_MONOTONIC) + WRITER_NS;
    struct pollfd events = {.fd = fd, .events = POLLIN};
    ssize_t got;

    while ((got = read(fd, block, size)) == 0 && !*writer) {
        *writer = poll(&events, 1, 0) > 0; /* it has closed the pipe */
        if (*writer || clock_ns(CLOCK_MONOTONIC) > until)
            return 0;
        nanosleep(&pause, NULL);
    }
    if (got < 0 && errno == EAGAIN && fcntl(fd, F_SETFL, O_RDONLY) == 0)
        got = read(fd, block, size);
    *writer = true;
    return got;
}

/* The pipe may have no end. */
static int no_room(const struct disk_room *room, const char *name, struct error *error)
{
    char *what = xasprintf("can't copy %.200s to a temporary file", name);

    disk_room_error(room, what, error);
    free(what);
    return -1;
}

static int copy_all(int from, int to, const char *path, struct error *error)
{
    char block[1 << 16];
    struct disk_room room = {0};
    bool writer = !(fcntl(from, F_GETFL) & O_NONBLOCK) || !strcmp(path, "-");
    ssize_t got;

    while ((got = read_pipe(from, block, sizeof(block), &writer)) > 0) {
        if (disk_room_take(&room, to, (size_t)got))
            return no_room(&room, strcmp(path, "-") ? path : STANDARD_INPUT, error);
        if (files_write_all(to, block, (size_t)got))
            return error_set(error, ERROR_FAILED, "can't write a temporary file: %s",
                             strerror(errno));
    }
    if (got < 0)
        return error_set(error, ERROR_FAILED, "cannot read %s: %s", path, strerror(errno));
    if (!writer)
        return error_set(error, ERROR_FAILED, "no program writes to the pipe '%s'", path);
    return 0;
}

/* A descriptor with the same bytes that can seek. Takes over `fd`. */
static int seekable(int fd, const char *path, const char *directory, struct error *error)
{
    int copy, failed;

    if (lseek(fd, 0, SEEK_SET) == 0)
        return fd;
    copy = recording_writer_file(NULL, directory, error);
    failed = copy < 0 || copy_all(fd, copy, path, error);
    close(fd);
    if (!failed && lseek(copy, 0, SEEK_SET) == 0)
        return copy;
    if (copy >= 0)
        close(copy);
    return -1;
}

/* Standard input may be a terminal; other devices have no end. */
static int open_standard_input(struct error *error)
{
    int fd = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0);
    struct stat status;

    if (fd < 0)
        return error_set(error, ERROR_FAILED, "can't read standard input: %s", strerror(errno));
    if (fstat(fd, &status) == 0 && (S_ISCHR(status.st_mode) || S_ISBLK(status.st_mode)) &&
        !isatty(fd)) {
        close(fd);
        return error_set(error, ERROR_FAILED, "standard input is a device: give a file or a pipe");
    }
    return fd;
}

/* ---- files ---- */

/* `name`: of the file, for errors. */
static int copy_file(struct patient_file *file, int to, const char *name, struct error *error)
{
    static char block[1 << 16];
    struct disk_room room = {0};
    uint64_t at = 0;
    size_t got;
    int code;

    while ((got = patient_file_read(file, at, block, sizeof(block))) > 0) {
        if (disk_room_take(&room, to, got))
            return no_room(&room, name, error);
        if (files_write_all(to, block, got))
            return error_set(error, ERROR_FAILED, "can't write a temporary file: %s",
                             strerror(errno));
        at += got;
    }
    code = errno;
    return code ? error_set(error, ERROR_FAILED, "can't read %s: %s", name,
                            patient_file_problem(code))
                : 0;
}

/* Return a descriptor of an unnamed copy. */
static int copy_of(struct patient_file *file, const char *name, const char *directory,
                   struct error *error)
{
    int copy = recording_writer_file(NULL, directory, error);

    log_decision("input", "%s is on a file server: it is copied", name);
    if (copy >= 0 && copy_file(file, copy, name, error) == 0 && lseek(copy, 0, SEEK_SET) == 0)
        return copy;
    if (copy >= 0)
        close(copy);
    return -1;
}

int input_file_open(const char *path, const char *directory, struct error *error)
{
    struct patient_file *file;
    char *name;
    int fd;

    if (standard_input_is(path))
        return copy_of(standard_input_file(), STANDARD_INPUT, directory, error);
    if (!strcmp(path, "-"))
        return open_standard_input(error);
    file = patient_file_open(path, true, error);
    if (!file)
        return -1;
    fd = patient_file_take(file);
    if (fd < 0) {
        name = xasprintf("'%s'", path);
        fd = copy_of(file, name, directory, error);
        free(name);
    }
    patient_file_close(file);
    return fd;
}

static void close_all(const int *fds, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (fds[i] >= 0)
            close(fds[i]);
}

int *input_files_open(const char *const *paths, size_t count, const char *directory,
                      struct error *error)
{
    int *fds = xcalloc(count, sizeof(*fds));

    for (size_t i = 0; i < count; i++) {
        fds[i] = input_file_open(paths[i], directory, error);
        if (fds[i] >= 0)
            continue;
        close_all(fds, i);
        free(fds);
        return NULL;
    }
    return fds;
}

/* ---- recordings ---- */

/* Import a text in the format of its first line that is no comment. */
static int import_text_file(struct input_text *text, const char *directory, struct error *error)
{
    struct perf_event_line event;
    struct span line;
    bool any = false;
    int got;

    while ((got = input_text_line(text, &line, error)) > 0) {
        any = true;
        if (!line.size || span_begins(line, "# ") || span_is(line, "#"))
            continue;
        if (!perf_line_event(line, &event)) {
            log_decision("recording", "%s is perf-script text, by its first line",
                         input_text_name(text));
            return perf_text_import(text, directory, error);
        }
        if (folded_text_line(line)) {
            log_decision("recording", "%s has folded stacks, by its first line",
                         input_text_name(text));
            return folded_text_import(text, directory, error);
        }
        return input_text_fail(
            text, 0, error,
            "the file is not a recording (.bfr), perf-script text or folded stacks");
    }
    if (got < 0)
        return -1;
    return error_set(error, ERROR_FAILED, "%s: %s", input_text_name(text),
                     any ? "it has no samples" : "the file is empty");
}

static bool is_recording(int fd)
{
    char magic[RECORDING_MAGIC_SIZE];

    return files_read_at(fd, 0, magic, sizeof(magic)) == sizeof(magic) &&
           !memcmp(magic, RECORDING_MAGIC, sizeof(magic));
}

int input_open(int fd, const char *path, const char *directory, struct error *error)
{
    struct input_text *text;

    if (fd >= 0)
        fd = seekable(fd, path, directory, error);
    if (fd < 0 || is_recording(fd))
        return fd;
    text = input_text_open(fd, path, error);
    if (!text)
        return -1;
    fd = import_text_file(text, directory, error);
    input_text_close(text);
    return fd;
}

/* Takes over the descriptors of the recordings. */
static int join_parts(const struct join_part *parts, size_t count,
                      const struct join_options *options, const char *directory,
                      struct error *error)
{
    int fd = recording_writer_file(NULL, directory, error), joined;

    if (fd < 0) {
        for (size_t i = 0; i < count; i++)
            close(parts[i].fd);
        return -1;
    }
    if (!recording_join(parts, count, options, fd, &joined, error))
        return joined;
    if (joined >= 0)
        close(joined);
    return -1;
}

int input_join(const int *fds, const char *const *paths, size_t count,
               const struct join_options *options, const char *directory, struct error *error)
{
    struct join_part *parts = xcalloc(count, sizeof(*parts));
    size_t opened = 0;
    int fd = -1;

    for (; opened < count; opened++) {
        parts[opened] = (struct join_part){input_open(fds[opened], paths[opened], directory, error),
                                           paths[opened]};
        if (parts[opened].fd < 0)
            break;
    }
    if (opened == count) {
        fd = join_parts(parts, count, options, directory, error);
    } else {
        for (size_t i = 0; i < opened; i++)
            close(parts[i].fd);
        close_all(fds + opened + 1, count - opened - 1);
    }
    free(parts);
    return fd;
}
