// SPDX-License-Identifier: Apache-2.0
#include "util/read_at.h"

#include <errno.h>
#include <unistd.h>

size_t read_at(int fd, uint64_t offset, void *buffer, size_t size)
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

int write_all(int fd, const void *data, size_t size)
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
