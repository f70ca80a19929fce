// SPDX-License-Identifier: Apache-2.0
#include "capture/probe_link.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "os/child.h"
#include "os/patience.h"
#include "util/alloc.h"
#include "util/stop.h"

enum { COPIED = 16 }; /* MAX_UINSN_BYTES: it may be on the next page */

struct page_reading {
    char *path;
    int count;
    uint64_t offsets[];
};

static void drop_reading(void *work)
{
    struct page_reading *reading = work;

    free(reading->path);
    free(reading);
}

static void read_pages(void *work)
{
    const struct page_reading *reading = work;
    int fd = open(reading->path, O_RDONLY | O_CLOEXEC);
    char bytes[COPIED];

    if (fd < 0)
        return;
    for (int i = 0; i < reading->count; i++)
        (void)!pread(fd, bytes, sizeof(bytes), (off_t)reading->offsets[i]);
    close(fd);
}

/* Return the pages to read of the first site's file. */
static struct page_reading *reading_of(const struct probe_site *sites, int count)
{
    struct page_reading *reading =
        xcalloc(1, sizeof(*reading) + (size_t)count * sizeof(reading->offsets[0]));

    reading->path = xstrdup(sites[0].path);
    for (int i = 0; i < count; i++)
        if (!strcmp(sites[i].path, sites[0].path))
            reading->offsets[reading->count++] = sites[i].file_offset;
    return reading;
}

static int hangs(const char *path, struct error *error)
{
    char name[PATH_MAX] = "";

    if (stop_is_overdue())
        return error_set(error, ERROR_NO_PROCESS, "the recording ends"); /* that is no refusal */
    if (readlink(path, name, sizeof(name) - 1) < 0)
        name[0] = '\0';
    return error_set(error, ERROR_FAILED, "the file server of %s does not answer",
                     name[0] ? name : path);
}

/* Read what the sites have in the file of the first one. */
static int read_file(const struct probe_site *sites, int count, struct error *error)
{
    struct page_reading *reading = reading_of(sites, count);
    int fd;
    bool is_by_descriptor = sscanf(reading->path, "/proc/self/fd/%d", &fd) == 1;

    if (patience_run_with(&fd, is_by_descriptor, read_pages, drop_reading, reading)) {
        drop_reading(reading);
        return 0;
    }
    if (errno == EAGAIN)
        return error_set(error, ERROR_FAILED, "no thread can be started: " CHILD_ADVICE);
    return hangs(sites[0].path, error);
}

static bool is_first_of_file(const struct probe_site *sites, int i)
{
    for (int j = 0; j < i; j++)
        if (!strcmp(sites[j].path, sites[i].path))
            return false;
    return true;
}

int probe_pages_read(const struct probe_site *sites, int count, struct error *error)
{
    for (int i = 0; i < count; i++)
        if (is_first_of_file(sites, i) && read_file(sites + i, count - i, error))
            return -1;
    return 0;
}
