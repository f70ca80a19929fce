// SPDX-License-Identifier: Apache-2.0
#include "os/memory.h"

#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>

#include "util/alloc.h"

/* The smallest page of any architecture: what is readable at one byte is readable to the end of
 * its page. */
enum { PAGE = 4096 };

/* Most strings are shorter than this; there is no point in copying the rest of the page. */
enum { STRING_CHUNK = 256 };

struct process_memory {
    struct memory memory;
    pid_t pid;
};

static bool process_read(struct memory *memory, uint64_t address, void *buffer, size_t size)
{
    const struct process_memory *process = (const struct process_memory *)memory;
    struct iovec local = {.iov_base = buffer, .iov_len = size};
    struct iovec remote = {.iov_base = (void *)(uintptr_t)address, .iov_len = size};

    if (size == 0)
        return true;
    return process_vm_readv(process->pid, &local, 1, &remote, 1, 0) == (ssize_t)size;
}

static void process_free(struct memory *memory)
{
    free(memory);
}

struct memory *memory_of_process(pid_t pid)
{
    struct process_memory *process = xcalloc(1, sizeof(*process));

    process->memory.read = process_read;
    process->memory.free = process_free;
    process->pid = pid;
    return &process->memory;
}

void memory_free(struct memory *memory)
{
    if (memory)
        memory->free(memory);
}

/* Read as much as there is of at most `size` bytes: a captured image can end anywhere, so where
 * all of it fails, less is tried. 0 if not even the first byte is there. */
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
