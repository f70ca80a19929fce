// SPDX-License-Identifier: Apache-2.0
#include "cli/kept_segments.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "util/alloc.h"

int kept_segments_file(struct error *error)
{
    int fd = memfd_create("beamflame", MFD_CLOEXEC);

    if (fd < 0)
        error_set(error, ERROR_FAILED, "can't record into memory: %s", strerror(errno));
    return fd;
}

void kept_segments_add(struct kept_segments *segments, const struct kept_segment *segment)
{
    segments->list =
        xgrow(segments->list, &segments->room, segments->count, sizeof(*segments->list));
    segments->list[segments->count++] = *segment;
    segments->bytes += segment->bytes;
}

void kept_segments_drop(struct kept_segments *segments, uint64_t time, uint64_t bytes)
{
    size_t old = 0;

    while (old < segments->count && (segments->list[old].end < time || segments->bytes > bytes)) {
        close(segments->list[old].fd);
        segments->bytes -= segments->list[old++].bytes;
    }
    segments->count -= old;
    memmove(segments->list, segments->list + old, segments->count * sizeof(*segments->list));
}

void kept_segments_free(struct kept_segments *segments)
{
    kept_segments_drop(segments, UINT64_MAX, 0);
    free(segments->list);
    *segments = (struct kept_segments){0};
}
