// SPDX-License-Identifier: Apache-2.0
#include "util/file_place.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "util/alloc.h"
#include "util/temporaries.h"

enum { LINKS_MAX = 16 };

static int cannot_write(const char *path, int code, struct error *error)
{
    return error_set(error, ERROR_FAILED, "can't write %s: %s", path, strerror(code));
}

/* ---- who could have made it ---- */

static bool is_trusted(uid_t owner)
{
    return owner == 0 || owner == geteuid();
}

/* True if only this user and root can make names in the directory. The permissions of an access
 * control list show in those of the group. */
static bool is_private(const struct stat *directory)
{
    return is_trusted(directory->st_uid) && !(directory->st_mode & (S_IWGRP | S_IWOTH));
}

/* True if the file is of a user who has no say in the directory, which many users can write: the
 * rule of may_create_in_sticky() in fs/namei.c, for directories without the sticky bit too. */
static bool is_planted(const struct stat *directory, const struct stat *file)
{
    mode_t shared = directory->st_mode & S_ISVTX ? S_IWGRP | S_IWOTH : S_IWOTH;

    return directory->st_mode & shared && file->st_uid != geteuid() &&
           file->st_uid != directory->st_uid;
}

/* ---- links ---- */

/* The descriptor that the link `name` of /proc/self/fd stands for; -1 if it is no such link. */
static int own_descriptor(const struct stat *directory, const char *name)
{
    struct stat own;

    if (!isdigit((unsigned char)name[0]) || stat("/proc/self/fd", &own) ||
        own.st_dev != directory->st_dev || own.st_ino != directory->st_ino)
        return -1;
    return (int)strtol(name, NULL, 10);
}

/* Open the directory of `path`, relative to `from`. Set the last name, which is part of `path`. */
static int open_directory(int from, char *path, const char **ret_name)
{
    char *slash = strrchr(path, '/');
    int directory;

    *ret_name = slash ? slash + 1 : path;
    if (!slash)
        return openat(from, ".", O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (slash == path)
        return open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
    *slash = '\0';
    directory = openat(from, path, O_PATH | O_DIRECTORY | O_CLOEXEC);
    *slash = '/';
    return directory;
}

/* Look at one name: 0 if the place is found, 1 with the text of a link to follow, -1 with errno,
 * -2 if the link may not be followed. */
static int look(struct file_place *place, char *ret_target)
{
    struct stat directory;
    ssize_t size;

    if (!place->name[0] || fstat(place->directory, &directory)) {
        errno = place->name[0] ? errno : EISDIR;
        return -1;
    }
    place->exists = fstatat(place->directory, place->name, &place->old, AT_SYMLINK_NOFOLLOW) == 0;
    if (!place->exists)
        return errno == ENOENT ? 0 : -1;
    if (!S_ISLNK(place->old.st_mode))
        return 0;
    place->own = own_descriptor(&directory, place->name);
    if (place->own >= 0)
        return 0;
    if (!is_trusted(place->old.st_uid) || !is_private(&directory))
        return -2;
    size = readlinkat(place->directory, place->name, ret_target, PATH_MAX - 1);
    if (size <= 0)
        return -1;
    ret_target[size] = '\0';
    return 1;
}

/* Follow the path to its last name that is no link. Return as look(). */
static int find(const char *path, struct file_place *place)
{
    char target[PATH_MAX], *rest = xstrdup(path);
    int found = 1;

    for (int links = 0; found > 0; links++) {
        const char *name = "";
        int from = place->directory;

        errno = ELOOP;
        place->directory = links < LINKS_MAX ? open_directory(from, rest, &name) : -1;
        if (from >= 0)
            close(from);
        if (place->directory < 0) {
            found = -1;
            break;
        }
        free(place->name);
        place->name = xstrdup(name);
        found = look(place, target);
        free(rest);
        rest = found > 0 ? xstrdup(target) : NULL;
    }
    free(rest);
    return found;
}

static int check_found(const struct file_place *place, const char *path, struct error *error)
{
    struct stat directory;

    if (!place->exists || place->own >= 0)
        return 0;
    if (S_ISDIR(place->old.st_mode))
        return cannot_write(path, EISDIR, error);
    if (fstat(place->directory, &directory))
        return cannot_write(path, errno, error);
    if (is_planted(&directory, &place->old))
        return error_set(error, ERROR_FAILED,
                         "%s belongs to another user, in a folder that others can write: choose "
                         "another name or folder",
                         path);
    return 0;
}

int file_place_open(const char *path, struct file_place *place, struct error *error)
{
    int found, code;

    *place = (struct file_place){.directory = AT_FDCWD, .own = -1};
    found = find(path, place);
    code = errno;
    if (found == 0 && check_found(place, path, error) == 0) {
        place->in_place = place->own >= 0 || (place->exists && !S_ISREG(place->old.st_mode));
        return 0;
    }
    if (found == -2)
        error_set(error, ERROR_FAILED,
                  "%s is a symbolic link that another user may have made: name the file itself, or "
                  "a file in a folder that only you can write",
                  path);
    else if (found < 0)
        cannot_write(path, code, error);
    file_place_close(place);
    return -1;
}

void file_place_close(struct file_place *place)
{
    if (place->directory >= 0)
        close(place->directory);
    free(place->name);
    *place = (struct file_place){.directory = -1, .own = -1};
}

/* ---- files ---- */

/* Let the file have the owner, the group and the mode of the one that it will replace. Where they
 * can't be had, nobody gets more rights than before. */
static void take_over(int fd, const struct stat *old)
{
    mode_t mode = old->st_mode & (S_IRWXU | S_IRWXG | S_IRWXO);
    struct stat own;

    if (fstat(fd, &own))
        return;
    if ((own.st_uid != old->st_uid || own.st_gid != old->st_gid) &&
        fchown(fd, old->st_uid, old->st_gid) && fchown(fd, (uid_t)-1, old->st_gid))
        mode &= (mode_t)~S_IRWXG;
    (void)fchmod(fd, mode);
}

/* Create a temporary file and remember it, with no signal between. */
static int create(const struct file_place *place, const char *name, int flags, mode_t mode)
{
    sigset_t every, before;
    int fd, code;

    sigfillset(&every);
    pthread_sigmask(SIG_SETMASK, &every, &before);
    fd = openat(place->directory, name, flags | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);
    code = errno;
    if (fd >= 0)
        temporaries_add(place->directory, name);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    errno = code;
    return fd;
}

int file_place_create(const struct file_place *place, int flags, char **ret_temporary)
{
    bool replaces = place->exists && S_ISREG(place->old.st_mode);
    char *temporary = NULL;
    int fd = -1;

    for (int attempt = 0; attempt < 100; attempt++) {
        temporary = temporaries_new_name(place->name);
        fd = create(place, temporary, flags, replaces ? 0600 : 0666);
        if (fd >= 0 || errno != EEXIST)
            break;
        free(temporary);
        temporary = NULL;
    }
    if (fd < 0) {
        free(temporary);
        return -1;
    }
    flock(fd, LOCK_EX | LOCK_NB); /* marks it as in use; some file systems cannot */
    if (replaces)
        take_over(fd, &place->old);
    *ret_temporary = temporary;
    return fd;
}

void file_place_clean(const struct file_place *place)
{
    temporaries_remove_leftovers(place->directory, place->name);
}

int file_place_publish(const struct file_place *place, const char *temporary)
{
    if (renameat(place->directory, temporary, place->directory, place->name))
        return -1;
    temporaries_forget(place->directory, temporary);
    return 0;
}

void file_place_remove(const struct file_place *place, const char *temporary)
{
    unlinkat(place->directory, temporary, 0);
    temporaries_forget(place->directory, temporary);
}

bool file_place_has(const struct file_place *place, int fd)
{
    struct stat file, named;

    return fstat(fd, &file) == 0 &&
           fstatat(place->directory, place->name, &named, AT_SYMLINK_NOFOLLOW) == 0 &&
           file.st_dev == named.st_dev && file.st_ino == named.st_ino;
}

/* Check that what was opened is what was looked at. Return `fd`, or -1 with errno. */
static int same(const struct file_place *place, int fd)
{
    struct stat status;

    if (fd < 0 || (fstat(fd, &status) == 0 && status.st_dev == place->old.st_dev &&
                   status.st_ino == place->old.st_ino))
        return fd;
    close(fd);
    errno = ESTALE;
    return -1;
}

static int open_in_place(const struct file_place *place, int flags)
{
    if (place->own >= 0)
        return fcntl(place->own, F_DUPFD_CLOEXEC, 3);
    return same(place, openat(place->directory, place->name,
                              flags | O_WRONLY | O_NOFOLLOW | O_NOCTTY | O_CLOEXEC));
}

int file_place_write_in_place(const struct file_place *place)
{
    return open_in_place(place, 0);
}

/* A file of another place that got a second name in a shared directory must not grow. */
static bool has_other_names(const struct file_place *place)
{
    struct stat directory;

    return place->exists && S_ISREG(place->old.st_mode) && place->old.st_nlink > 1 &&
           (fstat(place->directory, &directory) || !is_private(&directory));
}

int file_place_append(const char *path, struct error *error)
{
    struct file_place place;
    int fd = -1;

    if (file_place_open(path, &place, error))
        return -1;
    if (has_other_names(&place))
        errno = EMLINK;
    else if (place.in_place)
        fd = open_in_place(&place, O_NONBLOCK);
    else if (place.exists)
        fd = same(&place, openat(place.directory, place.name,
                                 O_WRONLY | O_APPEND | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
    else
        fd = openat(place.directory, place.name,
                    O_WRONLY | O_APPEND | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644);
    if (fd < 0)
        cannot_write(path, errno, error);
    file_place_close(&place);
    return fd;
}
