// SPDX-License-Identifier: Apache-2.0
#include "os/fence.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/landlock.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "util/alloc.h"
#include "util/file_place.h"

/* Newer than some headers (include/uapi/linux/landlock.h). */
enum { ACCESS_REFER = 1 << 13, ACCESS_TRUNCATE = 1 << 14, ACCESS_IOCTL = 1 << 15 };

enum {
    ACCESS_READ = LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR,
    ACCESS_WRITE = LANDLOCK_ACCESS_FS_WRITE_FILE | LANDLOCK_ACCESS_FS_REMOVE_DIR |
                   LANDLOCK_ACCESS_FS_REMOVE_FILE | LANDLOCK_ACCESS_FS_MAKE_DIR |
                   LANDLOCK_ACCESS_FS_MAKE_REG | LANDLOCK_ACCESS_FS_MAKE_SYM,
    ACCESS_REST = LANDLOCK_ACCESS_FS_EXECUTE | LANDLOCK_ACCESS_FS_MAKE_CHAR |
                  LANDLOCK_ACCESS_FS_MAKE_SOCK | LANDLOCK_ACCESS_FS_MAKE_FIFO |
                  LANDLOCK_ACCESS_FS_MAKE_BLOCK,
    /* The rights that a rule for a file, as opposed to a directory, may have. */
    ACCESS_FILE = LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_WRITE_FILE | ACCESS_TRUNCATE |
                  ACCESS_IOCTL,
};

struct file_fence {
    int rules;
    uint64_t handled; /* kinds of access that this kernel knows */
};

/* The kinds of access that came with each version of the kernel's interface. */
static uint64_t handled_by(long version)
{
    return ACCESS_READ | ACCESS_WRITE | ACCESS_REST | (version >= 2 ? ACCESS_REFER : 0) |
           (version >= 3 ? ACCESS_TRUNCATE : 0) | (version >= 5 ? ACCESS_IOCTL : 0);
}

struct file_fence *file_fence_new(void)
{
    long version = syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION);
    struct landlock_ruleset_attr attributes = {0};
    struct file_fence *fence;
    int rules;

    if (version < 1)
        return NULL;
    attributes.handled_access_fs = handled_by(version);
    rules = (int)syscall(SYS_landlock_create_ruleset, &attributes,
                         sizeof(attributes.handled_access_fs), 0);
    if (rules < 0)
        return NULL;
    fence = xcalloc(1, sizeof(*fence));
    *fence = (struct file_fence){rules, attributes.handled_access_fs};
    return fence;
}

void file_fence_free(struct file_fence *fence)
{
    if (!fence)
        return;
    close(fence->rules);
    free(fence);
}

static void permit(struct file_fence *fence, int fd, uint64_t access)
{
    struct landlock_path_beneath_attr rule = {.parent_fd = fd};
    struct stat status;

    rule.allowed_access = access & fence->handled;
    if (fstat(fd, &status) == 0 && !S_ISDIR(status.st_mode))
        rule.allowed_access &= ACCESS_FILE;
    syscall(SYS_landlock_add_rule, fence->rules, LANDLOCK_RULE_PATH_BENEATH, &rule, 0);
}

static void permit_path(struct file_fence *fence, const char *path, uint64_t access)
{
    int fd = fence && path ? open(path, O_PATH | O_CLOEXEC) : -1;

    if (fd < 0)
        return;
    permit(fence, fd, access);
    close(fd);
}

void file_fence_read(struct file_fence *fence, const char *path)
{
    permit_path(fence, path, ACCESS_READ);
}

/* Permit to read in the directory of a path. `path` is cut. */
static void permit_directory(struct file_fence *fence, char *path)
{
    char *slash = strrchr(path, '/');

    if (!slash || slash == path)
        return; /* not all of the root */
    *slash = '\0';
    permit_path(fence, path, ACCESS_READ);
}

void file_fence_read_beside(struct file_fence *fence, const char *path)
{
    char *own = path ? xstrdup(path) : NULL, *real = path ? realpath(path, NULL) : NULL;

    file_fence_read(fence, path);
    if (own)
        permit_directory(fence, own);
    if (real)
        permit_directory(fence, real);
    free(own);
    free(real);
}

static const uint64_t ACCESS_ALL = ACCESS_READ | ACCESS_WRITE | ACCESS_REFER | ACCESS_TRUNCATE;

void file_fence_write_in(struct file_fence *fence, const char *directory)
{
    permit_path(fence, directory, ACCESS_ALL);
}

void file_fence_write_beside(struct file_fence *fence, const char *path)
{
    char *refused = NULL;
    int directory = fence ? file_place_folder(path, &refused) : -1;

    free(refused);
    if (directory < 0)
        return;
    permit(fence, directory, ACCESS_ALL);
    close(directory);
}

void file_fence_write(struct file_fence *fence, const char *path)
{
    struct file_place place;
    struct error ignored; /* who writes the file gets the error again */

    if (!fence || file_place_open(path, &place, &ignored))
        return;
    if (place.directory >= 0)
        permit(fence, place.directory, ACCESS_ALL);
    file_place_close(&place);
}

int file_fence_close(const struct file_fence *fence)
{
    if (fence)
        return (int)syscall(SYS_landlock_restrict_self, fence->rules, 0);
    errno = ENOSYS;
    return -1;
}
