// SPDX-License-Identifier: Apache-2.0
#include "cli/kept_parts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "util/alloc.h"

int kept_parts_file(struct error *error)
{
    int fd = memfd_create("beamflame", MFD_CLOEXEC);

    if (fd < 0)
        error_set(error, ERROR_FAILED, "can't record into memory: %s", strerror(errno));
    return fd;
}

void kept_parts_add(struct kept_parts *parts, const struct kept_part *part)
{
    parts->list = xgrow(parts->list, &parts->room, parts->count, sizeof(*parts->list));
    parts->list[parts->count++] = *part;
    parts->bytes += part->bytes;
}

void kept_parts_drop(struct kept_parts *parts, uint64_t time, uint64_t bytes)
{
    size_t old = 0;

    while (old < parts->count && (parts->list[old].end < time || parts->bytes > bytes)) {
        close(parts->list[old].fd);
        parts->bytes -= parts->list[old++].bytes;
    }
    parts->count -= old;
    memmove(parts->list, parts->list + old, parts->count * sizeof(*parts->list));
}

void kept_parts_free(struct kept_parts *parts)
{
    kept_parts_drop(parts, UINT64_MAX, 0);
    free(parts->list);
    *parts = (struct kept_parts){0};
}
