// SPDX-License-Identifier: Apache-2.0
#include "os/memory.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "util/alloc.h"
#include "util/clock.h"

/* The smallest page of any architecture. If one byte is readable, so is the rest of its page. */
enum { PAGE = 4096 };

/* Most strings are shorter than this, so copying the rest of the page is no use. */
enum { STRING_CHUNK = 256 };

enum { SPANS = 512 }; /* per call; the kernel takes 1024 (UIO_MAXIOV, include/uapi/linux/uio.h) */

struct process_memory {
    struct memory memory;
    pid_t pid;
    int fd; /* /proc/PID/mem: refers to the memory that the process had when it was opened */
    _Atomic uint64_t checked; /* ns, CLOCK_MONOTONIC */
};

/* A check costs as much as a read. A pid is not taken again within this time, and a program that
 * exec() has just started has read nothing yet. */
static const uint64_t CHECK_NS = 1000000;

/* True if the process still has the same memory: it has not ended, and it has not called exec(). A
 * read through the descriptor finds nothing at address 0, or no memory at all (mem_rw() in
 * fs/proc/base.c). */
static bool is_same_memory(struct process_memory *process)
{
    uint64_t now = clock_ns(CLOCK_MONOTONIC);
    char byte;

    if (now - process->checked < CHECK_NS)
        return true;
    if (process->fd < 0 || pread(process->fd, &byte, sizeof(byte), 0) == 0)
        return false;
    process->checked = now;
    return true;
}

static bool process_read(struct memory *memory, uint64_t address, void *buffer, size_t size)
{
    struct process_memory *process = (struct process_memory *)memory;
    struct iovec local = {.iov_base = buffer, .iov_len = size};
    struct iovec remote = {.iov_base = (void *)(uintptr_t)address, .iov_len = size};

    if (size == 0)
        return true;
    return process_vm_readv(process->pid, &local, 1, &remote, 1, 0) == (ssize_t)size &&
           is_same_memory(process);
}

/* Pass spans to the kernel in one call. Return how many were read before the first that can't
 * be. */
static size_t read_run(const struct process_memory *process, struct memory_span *spans,
                       size_t count)
{
    struct iovec local[SPANS], remote[SPANS];
    ssize_t got;
    size_t done = 0;

    for (size_t i = 0; i < count; i++) {
        local[i] = (struct iovec){spans[i].buffer, spans[i].size};
        remote[i] = (struct iovec){(void *)(uintptr_t)spans[i].address, spans[i].size};
    }
    got = process_vm_readv(process->pid, local, count, remote, count, 0);
    while (done < count && got >= (ssize_t)spans[done].size) {
        got -= (ssize_t)spans[done].size;
        spans[done++].is_read = true;
    }
    return done;
}

/* A call ends at the first span that can't be read: continue after it. */
static void process_read_spans(struct memory *memory, struct memory_span *spans, size_t count)
{
    struct process_memory *process = (struct process_memory *)memory;

    for (size_t at = 0; at < count;) {
        size_t wanted = count - at < SPANS ? count - at : SPANS;
        size_t done = read_run(process, spans + at, wanted);

        at += done;
        if (done < wanted)
            spans[at++].is_read = false;
    }
    if (!is_same_memory(process))
        for (size_t i = 0; i < count; i++)
            spans[i].is_read = false;
}

static void process_free(struct memory *memory)
{
    struct process_memory *process = (struct process_memory *)memory;

    if (process->fd >= 0)
        close(process->fd);
    free(process);
}

struct memory *memory_of_process(pid_t pid)
{
    struct process_memory *process = xcalloc(1, sizeof(*process));
    char path[32];

    snprintf(path, sizeof(path), "/proc/%d/mem", (int)pid);
    process->fd = open(path, O_RDONLY | O_CLOEXEC);
    process->memory.read = process_read;
    process->memory.read_spans = process_read_spans;
    process->memory.free = process_free;
    process->pid = pid;
    return &process->memory;
}

void memory_free(struct memory *memory)
{
    if (memory)
        memory->free(memory);
}

void memory_read_spans(struct memory *memory, struct memory_span *spans, size_t count)
{
    if (memory->read_spans && !stop_is_overdue()) {
        memory->read_spans(memory, spans, count);
        return;
    }
    for (size_t i = 0; i < count; i++)
        spans[i].is_read = memory_read(memory, spans[i].address, spans[i].buffer, spans[i].size);
}

/* Read what is there of at most `size` bytes. A captured image can end anywhere, so if a read
 * fails, half as much is tried. Return 0 if not even the first byte is there. */
static size_t read_some(struct memory *memory, uint64_t address, char *buffer, size_t size)
{
    while (size > 0 && !memory_read(memory, address, buffer, size))
        size /= 2;
    return size;
}

bool memory_read_string(struct memory *memory, uint64_t address, char *buffer, size_t size)
{
    size_t used = 0;

    if (size == 0)
        return false;
    while (used < size - 1) {
        size_t wanted = size - 1 - used;
        size_t in_page = PAGE - address % PAGE;
        size_t got;

        if (wanted > STRING_CHUNK)
            wanted = STRING_CHUNK;
        got = read_some(memory, address, buffer + used, wanted < in_page ? wanted : in_page);
        if (got == 0)
            return false;
        if (memchr(buffer + used, '\0', got))
            return true;
        used += got;
        address += got;
    }
    buffer[used] = '\0';
    return true;
}

static bool has(const struct read_cache *cache, uint64_t address, size_t size)
{
    return cache->address && address >= cache->address && size <= NEARBY_BYTES &&
           address - cache->address <= NEARBY_BYTES - size;
}

bool read_cache_read(struct read_cache *cache, uint64_t address, void *buffer, size_t size)
{
    uint64_t start = address & ~(uint64_t)(NEARBY_BYTES - 1);

    if (!has(cache, address, size)) {
        if (address - start + size > NEARBY_BYTES)
            return memory_read(cache->memory, address, buffer, size);
        cache->address = 0;
        if (!memory_read(cache->memory, start, cache->bytes, NEARBY_BYTES))
            return memory_read(cache->memory, address, buffer, size);
        cache->address = start;
    }
    memcpy(buffer, cache->bytes + (address - cache->address), size);
    return true;
}
