// SPDX-License-Identifier: Apache-2.0
#include "util/disk_room.h"

#include <errno.h>
#include <linux/magic.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/sysinfo.h>

static const uint64_t KEPT_MAX = 1000000000, KEPT_PART = 20, MEMORY_PART = 4;

/* The bytes that may be written before the next look: part of what is left, because other programs
 * write too. */
static const uint64_t LOOK_PART = 4, LOOK_MAX = 64u << 20;

static uint64_t smaller(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* A file that is only in memory (memfd_create) is on a tmpfs without a size. Its limit is the size
 * that it may have. */
static bool look_at_memory(struct disk_room *room, int fd, uint64_t *ret_free)
{
    struct sysinfo machine;
    struct stat status;
    uint64_t limit;

    if (sysinfo(&machine) || fstat(fd, &status))
        return false;
    limit = (uint64_t)machine.totalram * machine.mem_unit / MEMORY_PART;
    *ret_free = limit - smaller(limit, (uint64_t)status.st_size);
    room->kept = 0;
    return true;
}

static bool look_at_disk(struct disk_room *room, const struct statfs *disk, uint64_t *ret_free)
{
    uint64_t block = (uint64_t)disk->f_bsize;

    *ret_free = (uint64_t)disk->f_bavail * block;
    if (room->state == ROOM_UNKNOWN)
        room->kept =
            smaller(smaller((uint64_t)disk->f_blocks * block / KEPT_PART, KEPT_MAX), *ret_free / 2);
    return disk->f_blocks && room->kept;
}

/* Look how much is free; false if there is no limit. */
static bool look(struct disk_room *room, int fd, uint64_t *ret_free)
{
    struct statfs disk;
    struct stat status;

    if (fstat(fd, &status) || !S_ISREG(status.st_mode) || fstatfs(fd, &disk))
        return false;
    return disk.f_type == TMPFS_MAGIC && !disk.f_blocks ? look_at_memory(room, fd, ret_free)
                                                        : look_at_disk(room, &disk, ret_free);
}

int disk_room_take(struct disk_room *room, int fd, size_t size)
{
    uint64_t available;

    if (room->state == ROOM_UNLIMITED)
        return 0;
    if (room->left < size) {
        if (!look(room, fd, &available)) {
            room->state = ROOM_UNLIMITED;
            return 0;
        }
        room->state = ROOM_LIMITED;
        if (available < room->kept || available - room->kept < size)
            return -1;
        room->left = smaller((available - room->kept) / LOOK_PART, LOOK_MAX);
        if (room->left < size)
            room->left = size;
    }
    room->left -= size;
    return 0;
}

int disk_room_error(const struct disk_room *room, const char *what, struct error *error)
{
    static const char *const units[] = {"B", "kB", "MB", "GB"};
    double kept = (double)room->kept;
    int unit = 0;

    if (!room->kept)
        return error_set(error, ERROR_FAILED, "%s: it would take more than a quarter of the memory",
                         what);
    for (; kept >= 1000 && unit < 3; unit++)
        kept /= 1000;
    return error_set(error, ERROR_FAILED,
                     "%s: %s, except %.1f %s that stay free for other programs", what,
                     strerror(ENOSPC), kept, units[unit]);
}
