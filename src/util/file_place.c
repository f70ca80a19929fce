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
#include "util/folder.h"
#include "util/temporaries.h"

enum { LINKS_MAX = 16, REFUSED = -2, REFUSED_FOLDER = -3 };

static int cannot_write(const char *path, int code, struct error *error)
{
    return error_set(error, ERROR_FAILED, "can't write %s: %s", path, folder_problem(code));
}

/* True if many users can write to the directory, and the file belongs to a user who does not own
 * the directory. This is the rule of may_create_in_sticky() in fs/namei.c, applied to directories
 * without the sticky bit too. */
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

/* Return the text before the last name of a path, to be freed: "." for the working directory. */
static char *folder_of(const char *path)
{
    const char *slash = strrchr(path, '/');

    if (!slash)
        return xstrdup(".");
    return slash == path ? xstrdup("/") : xstrndup(path, (size_t)(slash - path));
}

/* Open the directory of `path`, relative to `from`. Set the last name, which is part of `path`. As
 * folder_open(). */
static int open_directory(int from, const char *path, const char **ret_name, char **ret_refused)
{
    const char *slash = strrchr(path, '/');
    char *folder = folder_of(path);
    int directory = folder_open(from, folder, ret_refused), code = errno;

    free(folder);
    *ret_name = slash ? slash + 1 : path;
    errno = code;
    return directory;
}

/* Look at one name: 0 if the place is found, 1 with the text of a link to follow, -1 with errno,
 * REFUSED if the link may not be followed. */
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
    if (!folder_trusts(place->old.st_uid) || !folder_is_private(&directory))
        return REFUSED;
    size = readlinkat(place->directory, place->name, ret_target, PATH_MAX - 1);
    if (size <= 0)
        return -1;
    ret_target[size] = '\0';
    return 1;
}

/* Follow the path to its last name that is no link. Return as look(), or REFUSED_FOLDER if a link
 * before the last name may not be followed: *ret_refused, to be freed. */
static int find(const char *path, struct file_place *place, char **ret_refused)
{
    char target[PATH_MAX], *rest = xstrdup(path);
    int found = 1;

    for (int links = 0; found > 0; links++) {
        const char *name = "";
        int from = place->directory;

        errno = ELOOP;
        place->directory = links < LINKS_MAX ? open_directory(from, rest, &name, ret_refused) : -1;
        if (from >= 0)
            close(from);
        if (place->directory < 0) {
            found = *ret_refused ? REFUSED_FOLDER : -1;
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
    char *refused = NULL;
    int found, code;

    *place = (struct file_place){.directory = AT_FDCWD, .own = -1};
    found = find(path, place, &refused);
    code = errno;
    if (found == 0 && check_found(place, path, error) == 0) {
        place->in_place = place->own >= 0 || (place->exists && !S_ISREG(place->old.st_mode));
        return 0;
    }
    if (found == REFUSED_FOLDER)
        error_set(
            error, ERROR_FAILED,
            "%s leads through '%s', a symbolic link that another user may have made: name the "
            "folder itself",
            path, refused);
    else if (found == REFUSED)
        error_set(error, ERROR_FAILED,
                  "%s is a symbolic link that another user may have made: name the file itself, or "
                  "a file in a folder that only you can write",
                  path);
    else if (found < 0)
        cannot_write(path, code, error);
    free(refused);
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

/* ---- by path ---- */

int file_place_folder(const char *path, char **ret_refused)
{
    const char *name;

    return open_directory(AT_FDCWD, path, &name, ret_refused);
}

/* The same, with errno alone. */
static int open_folder(const char *path, const char **ret_name)
{
    char *refused = NULL;
    int directory = open_directory(AT_FDCWD, path, ret_name, &refused), code = errno;

    free(refused);
    errno = code;
    return directory;
}

int file_place_rename(const char *from, const char *to)
{
    const char *old_name, *name;
    int old = open_folder(from, &old_name), new = old < 0 ? -1 : open_folder(to, &name);
    int result = new < 0 ? -1 : renameat(old, old_name, new, name), code = errno;

    if (old >= 0)
        close(old);
    if (new >= 0)
        close(new);
    errno = code;
    return result;
}

int file_place_unlink(const char *path)
{
    const char *name;
    int directory = open_folder(path, &name);
    int result = directory < 0 ? -1 : unlinkat(directory, name, 0), code = errno;

    if (directory >= 0)
        close(directory);
    errno = code;
    return result;
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
static int create(const struct file_place *place, const char *name, int flags)
{
    sigset_t every, before;
    int fd, code;

    sigfillset(&every);
    pthread_sigmask(SIG_SETMASK, &every, &before);
    fd = openat(place->directory, name, flags | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    code = errno;
    if (fd >= 0)
        temporaries_add(place->directory, name, fd);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    errno = code;
    return fd;
}

int file_place_create(const struct file_place *place, int flags, char **ret_temporary)
{
    char *temporary = NULL;
    int fd = -1;

    for (int attempt = 0; attempt < 100; attempt++) {
        temporary = temporaries_new_name(place->name);
        fd = create(place, temporary, flags);
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
    *ret_temporary = temporary;
    return fd;
}

void file_place_clean(const struct file_place *place)
{
    temporaries_remove_leftovers(place->directory, place->name);
}

void file_place_open_up(int fd)
{
    mode_t mask = umask(077);

    umask(mask);
    (void)fchmod(fd, 0666 & ~mask);
}

/* Let others see the file. In a folder that others can write, another file may have got its
 * name. */
static int open_up(const struct file_place *place, const char *temporary)
{
    int fd = openat(place->directory, temporary, O_WRONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);

    if (fd < 0)
        return -1;
    if (!temporaries_is(place->directory, temporary, fd)) {
        close(fd);
        errno = ESTALE;
        return -1;
    }
    if (place->exists && S_ISREG(place->old.st_mode))
        take_over(fd, &place->old);
    else
        file_place_open_up(fd);
    close(fd);
    return 0;
}

int file_place_publish(const struct file_place *place, const char *temporary)
{
    if (open_up(place, temporary) ||
        renameat(place->directory, temporary, place->directory, place->name))
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

/* Check that the opened file is the one that was examined. Return `fd`, or -1 with errno. */
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
           (fstat(place->directory, &directory) || !folder_is_private(&directory));
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
