// SPDX-License-Identifier: Apache-2.0
#include "util/folder.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "util/alloc.h"

enum { LINKS_MAX = 40 /* as of the kernel */ };

#define OPEN_FOLDER (O_PATH | O_DIRECTORY | O_CLOEXEC)

bool folder_trusts(uid_t owner)
{
    return owner == 0 || owner == geteuid();
}

static bool others_write(const struct stat *folder)
{
    return folder->st_mode & (S_IWGRP | S_IWOTH);
}

bool folder_is_private(const struct stat *folder)
{
    return folder_trusts(folder->st_uid) && !others_write(folder);
}

/* ---- the path, name by name ---- */

struct walk {
    int at;     /* the folder so far */
    char *rest; /* of the path */
    int links;
    char *refused;
};

static bool may_follow(const struct stat *folder, const struct stat *link)
{
    return folder_trusts(link->st_uid) || (link->st_uid == folder->st_uid && !others_write(folder));
}

/* Go to the folder, which the walk then owns. False if it is -1. */
static bool go_to(struct walk *walk, int folder)
{
    if (folder < 0)
        return false;
    close(walk->at);
    walk->at = folder;
    return true;
}

/* Put the text of the link before the rest of the path. */
static bool put_target(struct walk *walk, int link)
{
    char target[PATH_MAX], *rest;
    ssize_t size = readlinkat(link, "", target, sizeof(target) - 1);

    if (size <= 0) {
        errno = size ? errno : ENOENT;
        return false;
    }
    target[size] = '\0';
    rest = xasprintf("%s/%s", target, walk->rest);
    free(walk->rest);
    walk->rest = rest;
    return target[0] != '/' || go_to(walk, open("/", OPEN_FOLDER));
}

/* A link of /proc can lead where its text does not (/proc/PID/root). */
static bool is_of_kernel(int link)
{
    struct statfs status;

    return fstatfs(link, &status) == 0 && status.f_type == PROC_SUPER_MAGIC;
}

static bool follow(struct walk *walk, const char *name, int link)
{
    struct stat folder, status;

    if (fstat(walk->at, &folder) || fstat(link, &status))
        return false;
    errno = ENOTDIR;
    if (!S_ISLNK(status.st_mode))
        return false;
    errno = ELOOP;
    if (walk->links++ == LINKS_MAX)
        return false;
    if (!may_follow(&folder, &status)) {
        walk->refused = xstrdup(name);
        errno = EPERM;
        return false;
    }
    return is_of_kernel(link) ? go_to(walk, openat(walk->at, name, OPEN_FOLDER))
                              : put_target(walk, link);
}

/* Go to the folder `name`. With O_DIRECTORY an automounter mounts it, too. */
static bool enter(struct walk *walk, const char *name)
{
    int fd = openat(walk->at, name, OPEN_FOLDER | O_NOFOLLOW), code;
    bool followed;

    if (fd >= 0 || (errno != ENOTDIR && errno != ELOOP))
        return go_to(walk, fd);
    fd = openat(walk->at, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0)
        return false;
    followed = follow(walk, name, fd);
    code = errno;
    close(fd);
    errno = code;
    return followed;
}

/* Take the next name of the path; NULL at its end. To be freed. */
static char *take_name(struct walk *walk)
{
    const char *start = walk->rest + strspn(walk->rest, "/");
    size_t size = strcspn(start, "/");
    char *name = size ? xstrndup(start, size) : NULL;

    memmove(walk->rest, start + size, strlen(start + size) + 1);
    return name;
}

static int walk_to(int from, const char *path, char **ret_refused)
{
    struct walk walk = {.at = openat(from, path[0] == '/' ? "/" : ".", OPEN_FOLDER)};
    bool found = walk.at >= 0;
    char *name;
    int code;

    walk.rest = xstrdup(path);
    while (found && (name = take_name(&walk))) {
        found = enter(&walk, name);
        code = errno;
        free(name);
        errno = code;
    }
    code = errno;
    if (!found && walk.at >= 0)
        close(walk.at);
    free(walk.rest);
    *ret_refused = walk.refused;
    errno = code;
    return found ? walk.at : -1;
}

/* ---- held folders ---- */

static struct held {
    char *path;
    int fd, references;
} * held;
static size_t held_count;

static struct held *find_held(const char *path)
{
    for (size_t i = 0; i < held_count; i++)
        if (!strcmp(held[i].path, path))
            return &held[i];
    return NULL;
}

int folder_hold(const char *path)
{
    struct held *known = find_held(path);
    char *refused = NULL;
    int fd;

    if (known) {
        known->references++;
        return known->fd;
    }
    fd = walk_to(AT_FDCWD, path, &refused);
    free(refused);
    if (fd < 0)
        return -1;
    held = xreallocarray(held, held_count + 1, sizeof(*held));
    held[held_count++] = (struct held){xstrdup(path), fd, 1};
    return fd;
}

void folder_release(const char *path)
{
    struct held *known = find_held(path);

    if (!known || --known->references)
        return;
    close(known->fd);
    free(known->path);
    *known = held[--held_count];
}

size_t folders_held(int *fds)
{
    for (size_t i = 0; fds && i < held_count; i++)
        fds[i] = held[i].fd;
    return held_count;
}

static bool is_same(int a, int b)
{
    struct stat one, other;

    return fstat(a, &one) == 0 && fstat(b, &other) == 0 && one.st_dev == other.st_dev &&
           one.st_ino == other.st_ino;
}

/* Takes over `now`, where the path leads now. */
static int check_held(const struct held *known, int now)
{
    bool same = now >= 0 && is_same(known->fd, now);

    if (now >= 0)
        close(now);
    errno = ESTALE;
    return same ? fcntl(known->fd, F_DUPFD_CLOEXEC, 3) : -1;
}

int folder_open(int from, const char *path, char **ret_refused)
{
    const struct held *known = from == AT_FDCWD ? find_held(path) : NULL;
    int fd = walk_to(from, path, ret_refused);

    if (!known)
        return fd;
    free(*ret_refused);
    *ret_refused = NULL;
    return check_held(known, fd);
}

const char *folder_problem(int code)
{
    return code == ESTALE ? "its folder was removed or replaced meanwhile" : strerror(code);
}
