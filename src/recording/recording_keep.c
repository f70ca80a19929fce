// SPDX-License-Identifier: Apache-2.0
#include "recording/recording_keep.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "os/fence.h"
#include "util/alloc.h"
#include "util/file_place.h"
#include "util/files.h"
#include "util/folder.h"
#include "util/random.h"

enum { NAMES_MAX = 100 };

bool recording_keep_is_at(const char *path, int fd)
{
    struct file_place place;
    struct error ignored;
    bool is_there;

    if (file_place_open(path, &place, &ignored))
        return false;
    is_there = file_place_has(&place, fd);
    file_place_close(&place);
    return is_there;
}

void recording_keep_remove_empty(const char *path)
{
    struct file_place place;
    struct error ignored;

    if (file_place_open(path, &place, &ignored))
        return;
    if (place.exists && S_ISREG(place.old.st_mode) && !place.old.st_size)
        unlinkat(place.directory, place.name, 0);
    file_place_close(&place);
}

/* Copy all bytes to the file, which is closed. Return 0, or -1 with errno. */
static int copy_to(int copy, int fd)
{
    static char block[1 << 16];
    size_t got;
    uint64_t at = 0;
    int failed = 0;

    while (!failed && (got = files_read_at(fd, at, block, sizeof(block))) > 0) {
        failed = files_write_all(copy, block, got);
        at += got;
    }
    if (!failed)
        return close(copy);
    failed = errno;
    close(copy);
    errno = failed;
    return -1;
}

/* Give the recording a name in the directory. Link its own file if it has no name and can get one
 * (O_TMPFILE): that needs no space. Else copy it. Return 0, or -1 with errno. */
static int name_it(int fd, int directory, const char *name)
{
    char self[32];
    int copy, code;

    snprintf(self, sizeof(self), "/proc/self/fd/%d", fd);
    if (linkat(AT_FDCWD, self, directory, name, AT_SYMLINK_FOLLOW) == 0)
        return 0;
    if (errno == EEXIST)
        return -1;
    copy = openat(directory, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (copy < 0)
        return -1;
    if (copy_to(copy, fd) == 0)
        return 0;
    code = errno;
    unlinkat(directory, name, 0);
    errno = code;
    return -1;
}

/* Return a name that no other user can take in advance. */
static char *new_name(void)
{
    time_t now = time(NULL);
    char moment[32];
    struct tm utc;

    strftime(moment, sizeof(moment), "%Y%m%d-%H%M%S", gmtime_r(&now, &utc));
    return xasprintf("beamflame-%d-%s-%016llx.bfr", (int)getpid(), moment,
                     (unsigned long long)random_word());
}

/* Return the path, or NULL with errno. */
static char *keep_in(int fd, const char *path)
{
    char *refused = NULL, *name = NULL, *kept = NULL;
    int directory = folder_open(AT_FDCWD, path, &refused), failed = -1, code = errno;

    free(refused);
    errno = code;
    if (directory < 0)
        return NULL;
    for (int attempt = 0; attempt < NAMES_MAX; attempt++) {
        free(name);
        name = new_name();
        failed = name_it(fd, directory, name);
        if (!failed || errno != EEXIST)
            break;
    }
    code = errno;
    if (!failed)
        kept = xasprintf("%s/%s", path, name);
    free(name);
    close(directory);
    errno = code;
    return kept;
}

void recording_keep_permit_places(struct file_fence *fence, const char *directory)
{
    const char *const directories[] = RECORDING_PLACES(directory);

    for (size_t i = 0; i < sizeof(directories) / sizeof(*directories); i++)
        file_fence_write_in(fence, directories[i]);
}

char *recording_keep(int fd, const char *directory, struct error *error)
{
    const char *const directories[] = RECORDING_PLACES(directory);
    char *kept = NULL;
    int code = 0;

    for (size_t i = 0; i < sizeof(directories) / sizeof(*directories) && !kept; i++) {
        kept = keep_in(fd, directories[i]);
        if (!kept && !i)
            code = errno;
    }
    if (!kept)
        error_set(error, ERROR_FAILED,
                  "the recording is lost: it can't be kept in %s, /var/tmp or /tmp either: %s",
                  directory, strerror(code));
    return kept;
}
