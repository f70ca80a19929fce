// SPDX-License-Identifier: Apache-2.0
#include "os/local_disk.h"

#include <linux/magic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "os/procfs.h"

/* Not in linux/magic.h of every kernel. */
#define MAGIC_BCACHEFS 0xca451a4e
#define MAGIC_EXFAT    0x2011bab0
#define MAGIC_NTFS     0x7366746e
#define MAGIC_XFS      0x58465342
#define MAGIC_ZFS      0x2fc12fc1

/* File systems of this machine's disks and memory (statfs(2)). Their files always answer. */
static const uint32_t local_types[] = {
    BTRFS_SUPER_MAGIC,
    EROFS_SUPER_MAGIC_V1,
    EXT4_SUPER_MAGIC,
    F2FS_SUPER_MAGIC,
    HUGETLBFS_MAGIC,
    ISOFS_SUPER_MAGIC,
    MAGIC_BCACHEFS,
    MAGIC_EXFAT,
    MAGIC_NTFS,
    MAGIC_XFS,
    MAGIC_ZFS,
    MSDOS_SUPER_MAGIC,
    OVERLAYFS_SUPER_MAGIC,
    PIPEFS_MAGIC,
    PROC_SUPER_MAGIC,
    RAMFS_MAGIC,
    SQUASHFS_MAGIC,
    SYSFS_MAGIC,
    TMPFS_MAGIC,
};

bool local_disk_has(int fd)
{
    struct statfs status;

    if (fstatfs(fd, &status))
        return false;
    for (size_t i = 0; i < sizeof(local_types) / sizeof(*local_types); i++)
        if ((uint32_t)status.f_type == local_types[i])
            return true;
    return false;
}

/* ---- by the mount ---- */

bool local_disk_is_type(const char *name, size_t size)
{
    static const char *const types[] = {"bcachefs", "btrfs", "erofs",   "ext2",  "ext3",
                                        "ext4",     "f2fs",  "overlay", "ramfs", "squashfs",
                                        "tmpfs",    "xfs",   "zfs"};

    for (size_t i = 0; i < sizeof(types) / sizeof(*types); i++)
        if (strlen(types[i]) == size && !memcmp(types[i], name, size))
            return true;
    return false;
}

/* Return the id of the mount (proc_pid_fdinfo(5)), or -1. */
static long mount_of(int fd)
{
    char name[32], *text;
    const char *value;
    size_t size;
    long id = -1;

    snprintf(name, sizeof(name), "fdinfo/%d", fd);
    text = procfs_read(getpid(), name, &size);
    value = text ? procfs_value(text, "mnt_id", &size) : NULL;
    if (value)
        id = strtol(value, NULL, 10);
    free(text);
    return id;
}

bool local_disk_has_mount_of(int fd)
{
    long id = mount_of(fd);
    size_t size;
    char *text = procfs_read(getpid(), "mountinfo", &size), *rest = NULL;
    bool is_local = false;

    for (char *line = text ? strtok_r(text, "\n", &rest) : NULL; line && !is_local;
         line = strtok_r(NULL, "\n", &rest)) {
        const char *type = strstr(line, " - ");

        is_local = type && id >= 0 && strtol(line, NULL, 10) == id &&
                   local_disk_is_type(type + 3, strcspn(type + 3, " "));
    }
    free(text);
    return is_local;
}
