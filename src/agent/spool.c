// SPDX-License-Identifier: Apache-2.0
#include "agent/spool.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "agent/name_numbers.h"
#include "util/alloc.h"
#include "util/clock.h"
#include "util/files.h"

#define HEAD    "agent-"
#define TAIL    ".bfr"
#define PARTIAL ".bfr.part"
#define ORDER   ".order"

#define ATTEMPT "room"

enum { TIME_SIZE = 15 };              /* "20261124-101500" */
enum { RECORDING_LEAST = 64 * 1024 }; /* bytes; some seconds of a small VM */

static const uint64_t GLANCE_NS = 5000000000;

static bool ends_in(const char *name, const char *tail)
{
    size_t size = strlen(name), own = strlen(tail);

    return size > strlen(HEAD) + TIME_SIZE + own && !strncmp(name, HEAD, strlen(HEAD)) &&
           !strcmp(name + size - own, tail);
}

static int open_directory(const char *directory, struct error *error)
{
    int fd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    if (fd < 0)
        return error_set(error, ERROR_FAILED, "the spool %s can't be opened: %s", directory,
                         strerror(errno));
    return fd;
}

/* Call `each` with the names of files that end in `tail`. */
static int each_name(const char *directory, const char *tail,
                     void (*each)(void *context, int directory, const char *name), void *context,
                     struct error *error)
{
    int fd = open_directory(directory, error);
    DIR *listed = fd < 0 ? NULL : fdopendir(fd);

    if (!listed)
        return -1;
    for (struct dirent *entry; (entry = readdir(listed));)
        if (ends_in(entry->d_name, tail) && files_is_own(fd, entry->d_name))
            each(context, fd, entry->d_name);
    closedir(listed);
    return 0;
}

/* ---- recordings that nobody completes ---- */

/* Complete a recording that no process writes any more: it is readable up to its end. Whoever
 * writes it holds a lock. */
static void adopt(void *context, int directory, const char *name)
{
    int fd = openat(directory, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    char *whole = xstrndup(name, strlen(name) - strlen(PARTIAL) + strlen(TAIL));

    (void)context;
    if (fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) == 0)
        renameat(directory, name, directory, whole);
    if (fd >= 0)
        close(fd);
    free(whole);
}

int spool_adopt(const char *directory, struct error *error)
{
    return each_name(directory, PARTIAL, adopt, NULL, error);
}

/* ---- the start ---- */

int spool_open(const char *directory, struct error *error)
{
    struct stat status;
    char *path;
    int fd;

    if (mkdir(directory, 0700) && errno != EEXIST)
        return error_set(error, ERROR_FAILED, "the spool %s can't be made: %s", directory,
                         strerror(errno));
    if (stat(directory, &status) == 0 && (status.st_mode & 022 || status.st_uid != geteuid()))
        return error_set(error, ERROR_FAILED,
                         "the spool %s can be written by other users: give it to this user, with "
                         "mode 0700",
                         directory);
    path = xasprintf("%s/lock", directory);
    fd = open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
    free(path);
    if (fd < 0)
        return error_set(error, ERROR_FAILED, "the spool %s can't be locked: %s", directory,
                         strerror(errno));
    if (flock(fd, LOCK_EX | LOCK_NB)) {
        close(fd);
        return error_set(error, ERROR_FAILED,
                         "another agent uses the spool %s: end it, or name another directory in "
                         "spool.directory",
                         directory);
    }
    if (spool_adopt(directory, error) == 0)
        return fd;
    close(fd);
    return -1;
}

char *spool_recording_path(const char *directory)
{
    return xasprintf("%s/agent.bfr", directory);
}

/* ---- the list ---- */

/* The time in the name of a recording; 0 if it is none. */
static time_t time_in(const char *name)
{
    struct tm utc = {0};
    const char *time = name + strlen(name) - strlen(TAIL) - TIME_SIZE;

    return strptime(time, "%Y%m%d-%H%M%S", &utc) ? timegm(&utc) : 0;
}

static void add(void *context, int directory, const char *name)
{
    struct spool_list *list = context;
    struct stat status;
    struct timespec now;

    if (fstatat(directory, name, &status, AT_SYMLINK_NOFOLLOW))
        return;
    clock_gettime(CLOCK_REALTIME, &now);
    list->of = xreallocarray(list->of, list->count + 1, sizeof(*list->of));
    list->of[list->count++] = (struct spool_entry){
        .name = xstrdup(name),
        .bytes = (uint64_t)status.st_size,
        .age = (double)(now.tv_sec - status.st_mtim.tv_sec),
        .began = time_in(name),
        .ended = status.st_mtim.tv_sec,
    };
}

/* Recordings in the order in which they came. A recording of unknown order counts as newest.
 * Several of these are in the order of their times, not by the host's name, which can change. */
static int by_order(const void *a, const void *b)
{
    static const size_t from_end = TIME_SIZE + sizeof(TAIL) - 1;
    const struct spool_entry *one = a, *other = b;

    if (one->place != other->place)
        return one->place < other->place ? -1 : 1;
    return strcmp(one->name + strlen(one->name) - from_end,
                  other->name + strlen(other->name) - from_end);
}

static void put_in_order(struct spool_list *list, struct name_numbers *order)
{
    for (size_t i = 0; i < list->count; i++) {
        size_t place = name_numbers_get(order, list->of[i].name);

        list->of[i].place = place ? place : SIZE_MAX;
    }
    if (list->count)
        qsort(list->of, list->count, sizeof(*list->of), by_order);
}

/* A recording is not older than the one before. The clock may have been wrong when a recording was
 * written: if it was far behind, the earlier recordings limit the age. If it was ahead, the
 * recording gets the age of the next one. */
static void correct_ages(struct spool_list *list)
{
    double earlier = INFINITY, later = 0;

    for (size_t i = 0; i < list->count; i++)
        if (list->of[i].age >= 0)
            earlier = list->of[i].age = fmin(earlier, list->of[i].age);
    for (size_t i = list->count; i-- > 0; later = list->of[i].age)
        if (list->of[i].age < 0)
            list->of[i].age = later;
}

int spool_list(const char *directory, struct spool_list *ret_list, struct error *error)
{
    struct name_numbers *order;

    *ret_list = (struct spool_list){.of = NULL};
    if (each_name(directory, TAIL, add, ret_list, error))
        return -1;
    order = name_numbers_open(directory, "spool", ORDER);
    put_in_order(ret_list, order);
    correct_ages(ret_list);
    name_numbers_free(order);
    return 0;
}

bool spool_may_have_changed(const char *directory, struct spool_glance *glance)
{
    uint64_t now = clock_ns(CLOCK_MONOTONIC);
    struct stat status = {0};

    if (stat(directory, &status) == 0 && now - glance->time < GLANCE_NS &&
        status.st_mtim.tv_sec == glance->changed.tv_sec &&
        status.st_mtim.tv_nsec == glance->changed.tv_nsec)
        return false;
    *glance = (struct spool_glance){status.st_mtim, now};
    return true;
}

void spool_note_order(const char *directory)
{
    struct spool_list list;
    struct error ignored; /* without room for it, they are in the order of time */
    struct name_numbers *order;
    size_t last = 0;

    if (spool_list(directory, &list, &ignored))
        return;
    order = name_numbers_open(directory, "spool", ORDER);
    for (size_t i = 0; i < list.count; i++) {
        if (list.of[i].place != SIZE_MAX)
            last = list.of[i].place;
        else if (name_numbers_set(order, list.of[i].name, ++last, &list, &ignored))
            break;
    }
    name_numbers_free(order);
    spool_list_free(&list);
}

void spool_list_free(struct spool_list *list)
{
    for (size_t i = 0; i < list->count; i++)
        free(list->of[i].name);
    free(list->of);
    *list = (struct spool_list){.of = NULL};
}

void spool_trim(const char *directory, uint64_t max_bytes, double max_age,
                void (*removed)(void *context, const char *name), void *context)
{
    struct spool_list list;
    struct error ignored; /* the next recording fails by it, and is reported */
    uint64_t bytes = 0;
    int fd;

    if (spool_list(directory, &list, &ignored))
        return;
    fd = open_directory(directory, &ignored);
    for (size_t i = list.count; fd >= 0 && i-- > 0;) {
        const struct spool_entry *entry = &list.of[i];

        bytes += entry->bytes;
        if (bytes <= max_bytes && entry->age <= max_age)
            continue;
        removed(context, entry->name);
        files_remove_own(fd, entry->name);
    }
    if (fd >= 0)
        close(fd);
    spool_list_free(&list);
}

/* ---- a full disk ---- */

static uint64_t largest(const char *directory)
{
    uint64_t bytes = RECORDING_LEAST;
    struct spool_list list;
    struct error ignored; /* the least is a measure, too */

    if (spool_list(directory, &list, &ignored))
        return bytes;
    for (size_t i = 0; i < list.count; i++)
        if (list.of[i].bytes > bytes)
            bytes = list.of[i].bytes;
    spool_list_free(&list);
    return bytes;
}

/* Free space says nothing about quotas and inodes, so this makes a file. A recording takes at most
 * half of what is free (util/disk_room.h). */
bool spool_is_full(const char *directory)
{
    char *path = xasprintf("%s/" ATTEMPT, directory);
    int fd = open(path, O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
    int code = fd < 0 ? errno : posix_fallocate(fd, 0, (off_t)largest(directory) * 2);

    if (fd >= 0) {
        unlink(path);
        close(fd);
    }
    free(path);
    return code == ENOSPC || code == EDQUOT;
}

bool spool_remove_oldest(const char *directory, void (*removed)(void *context, const char *name),
                         void *context)
{
    struct spool_list list;
    struct error ignored; /* the next recording fails by it, and is reported */
    bool is_gone = false;
    int fd;

    if (spool_list(directory, &list, &ignored))
        return false;
    fd = list.count ? open_directory(directory, &ignored) : -1;
    if (fd >= 0) {
        removed(context, list.of[0].name);
        files_remove_own(fd, list.of[0].name);
        is_gone = faccessat(fd, list.of[0].name, F_OK, AT_SYMLINK_NOFOLLOW) != 0;
        close(fd);
    }
    spool_list_free(&list);
    return is_gone;
}
