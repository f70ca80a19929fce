// SPDX-License-Identifier: Apache-2.0
/*
 * The memory of another OS process at this moment.
 *
 * All user-space reads of the target's memory go through this interface. A backend can be the live
 * process (process_vm_readv: reads only, stops nothing) or a captured image (replay tests).
 * Addresses are the target's. Everything read is untrusted.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "util/stop.h"

/* One of many reads. */
struct memory_span {
    uint64_t address;
    void *buffer;
    size_t size;
    bool is_read; /* set by the read: the buffer has all bytes */
};

/* Return true if the lock of the memory map at the kernel's address `map` is taken. */
typedef bool (*memory_lock_look)(void *context, uint64_t map);

struct memory {
    /* Read exactly `size` bytes at `address`. False if any byte can't be read; the buffer may then
     * be partly written and must not be used. */
    bool (*read)(struct memory *memory, uint64_t address, void *buffer, size_t size);
    /* As memory_read_spans(). NULL: each span is read by itself. */
    void (*read_spans)(struct memory *memory, struct memory_span *spans, size_t count);
    /* Implements memory_is_there(). NULL: the memory is always there. */
    bool (*is_there)(struct memory *memory);
    void (*free)(struct memory *memory);
    memory_lock_look is_lock_taken; /* NULL: not known */
    void *look_context;
    uint64_t map; /* the kernel's address of the memory map, for is_lock_taken() */
    /* A read took too long: the process holds back a page, or the lock of its memory map. All reads
     * fail from then on. */
    bool is_held;
};

/* Return the memory that the live process `pid` has now. Never NULL. Reads fail once the process
 * has ended or called exec(): nothing is read of a later process with its pid, or of a later
 * program in it. */
struct memory *memory_of_process(pid_t pid);

/* From now on memory is read at once only if the lock of its map was free just before; if
 * `is_lock_taken` is NULL, always. */
static inline void memory_watch_lock(struct memory *memory, memory_lock_look is_lock_taken,
                                     void *context, uint64_t map)
{
    memory->look_context = context;
    memory->map = map;
    memory->is_lock_taken = is_lock_taken;
}

/* Return the thread that is reading a process, and the process; 0 if there is none. If the process
 * delays the read, only the end of the program ends it. */
pid_t memory_process_reader(pid_t *ret_process);

/* True if the memory can still be read: not once the process has ended or called exec(). This takes
 * a twentieth of the time of process_runs(). */
bool memory_is_there(struct memory *memory);

/* NULL is allowed, as in every function that frees. */
void memory_free(struct memory *memory);

/* False as well once reading must end (util/stop.h), which ends every walk over foreign data. */
static inline bool memory_read(struct memory *memory, uint64_t address, void *buffer, size_t size)
{
    return !stop_is_overdue() && memory->read(memory, address, buffer, size);
}

static inline bool memory_read_u64(struct memory *memory, uint64_t address, uint64_t *value)
{
    return memory_read(memory, address, value, sizeof(*value));
}

static inline bool memory_read_u32(struct memory *memory, uint64_t address, uint32_t *value)
{
    return memory_read(memory, address, value, sizeof(*value));
}

/* Read every span that can be read, one after the other in the order of `spans`: a later span is
 * read later. This is faster than a call for each span. */
void memory_read_spans(struct memory *memory, struct memory_span *spans, size_t count);

/* Read a NUL-terminated string of at most size-1 bytes; a longer one is cut. False if it can't be
 * read; the buffer must then not be used. */
bool memory_read_string(struct memory *memory, uint64_t address, char *buffer, size_t size);

/*
 * A read cache for small reads that are mostly near each other, such as reads of a process's terms.
 * It reads larger blocks and keeps the last one. Data from the cache is as old as that block.
 */

enum { READ_CACHE_BYTES = 1024 }; /* divides a page: if some of it is readable, all is */

struct read_cache {
    struct memory *memory;
    uint64_t address; /* of `bytes`; 0: the cache is empty */
    uint8_t bytes[READ_CACHE_BYTES];
};

static inline void read_cache_init(struct read_cache *cache, struct memory *memory)
{
    cache->memory = memory;
    cache->address = 0;
}

/* As memory_read(). */
bool memory_read_cached(struct read_cache *cache, uint64_t address, void *buffer, size_t size);

/* Memory whose reads go through a cache, for functions that take a struct memory. */
struct cached_memory {
    struct memory memory;
    struct read_cache cache;
};

/* Cache reads of `origin`, which is borrowed. There is nothing to free. */
void memory_cached_init(struct cached_memory *cached, struct memory *origin);

/* ---- stop_guard.c ---- */

/*
 * Ends the program where a signal can't. Another process can hold back a page. A thread that reads
 * that page takes no signal that has a handler, and never continues.
 */

/* Watch, in a thread of its own, for a read of a process that lasts too long.
 * Then call `say` with its pid, which must not wait for another thread, and end the program with
 * ERROR_UNSUPPORTED: within 2 s of a signal of util/stop.h, and after 5 s without one. Without
 * threads nothing is watched. */
void stop_guard_start(void (*say)(pid_t pid));

/* End the thread, when no process is read any more. */
void stop_guard_end(void);
