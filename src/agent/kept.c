// SPDX-License-Identifier: Apache-2.0
#include "agent/kept.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/spool.h"
#include "util/alloc.h"
#include "util/files.h"

enum { TIME_SIZE = 15 }; /* "20261124-101500" */

/* ---- folders ---- */

static void set_folder(struct kept_firing *firing, time_t at)
{
    char time[TIME_SIZE + 1];
    struct tm utc;

    gmtime_r(&at, &utc);
    strftime(time, sizeof(time), "%Y%m%d-%H%M%S", &utc);
    snprintf(firing->folder, sizeof(firing->folder), "%s.%s.%s", firing->trigger, firing->node,
             time);
}

static int make_folder(const char *path, struct error *error)
{
    if (mkdir(path, 0700) == 0 || errno == EEXIST)
        return 0;
    return error_set(error, ERROR_FAILED, "the folder %s can't be made: %s", path, strerror(errno));
}

int kept_begin(const char *spool, struct kept_firing *firing, time_t at, struct error *error)
{
    enum { TRIES = 60 }; /* two VMs can have the same name */
    char *path = xasprintf("%s/kept", spool);
    int result = make_folder(path, error);

    for (int i = 0; !result && i < TRIES; i++) {
        free(path);
        set_folder(firing, at + i);
        path = xasprintf("%s/kept/%s", spool, firing->folder);
        if (mkdir(path, 0700) == 0)
            break;
        if (errno != EEXIST || i == TRIES - 1)
            result = error_set(error, ERROR_FAILED, "the folder %s can't be made: %s", path,
                               strerror(errno));
    }
    free(path);
    return result;
}

/* ---- recordings that are kept ---- */

static int copy_bytes(int from, int to)
{
    char block[1 << 16];
    uint64_t offset = 0;
    size_t size;

    do {
        errno = 0;
        size = files_read_at(from, offset, block, sizeof(block));
        if (size < sizeof(block) && errno)
            return -1;
        if (files_write_all(to, block, size))
            return -1;
        offset += size;
    } while (size == sizeof(block));
    return 0;
}

/* Copy a file to a new one. -1 with errno. */
static int copy(const char *from, const char *to)
{
    int source = open(from, O_RDONLY | O_NOFOLLOW | O_CLOEXEC), code;
    int target = source < 0 ? -1 : open(to, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    int result = target < 0 ? -1 : copy_bytes(source, target);

    code = errno;
    if (target >= 0)
        close(target);
    if (source >= 0)
        close(source);
    if (result && target >= 0)
        unlink(to);
    errno = code;
    return result;
}

/* Not all file systems have links, and a part of a spool can be on another one. */
static int link_or_copy(const char *from, const char *to)
{
    if (link(from, to) == 0)
        return 0;
    if (errno != EXDEV && errno != EPERM && errno != EOPNOTSUPP && errno != EMLINK)
        return -1;
    return copy(from, to);
}

static int keep(const char *spool, struct kept_firing *firing, const struct spool_entry *entry,
                struct error *error)
{
    char *from, *to;
    int result = 0;

    if (firing->bytes + entry->bytes > firing->max_bytes)
        return error_set(error, ERROR_FAILED, "the trigger's max_size does not allow it");
    from = xasprintf("%s/%s", spool, entry->name);
    to = xasprintf("%s/kept/%s/%s", spool, firing->folder, entry->name);
    if (link_or_copy(from, to) == 0)
        firing->bytes += entry->bytes;
    else if (errno != EEXIST)
        result = error_set(error, ERROR_FAILED, "%s can't be written: %s", to, strerror(errno));
    free(from);
    free(to);
    return result;
}

/* True if any part of a recording is of the time of the firing. */
static bool is_of_time(const struct kept_firing *firing, const struct spool_entry *entry)
{
    return entry->began <= firing->until && entry->ended >= firing->from;
}

void kept_take(const char *spool, struct kept_firing *firing,
               void (*left_out)(void *context, const char *recording, const struct error *error),
               void *context)
{
    struct spool_list list;
    struct error error; /* of the list: the next recording fails by it, and is reported */

    if (spool_list(spool, &list, &error))
        return;
    for (size_t i = 0; i < list.count; i++) {
        const struct spool_entry *entry = &list.of[i];

        if (entry->place == SIZE_MAX || entry->place <= firing->place)
            continue;
        firing->place = entry->place;
        if (is_of_time(firing, entry) && keep(spool, firing, entry, &error))
            left_out(context, entry->name, &error);
    }
    spool_list_free(&list);
}

/* ---- limits ---- */

struct folder {
    char *name;
    uint64_t bytes;
};

static const char *time_of(const char *name)
{
    return name + strlen(name) - TIME_SIZE;
}

static bool is_of(const char *name, const char *trigger)
{
    size_t size = strlen(trigger);

    return !strncmp(name, trigger, size) && name[size] == '.' &&
           strlen(name) > size + TIME_SIZE + 2;
}

/* The newest first. */
static int by_time(const void *a, const void *b)
{
    const struct folder *one = a, *other = b;

    return strcmp(time_of(other->name), time_of(one->name));
}

/* Call `each` with each file of the folder of `fd`. Takes over `fd`. */
static void each_file(int fd, void (*each)(void *context, int directory, const char *name),
                      void *context)
{
    DIR *listed = fdopendir(fd);

    if (!listed)
        return;
    for (struct dirent *entry; (entry = readdir(listed));)
        if (files_is_own(fd, entry->d_name))
            each(context, fd, entry->d_name);
    closedir(listed);
}

static void add_bytes(void *context, int directory, const char *name)
{
    uint64_t *bytes = context;
    struct stat status;

    if (fstatat(directory, name, &status, AT_SYMLINK_NOFOLLOW) == 0)
        *bytes += (uint64_t)status.st_size;
}

static void remove_file(void *context, int directory, const char *name)
{
    (void)context;
    files_remove_own(directory, name);
}

static int open_folder(int directory, const char *name)
{
    return openat(directory, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

static struct folder *find_folders(DIR *listed, const char *trigger, size_t *ret_count)
{
    struct folder *folders = NULL;
    size_t count = 0;

    for (struct dirent *entry; (entry = readdir(listed));) {
        int fd = is_of(entry->d_name, trigger) ? open_folder(dirfd(listed), entry->d_name) : -1;

        if (fd < 0)
            continue;
        folders = xreallocarray(folders, count + 1, sizeof(*folders));
        folders[count] = (struct folder){.name = xstrdup(entry->d_name)};
        each_file(fd, add_bytes, &folders[count++].bytes);
    }
    if (count)
        qsort(folders, count, sizeof(*folders), by_time);
    *ret_count = count;
    return folders;
}

/* True if the folder is gone. Files that are not this program's stay in it. */
static bool remove_folder(int directory, const char *name)
{
    int fd = open_folder(directory, name);

    if (fd >= 0)
        each_file(fd, remove_file, NULL);
    return unlinkat(directory, name, AT_REMOVEDIR) == 0;
}

void kept_trim(const char *spool, const char *trigger, size_t max_count, uint64_t max_bytes,
               void (*removed)(void *context, const char *node, const char *folder), void *context)
{
    char *path = xasprintf("%s/kept", spool);
    DIR *listed = opendir(path);
    struct folder *folders;
    uint64_t bytes = 0;
    size_t count;

    free(path);
    if (!listed)
        return;
    folders = find_folders(listed, trigger, &count);
    for (size_t i = 0; i < count; i++) {
        const char *name = folders[i].name, *node = name + strlen(trigger) + 1;
        char *node_name;

        bytes += folders[i].bytes;
        if ((i < max_count && bytes <= max_bytes) || !remove_folder(dirfd(listed), name))
            continue;
        node_name = xstrndup(node, (size_t)(time_of(name) - 1 - node));
        removed(context, node_name, name);
        free(node_name);
    }
    for (size_t i = 0; i < count; i++)
        free(folders[i].name);
    free(folders);
    closedir(listed);
}
