// SPDX-License-Identifier: Apache-2.0
#include <stdlib.h>
#include <string.h>

#include "replay_capture.h"
#include "util/alloc.h"

struct replay_log {
    struct memory memory;
    struct memory *under;
    struct image_run *reads; /* in the order of the calls */
    size_t count, room;
};

static bool log_read(struct memory *memory, uint64_t address, void *buffer, size_t size)
{
    struct replay_log *log = (struct replay_log *)memory;

    if (!memory_read(log->under, address, buffer, size))
        return false;
    if (log->count == log->room) {
        log->room = log->room ? log->room * 2 : 1024;
        log->reads = xreallocarray(log->reads, log->room, sizeof(*log->reads));
    }
    log->reads[log->count] = (struct image_run){.at = address};
    buffer_put(&log->reads[log->count++].bytes, buffer, size);
    return true;
}

void replay_log_clear(struct replay_log *log)
{
    for (size_t i = 0; i < log->count; i++)
        buffer_free(&log->reads[i].bytes);
    log->count = 0;
}

static void log_free(struct memory *memory)
{
    struct replay_log *log = (struct replay_log *)memory;

    replay_log_clear(log);
    free(log->reads);
    memory_free(log->under);
    free(log);
}

struct replay_log *replay_log_new(struct memory *under)
{
    struct replay_log *log = xcalloc(1, sizeof(*log));

    log->memory.read = log_read;
    log->memory.free = log_free;
    log->under = under;
    return log;
}

struct memory *replay_log_memory(struct replay_log *log)
{
    return &log->memory;
}

static int by_address(const void *a, const void *b)
{
    const struct image_run *left = a, *right = b;

    return (left->at > right->at) - (left->at < right->at);
}

struct image_run *replay_log_runs(const struct replay_log *log, size_t *ret_count)
{
    struct image_run *reads = xreallocarray(NULL, log->count + 1, sizeof(*reads));
    struct image_run *runs = xcalloc(log->count + 1, sizeof(*runs));
    size_t count = 0;

    memcpy(reads, log->reads, log->count * sizeof(*reads));
    qsort(reads, log->count, sizeof(*reads), by_address);
    for (size_t i = 0; i < log->count; i++) {
        const struct image_run *read = &reads[i];
        struct image_run *last = count ? &runs[count - 1] : NULL;
        uint64_t known; /* bytes of the read that the last run has */

        if (!last || read->at > last->at + last->bytes.size)
            runs[count++].at = read->at, last = &runs[count - 1];
        known = last->at + last->bytes.size - read->at;
        if (known < read->bytes.size)
            buffer_put(&last->bytes, read->bytes.data + known, read->bytes.size - known);
    }
    free(reads);
    *ret_count = count;
    return runs;
}
