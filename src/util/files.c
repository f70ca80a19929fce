// SPDX-License-Identifier: Apache-2.0
#include "util/files.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

int files_open_regular(const char *path, struct error *error)
{
    struct stat status;
    int fd = -1;

    if (stat(path, &status) == 0 && !S_ISREG(status.st_mode))
        return error_set(error, ERROR_FAILED, "'%s' is not a regular file", path);
    fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (fd >= 0 && fstat(fd, &status) == 0 && S_ISREG(status.st_mode))
        return fd;
    error_set(error, ERROR_FAILED, "can't read '%s': %s", path,
              fd < 0 ? strerror(errno) : "it is not a regular file");
    if (fd >= 0)
        close(fd);
    return -1;
}

/* The user who ran sudo, or this user. */
static uid_t invoking_user(void)
{
    const char *text = geteuid() == 0 ? getenv("SUDO_UID") : NULL;

    return text && isdigit((unsigned char)*text) ? (uid_t)strtoul(text, NULL, 10) : geteuid();
}

bool files_is_own(int directory, const char *name)
{
    struct stat status;

    return fstatat(directory, name, &status, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(status.st_mode) &&
           (status.st_uid == geteuid() || status.st_uid == invoking_user());
}

static bool is_locked(int directory, const char *name)
{
    int fd = openat(directory, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    bool locked = fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) != 0;

    if (fd >= 0)
        close(fd);
    return locked;
}

void files_remove_own(int directory, const char *name)
{
    if (files_is_own(directory, name))
        unlinkat(directory, name, 0);
}

void files_remove_unlocked(int directory, const char *name)
{
    if (!is_locked(directory, name))
        files_remove_own(directory, name);
}

size_t files_read_at(int fd, uint64_t offset, void *buffer, size_t size)
{
    size_t done = 0;

    while (done < size) {
        ssize_t got = pread(fd, (char *)buffer + done, size - done, (off_t)(offset + done));

        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            break;
        done += (size_t)got;
    }
    return done;
}

int files_write_all(int fd, const void *data, size_t size)
{
    for (const char *at = data; size;) {
        ssize_t written = write(fd, at, size);

        if (written < 0 && errno == EINTR)
            continue;
        if (written <= 0)
            return -1;
        at += written;
        size -= (size_t)written;
    }
    return 0;
}
