// SPDX-License-Identifier: Apache-2.0
#include "os/local_disk.h"

#include <linux/magic.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/vfs.h>

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
