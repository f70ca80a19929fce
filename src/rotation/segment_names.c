// SPDX-License-Identifier: Apache-2.0
#include "rotation/segments_internal.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "os/courier.h"
#include "output/formats.h"
#include "output/output_file.h"
#include "profile/events.h"
#include "recording/recording.h"
#include "rotation/segment_node.h"
#include "util/alloc.h"
#include "util/file_place.h"
#include "util/files.h"
#include "util/folder.h"
#include "util/temporaries.h"

#define TEMPORARY ".part"

enum {
    TIME_LENGTH = 15,
    /* If a name exists, later seconds are tried: each of the first LATER_MAX. The names of hours or
     * days exist after the clock was set back, so TRIED_OF_HOUR seconds of each later hour are
     * tried. */
    LATER_MAX = 3600,
    HOUR = 3600,
    HOURS_MAX = 24 * 60,
    TRIED_OF_HOUR = 60,
};

/* Return how much later the next name is to be tried; at most HOURS_MAX hours. */
static int next_later(int later)
{
    if (later < LATER_MAX || later % HOUR < TRIED_OF_HOUR - 1)
        return later + 1;
    return later - later % HOUR + HOUR;
}

/* A name is: directory, head, TIME, tail. */
struct pattern {
    char *directory; /* with the slash, or "" */
    char *folder;    /* the same, as folder_hold() gets it */
    int fd;          /* of the folder, which is held; -1: it can't be opened, or is remote */
    bool is_remote;  /* a file server has it (os/courier.h) */
    char *head;      /* "x-shop@web-1-" */
    char *tail;      /* ".gc.svg" */
};

struct segment_names {
    struct pattern *patterns;
    size_t count;
    /* Indexes in `patterns`; -1: none. The outputs come first. */
    int temporary, recording, statistics;
    const char *local;        /* directory of temporary files */
    struct segment_time last; /* of the newest segment */
};

/* ---- patterns ---- */

/* The place of TIME: before the suffix of the format, or before any other suffix. */
static size_t suffix_start(const char *path, const struct output_format *format)
{
    const char *slash = strrchr(path, '/'), *base = slash ? slash + 1 : path;
    const char *dot = strrchr(base, '.');
    size_t suffix = format ? output_format_suffix(format, path) : 0;

    if (suffix)
        return strlen(path) - suffix;
    return dot && dot > base ? (size_t)(dot - path) : strlen(path);
}

/* The folder of `path`, whose directory with the slash has this length. */
static char *folder_text(const char *path, size_t directory)
{
    if (!directory)
        return xstrdup(".");
    return xstrndup(path, directory > 1 ? directory - 1 : 1);
}

/* Hold the folder, so that no file is written or removed elsewhere if the path leads elsewhere
 * later. */
static void push(struct segment_names *names, struct pattern pattern)
{
    pattern.folder = folder_text(pattern.directory, strlen(pattern.directory));
    pattern.is_remote = courier_has(pattern.directory);
    pattern.fd = pattern.is_remote ? -1 : folder_hold(pattern.folder);
    names->patterns = xreallocarray(names->patterns, names->count + 1, sizeof(pattern));
    names->patterns[names->count++] = pattern;
}

static void add(struct segment_names *names, const char *path, size_t suffix, const char *node,
                const char *tail)
{
    const char *slash = strrchr(path, '/');
    size_t directory = slash ? (size_t)(slash + 1 - path) : 0;
    char *plain = segment_node_name(node);

    push(names,
         (struct pattern){
             .directory = xstrndup(path, directory),
             .head = xasprintf("%.*s-%s-", (int)(suffix - directory), path + directory, plain),
             .tail = xstrdup(tail),
         });
    free(plain);
}

static char *path_of(const struct pattern *pattern, const char *time)
{
    return xasprintf("%s%s%s%s", pattern->directory, pattern->head, time, pattern->tail);
}

/* The part of its path that is in the folder. */
static const char *name_in(const struct pattern *pattern, const char *path)
{
    return path + strlen(pattern->directory);
}

static void add_split(struct segment_names *names, size_t output,
                      const struct output_format *format, const char *event)
{
    struct pattern pattern = names->patterns[output];
    char *path = path_of(&pattern, "00000000-000000"),
         *split = output_file_split_path(path, format, event);
    size_t before = strlen(path) - strlen(pattern.tail);

    push(names, (struct pattern){
                    .directory = xstrdup(pattern.directory),
                    .head = xstrdup(pattern.head),
                    .tail = xstrdup(split + before),
                });
    free(path);
    free(split);
}

static const struct output_format *format_of(const struct output_request *request)
{
    return request->format ? request->format : output_format_of(request->path);
}

static void add_splits(struct segment_names *names, const struct segment_files *files,
                       const struct session_options *session)
{
    for (size_t i = 0; i < files->request_count; i++) {
        const struct output_format *format = format_of(&files->requests[i]);

        if (!format->one_event || session->event_count + session->cpu + session->wall < 2)
            continue;
        if (session->cpu)
            add_split(names, i, format, EVENT_CPU);
        if (session->wall)
            add_split(names, i, format, EVENT_WALL);
        for (int e = 0; e < session->event_count; e++)
            add_split(names, i, format, session->events[e].name);
    }
}

/* The recording in progress is beside the recording, or beside the first output if no recording is
 * requested. */
static void add_temporary(struct segment_names *names, const struct segment_files *files,
                          const char *node)
{
    const char *path = files->recording ? files->recording : files->requests[0].path;
    size_t suffix =
        suffix_start(path, files->recording ? &bfr_format : format_of(&files->requests[0]));
    char *tail = xasprintf("%s" TEMPORARY, files->recording ? path + suffix : ".bfr");

    names->temporary = (int)names->count;
    add(names, path, suffix, node, tail);
    free(tail);
}

/* Add the names of one file. Return their index. */
static int add_file(struct segment_names *names, const char *path,
                    const struct output_format *format, const char *node)
{
    size_t suffix = suffix_start(path, format);

    add(names, path, suffix, node, path + suffix);
    return (int)names->count - 1;
}

struct segment_names *segment_names_new(const struct segment_files *files,
                                        const struct session_options *session, const char *node)
{
    struct segment_names *names = xcalloc(1, sizeof(*names));

    names->recording = names->statistics = -1;
    names->local = files->temporary;
    for (size_t i = 0; i < files->request_count; i++)
        add_file(names, files->requests[i].path, format_of(&files->requests[i]), node);
    if (files->recording)
        names->recording = add_file(names, files->recording, &bfr_format, node);
    if (files->stats_path)
        names->statistics = add_file(names, files->stats_path, NULL, node);
    add_temporary(names, files, node);
    add_splits(names, files, session);
    return names;
}

void segment_names_free(struct segment_names *names)
{
    for (size_t i = 0; i < names->count; i++) {
        if (names->patterns[i].fd >= 0)
            folder_release(names->patterns[i].folder);
        free(names->patterns[i].folder);
        free(names->patterns[i].directory);
        free(names->patterns[i].head);
        free(names->patterns[i].tail);
    }
    free(names->patterns);
    free(names);
}

/* ---- names ---- */

static char *name_of(const struct segment_names *names, int pattern, struct segment_time time)
{
    return pattern < 0 ? NULL : path_of(&names->patterns[pattern], time.text);
}

char *segment_names_temporary(const struct segment_names *names, struct segment_time time)
{
    return name_of(names, names->temporary, time);
}

char *segment_names_recording(const struct segment_names *names, struct segment_time time)
{
    return name_of(names, names->recording, time);
}

char *segment_names_output(const struct segment_names *names, size_t index,
                           struct segment_time time)
{
    return name_of(names, (int)index, time);
}

char *segment_names_statistics(const struct segment_names *names, struct segment_time time)
{
    return name_of(names, names->statistics, time);
}

/* ---- a new segment ---- */

static bool has_file(const struct pattern *pattern, const char *path)
{
    struct stat status;

    if (pattern->is_remote)
        return courier_finds(path);
    return pattern->fd >= 0 &&
           fstatat(pattern->fd, name_in(pattern, path), &status, AT_SYMLINK_NOFOLLOW) == 0;
}

/* The files of the last segment may not be there yet. */
static bool is_free(const struct segment_names *names, struct segment_time time)
{
    bool free_so_far = strcmp(time.text, names->last.text) != 0;

    for (size_t i = 0; i < names->count && free_so_far; i++) {
        const struct pattern *pattern = &names->patterns[i];
        char *path = path_of(pattern, time.text);

        free_so_far = !has_file(pattern, path);
        free(path);
    }
    return free_so_far;
}

static struct segment_time time_text(time_t seconds)
{
    struct segment_time time = {0};
    struct tm utc;

    strftime(time.text, sizeof(time.text), "%Y%m%d-%H%M%S", gmtime_r(&seconds, &utc));
    return time;
}

/* The lock shows later runs that the file is being written. It ends with the process, however the
 * process ends. No other user can open the file, and so lock it. */
static int create_locked(const struct pattern *pattern, const char *path)
{
    char *refused = NULL;
    int folder = file_place_folder(path, &refused), fd, code;

    free(refused);
    if (folder < 0)
        return -1;
    fd = openat(folder, name_in(pattern, path), O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
                0600);
    code = errno;
    if (fd >= 0)
        flock(fd, LOCK_EX | LOCK_NB);
    close(folder);
    errno = code;
    return fd;
}

/* Return the file to record into; -1 with error. *ret_exists: its name is taken. */
static int create(const struct segment_names *names, struct segment_time time, bool *ret_exists,
                  struct error *error)
{
    const struct pattern *pattern = &names->patterns[names->temporary];
    char *path;
    int fd;

    *ret_exists = false;
    if (pattern->is_remote)
        return recording_writer_file(NULL, names->local, error);
    path = path_of(pattern, time.text);
    fd = create_locked(pattern, path);
    *ret_exists = fd < 0 && errno == EEXIST;
    if (fd < 0)
        error_set(error, ERROR_FAILED, "can't create %s: %s", path, folder_problem(errno));
    free(path);
    return fd;
}

/* So that existing names are known again after a server was silent for a time. */
static void look_at_servers(const struct segment_names *names)
{
    struct error ignored; /* delivering reports it */

    courier_try_again();
    for (size_t i = 0; i < names->count; i++)
        if (names->patterns[i].is_remote)
            courier_look(names->patterns[i].directory, &ignored);
}

int segment_names_create(struct segment_names *names, time_t seconds, struct segment_time *ret_time,
                         struct error *error)
{
    look_at_servers(names);
    for (int later = 0; later < HOURS_MAX * HOUR; later = next_later(later)) {
        struct segment_time time = time_text(seconds + later);
        bool exists;
        int fd;

        if (!is_free(names, time))
            continue;
        fd = create(names, time, &exists, error);
        if (exists)
            continue;
        *ret_time = names->last = time;
        return fd;
    }
    return error_set(error, ERROR_FAILED, "every name that this segment could have is taken");
}

void segment_names_remove_temporary(const struct segment_names *names, struct segment_time time)
{
    char *path = segment_names_temporary(names, time);

    if (!names->patterns[names->temporary].is_remote)
        file_place_unlink(path);
    free(path);
}

/* ---- old files ---- */

const char *segment_names_remote(const struct segment_names *names)
{
    for (size_t i = 0; i < names->count; i++)
        if (names->patterns[i].is_remote)
            return names->patterns[i].directory;
    return NULL;
}

static bool is_there(const struct pattern *pattern, enum segment_folders where)
{
    return pattern->is_remote == (where == SEGMENT_FOLDERS_REMOTE);
}

static bool is_time(const char *text)
{
    for (int i = 0; i < TIME_LENGTH; i++)
        if (i == 8 ? text[i] != '-' : !isdigit((unsigned char)text[i]))
            return false;
    return true;
}

/* True if a file's name is HEAD, TIME, TAIL. If `ret_more` is not NULL, more text may follow, and
 * *ret_more points to it. */
static bool matches(const struct pattern *pattern, const char *name, const char **ret_more)
{
    size_t head = strlen(pattern->head), tail = strlen(pattern->tail);

    if (strncmp(name, pattern->head, head) || strlen(name) < head + TIME_LENGTH + tail ||
        !is_time(name + head) || strncmp(name + head + TIME_LENGTH, pattern->tail, tail))
        return false;
    name += head + TIME_LENGTH + tail;
    if (ret_more)
        *ret_more = name;
    return ret_more || !*name;
}

static DIR *open_directory(const struct pattern *pattern)
{
    char *refused = NULL;
    int folder = pattern->is_remote ? folder_open(AT_FDCWD, pattern->folder, &refused) : -1;
    int at = pattern->is_remote ? folder : pattern->fd;
    int fd = openat(at, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *directory = fd < 0 ? NULL : fdopendir(fd);

    free(refused);
    if (fd >= 0 && !directory)
        close(fd);
    if (folder >= 0)
        close(folder);
    return directory;
}

static int later_first(const void *a, const void *b)
{
    return strcmp(*(char *const *)b, *(char *const *)a);
}

/* True if the file counts: one of this user, of the time `newest` or earlier. A later one is of a
 * clock that was set back, or of nobody's recording, and must not replace any. */
static bool counts(const struct pattern *pattern, int directory, const char *name,
                   struct segment_time newest)
{
    return matches(pattern, name, NULL) &&
           strncmp(name + strlen(pattern->head), newest.text, TIME_LENGTH) <= 0 &&
           files_is_own(directory, name);
}

/* A complete segment goes whoever has a lock on it: any user who can read it can lock it. */
static void remove_segment(int directory, const char *name)
{
    size_t size = strlen(name), suffix = strlen(TEMPORARY);

    if (size > suffix && !strcmp(name + size - suffix, TEMPORARY))
        files_remove_unlocked(directory, name);
    else
        files_remove_own(directory, name);
}

static void remove_old(const struct pattern *pattern, size_t keep, struct segment_time newest)
{
    DIR *directory = open_directory(pattern);
    char **names = NULL;
    size_t count = 0;

    if (!directory)
        return;
    for (struct dirent *entry; (entry = readdir(directory));) {
        if (!counts(pattern, dirfd(directory), entry->d_name, newest))
            continue;
        names = xreallocarray(names, count + 1, sizeof(*names));
        names[count++] = xstrdup(entry->d_name);
    }
    if (count)
        qsort(names, count, sizeof(*names), later_first);
    for (size_t i = keep; i < count; i++)
        remove_segment(dirfd(directory), names[i]);
    for (size_t i = 0; i < count; i++)
        free(names[i]);
    free(names);
    closedir(directory);
}

void segment_names_remove_old(const struct segment_names *names, enum segment_folders where,
                              size_t keep, struct segment_time newest)
{
    for (size_t i = 0; i < names->count; i++)
        if (is_there(&names->patterns[i], where))
            remove_old(&names->patterns[i], keep, newest);
}

/* True for a temporary name of an output (util/temporaries.h). */
static bool is_leftover(const struct pattern *pattern, const char *name)
{
    const char *more;

    return name[0] == '.' && matches(pattern, name + 1, &more) && temporaries_creator(more);
}

void segment_names_remove_leftovers(const struct segment_names *names, enum segment_folders where)
{
    for (size_t i = 0; i < names->count; i++) {
        DIR *directory =
            is_there(&names->patterns[i], where) ? open_directory(&names->patterns[i]) : NULL;

        if (!directory)
            continue;
        for (struct dirent *entry; (entry = readdir(directory));)
            if (is_leftover(&names->patterns[i], entry->d_name))
                files_remove_unlocked(dirfd(directory), entry->d_name);
        closedir(directory);
    }
}
