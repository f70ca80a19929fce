// SPDX-License-Identifier: Apache-2.0
/*
 * The memory of a live process. The kernel waits for a page that the process holds back, and no
 * signal but a deadly one ends that. So only pages in RAM are read at once; all else that is mapped
 * is read patiently. A process that takes a page away between the look and the read still delays
 * the reader: native/stop_guard.c.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "native/mappings.h"
#include "native/memory.h"
#include "os/patience.h"
#include "util/alloc.h"
#include "util/clock.h"
#include "util/log.h"

enum {
    SPANS = 512,     /* per call; the kernel takes 1024 (UIO_MAXIOV, include/uapi/linux/uio.h) */
    MANY_SPANS = 4,  /* are read together */
    PAGES = 512,     /* of one read, at most */
    NEAR_PAGES = 16, /* spans that are at most so far apart are looked at in one call: a call takes
                      * as long as some 20 more pages */
    RECENT = 256,    /* pages that were seen filled; a power of 2 */
};

struct process_memory {
    struct memory memory;
    pid_t pid;
    struct mapped_ranges *ranges;
    int pagemap;   /* /proc/PID/pagemap: of the memory that the process had when it was opened */
    uint64_t page; /* bytes */
    _Atomic uint64_t checked, looked; /* ns, CLOCK_MONOTONIC */
    /* Number of a page, and the time when it was seen filled in its last 16 bits. */
    _Atomic uint64_t recent[RECENT];
};

/* The newest read that a process can delay. */
static _Atomic pid_t read_pid, reader; /* the process; the thread that waits, 0: none */

static void wait_begin(pid_t pid)
{
    read_pid = pid;
    reader = gettid();
}

static void wait_end(void)
{
    reader = 0;
}

/* A pid is not taken again within this time, and a program that exec() has just started has read
 * nothing yet. */
static const uint64_t CHECK_NS = 1000000;

/* True if the process still has the same memory: it has not ended, and it has not called exec(). A
 * read of less than an entry fails with EINVAL, or finds no memory at all. It never waits for the
 * lock of the memory map (pagemap_read() in fs/proc/task_mmu.c v6.18). */
static bool is_same_memory(struct process_memory *process)
{
    uint64_t now = clock_ns(CLOCK_MONOTONIC);
    char byte;

    if (now - process->checked < CHECK_NS)
        return true;
    if (process->pagemap < 0 || pread(process->pagemap, &byte, sizeof(byte), 0) == 0)
        return false;
    process->checked = now;
    return true;
}

/* If a process takes the lock within this time after a look, it still delays the reader. */
static const uint64_t LOOK_NS = 20000;

/* True if nothing delays a read, as far as is known. Threads that map memory take the lock for some
 * microseconds each time. */
static bool lock_is_free(struct process_memory *process)
{
    enum { LOOKS = 4, PAUSE_US = 50 };
    struct memory *memory = &process->memory;
    uint64_t now = clock_ns(CLOCK_MONOTONIC);

    if (!memory->is_lock_taken || now - process->looked < LOOK_NS)
        return true;
    for (int i = 0; i < LOOKS; i++) {
        if (!memory->is_lock_taken(memory->look_context, memory->map)) {
            process->looked = clock_ns(CLOCK_MONOTONIC);
            return true;
        }
        usleep(PAUSE_US);
    }
    return false;
}

/* ---- reads at once ---- */

/* Numbers of pages. */
struct page_range {
    uint64_t first, last;
};

static struct page_range pages_of(const struct process_memory *process, uint64_t address,
                                  size_t size)
{
    return (struct page_range){address / process->page,
                               (address + (size ? size - 1 : 0)) / process->page};
}

/* Look at pages, at most PAGES + 1. */
static bool look(const struct process_memory *process, struct page_range range,
                 uint64_t pages[PAGES + 1])
{
    size_t bytes = (range.last - range.first + 1) * sizeof(pages[0]);
    ssize_t got;

    wait_begin(process->pid);
    got = pread(process->pagemap, pages, bytes, (off_t)(range.first * sizeof(pages[0])));
    wait_end();
    return got == (ssize_t)bytes;
}

/* True if each page is in RAM or swapped out (Documentation/admin-guide/mm/pagemap.rst): nobody but
 * the kernel fills such a page. `pages` has the entries of pages from number `from` on. */
static bool all_filled(struct page_range range, const uint64_t *pages, uint64_t from)
{
    static const uint64_t PRESENT = (uint64_t)1 << 63, SWAPPED = (uint64_t)1 << 62;

    for (uint64_t page = range.first; page <= range.last; page++)
        if (!(pages[page - from] & (PRESENT | SWAPPED)))
            return false;
    return true;
}

/* `size` has at most PAGES pages. */
static bool are_filled(const struct process_memory *process, uint64_t address, size_t size)
{
    struct page_range range = pages_of(process, address, size);
    uint64_t pages[PAGES + 1];

    return range.first <= range.last && look(process, range, pages) &&
           all_filled(range, pages, range.first);
}

static int by_first(const void *a, const void *b)
{
    const struct page_range *x = a, *y = b;

    return (x->first > y->first) - (x->first < y->first);
}

/* The pages of each span, in order. False if a span has too many to look at. */
static bool sort_pages(const struct process_memory *process, const struct memory_span *spans,
                       size_t count, struct page_range ranges[])
{
    for (size_t i = 0; i < count; i++) {
        ranges[i] = pages_of(process, spans[i].address, spans[i].size);
        if (ranges[i].last < ranges[i].first || ranges[i].last - ranges[i].first >= PAGES)
            return false;
    }
    qsort(ranges, count, sizeof(ranges[0]), by_first);
    return true;
}

/* True if all pages of the spans are filled. Neighbouring pages are looked up together. There are
 * at most SPANS spans. */
static bool spans_are_filled(const struct process_memory *process, const struct memory_span *spans,
                             size_t count)
{
    struct page_range ranges[SPANS];
    uint64_t pages[PAGES + 1];

    if (!sort_pages(process, spans, count, ranges))
        return false;
    for (size_t at = 0, end; at < count; at = end) {
        struct page_range all = ranges[at];

        for (end = at + 1; end < count && ranges[end].last - all.first <= PAGES &&
                           ranges[end].first <= all.last + NEAR_PAGES;
             end++)
            if (ranges[end].last > all.last)
                all.last = ranges[end].last;
        if (!look(process, all, pages))
            return false;
        for (size_t i = at; i < end; i++)
            if (!all_filled(ranges[i], pages, all.first))
                return false;
    }
    return true;
}

/* As are_filled(); a page that was seen filled is for a millisecond, because a look costs more than
 * a read. */
static bool is_filled(struct process_memory *process, uint64_t address, size_t size)
{
    uint64_t page = address / process->page;
    uint64_t seen = page << 16 | (clock_ns(CLOCK_MONOTONIC) >> 20 & 0xffff);
    _Atomic uint64_t *recent = &process->recent[page % RECENT];

    if (address % process->page + size > process->page)
        return are_filled(process, address, size);
    if (*recent == seen)
        return true;
    if (!are_filled(process, address, size))
        return false;
    *recent = seen;
    return true;
}

static bool read_at_once(pid_t pid, uint64_t address, void *buffer, size_t size)
{
    struct iovec local = {.iov_base = buffer, .iov_len = size};
    struct iovec remote = {.iov_base = (void *)(uintptr_t)address, .iov_len = size};
    ssize_t got;

    wait_begin(pid);
    got = process_vm_readv(pid, &local, 1, &remote, 1, 0);
    wait_end();
    return got == (ssize_t)size;
}

/* Pass spans to the kernel in one call. Return how many were read before the first that can't
 * be. */
static size_t read_run(pid_t pid, struct memory_span *spans, size_t count)
{
    struct iovec local[SPANS], remote[SPANS];
    ssize_t got;
    size_t done = 0;

    for (size_t i = 0; i < count; i++) {
        local[i] = (struct iovec){spans[i].buffer, spans[i].size};
        remote[i] = (struct iovec){(void *)(uintptr_t)spans[i].address, spans[i].size};
    }
    got = process_vm_readv(pid, local, count, remote, count, 0);
    while (done < count && got >= (ssize_t)spans[done].size) {
        got -= (ssize_t)spans[done].size;
        spans[done++].is_read = true;
    }
    return done;
}

/* A call ends at the first span that can't be read: continue after it. */
static void read_all(pid_t pid, struct memory_span *spans, size_t count)
{
    for (size_t at = 0; at < count;) {
        at += read_run(pid, spans + at, count - at);
        if (at < count)
            spans[at++].is_read = false;
    }
}

/* The same, where all pages are filled. */
static void read_all_at_once(pid_t pid, struct memory_span *spans, size_t count)
{
    wait_begin(pid);
    read_all(pid, spans, count);
    wait_end();
}

pid_t memory_process_reader(pid_t *ret_process)
{
    *ret_process = read_pid;
    return reader;
}

/* ---- patient reads ---- */

struct patient_read {
    pid_t pid;
    struct memory_span *spans;
    size_t count;
    uint8_t *bytes; /* of all spans */
};

static void drop(void *work)
{
    struct patient_read *read = work;

    free(read->bytes);
    free(read->spans);
    free(read);
}

static void run(void *work)
{
    struct patient_read *read = work;

    read_all(read->pid, read->spans, read->count);
}

/* Return a copy of the spans with room of its own. */
static struct patient_read *read_new(pid_t pid, const struct memory_span *spans, size_t count)
{
    struct patient_read *read = xcalloc(1, sizeof(*read));
    size_t size = 1, at = 0;

    for (size_t i = 0; i < count; i++)
        size += spans[i].size;
    *read = (struct patient_read){pid, xcalloc(count, sizeof(*spans)), count, xmalloc(size)};
    for (size_t i = 0; i < count; i++) {
        read->spans[i] = spans[i];
        read->spans[i].buffer = read->bytes + at;
        at += spans[i].size;
    }
    return read;
}

/* Read at most SPANS spans; all fail if one of them is held back. */
static void read_patiently(struct process_memory *process, struct memory_span *spans, size_t count)
{
    struct patient_read *read = read_new(process->pid, spans, count);

    for (size_t i = 0; i < count; i++)
        spans[i].is_read = false;
    if (!patience_run(run, drop, read)) {
        if (errno != EBUSY)
            return;
        process->memory.is_held = !stop_is_overdue();
        log_decision("memory", "process %d holds back its memory: nothing more is read of it",
                     (int)process->pid);
        return;
    }
    for (size_t i = 0; i < count; i++) {
        spans[i].is_read = read->spans[i].is_read;
        if (spans[i].is_read)
            memcpy(spans[i].buffer, read->spans[i].buffer, spans[i].size);
    }
    drop(read);
}

/* ---- the interface ---- */

static bool is_mapped(const struct process_memory *process, uint64_t address, size_t size)
{
    uint64_t last = address + (size ? size - 1 : 0);

    return last >= address && mapped_ranges_have(process->ranges, address) &&
           (last / process->page == address / process->page ||
            mapped_ranges_have(process->ranges, last));
}

/* At most PAGES pages. */
static bool read_part(struct process_memory *process, uint64_t address, void *buffer, size_t size)
{
    struct memory_span span = {address, buffer, size, false};

    if (lock_is_free(process)) {
        if (is_filled(process, address, size))
            return read_at_once(process->pid, address, buffer, size);
        if (!is_mapped(process, address, size))
            return false;
    }
    read_patiently(process, &span, 1);
    return span.is_read;
}

static bool process_read(struct memory *memory, uint64_t address, void *buffer, size_t size)
{
    struct process_memory *process = (struct process_memory *)memory;
    size_t most = (PAGES - 1) * process->page, part;

    for (size_t at = 0; at < size; at += part) {
        part = size - at < most ? size - at : most;
        if (memory->is_held || !read_part(process, address + at, (uint8_t *)buffer + at, part))
            return false;
    }
    return size == 0 || is_same_memory(process);
}

/* Read the spans that are mapped. There are at most SPANS, and not all of their pages are filled.
 */
static void read_mapped(struct process_memory *process, struct memory_span *spans, size_t count)
{
    struct memory_span mapped[SPANS];
    size_t mapped_count = 0, at = 0;

    for (size_t i = 0; i < count; i++)
        if (is_mapped(process, spans[i].address, spans[i].size))
            mapped[mapped_count++] = spans[i];
    if (spans_are_filled(process, mapped, mapped_count))
        read_all_at_once(process->pid, mapped, mapped_count);
    else
        read_patiently(process, mapped, mapped_count);
    for (size_t i = 0; i < count; i++) {
        bool is_next = at < mapped_count && mapped[at].buffer == spans[i].buffer;

        spans[i].is_read = is_next && mapped[at].is_read;
        at += is_next;
    }
}

/* Read at most SPANS spans. */
static void read_many(struct process_memory *process, struct memory_span *spans, size_t count)
{
    if (!lock_is_free(process))
        read_patiently(process, spans, count);
    else if (spans_are_filled(process, spans, count))
        read_all_at_once(process->pid, spans, count);
    else
        read_mapped(process, spans, count);
}

static void process_read_spans(struct memory *memory, struct memory_span *spans, size_t count)
{
    struct process_memory *process = (struct process_memory *)memory;
    bool is_same;

    for (size_t at = 0, part; at < count; at += part) {
        part = count - at < SPANS ? count - at : SPANS;
        if (!memory->is_held && part >= MANY_SPANS)
            read_many(process, spans + at, part);
        else
            for (size_t i = at; i < at + part; i++)
                spans[i].is_read =
                    process_read(memory, spans[i].address, spans[i].buffer, spans[i].size);
    }
    is_same = is_same_memory(process);
    for (size_t i = 0; !is_same && i < count; i++)
        spans[i].is_read = false;
}

static bool process_is_there(struct memory *memory)
{
    return is_same_memory((struct process_memory *)memory);
}

static void process_free(struct memory *memory)
{
    struct process_memory *process = (struct process_memory *)memory;

    if (process->pagemap >= 0)
        close(process->pagemap);
    mapped_ranges_free(process->ranges);
    free(process);
}

static int open_pagemap(pid_t pid)
{
    char path[32];

    snprintf(path, sizeof(path), "/proc/%d/pagemap", (int)pid);
    return open(path, O_RDONLY | O_CLOEXEC);
}

struct memory *memory_of_process(pid_t pid)
{
    struct process_memory *process = xcalloc(1, sizeof(*process));

    process->pagemap = open_pagemap(pid);
    process->ranges = mapped_ranges_new(pid);
    process->memory.read = process_read;
    process->memory.read_spans = process_read_spans;
    process->memory.is_there = process_is_there;
    process->memory.free = process_free;
    process->pid = pid;
    process->page = (uint64_t)sysconf(_SC_PAGESIZE);
    return &process->memory;
}
