// SPDX-License-Identifier: Apache-2.0
#include "util/own_file.h"

#include <ctype.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

/* The user who ran sudo, or this user. */
static uid_t invoking_user(void)
{
    const char *text = geteuid() == 0 ? getenv("SUDO_UID") : NULL;

    return text && isdigit((unsigned char)*text) ? (uid_t)strtoul(text, NULL, 10) : geteuid();
}

bool own_file_is(int directory, const char *name)
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

void own_file_remove(int directory, const char *name)
{
    if (own_file_is(directory, name) && !is_locked(directory, name))
        unlinkat(directory, name, 0);
}
