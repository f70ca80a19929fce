// SPDX-License-Identifier: Apache-2.0
#include "native/mappings.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "os/capabilities.h"
#include "os/child.h"
#include "native/elf_file.h"
#include "native/memory.h"
#include "native/native_code.h"
#include "os/patience.h"
#include "util/alloc.h"
#include "util/clock.h"
#include "util/log.h"
#include "util/stop.h"

enum {
    NOBODY = 0, /* pid of a process that does not exist */
    REREAD_NS = 100000000,
    LARGEST_FILE_COUNT = 512, /* each has a file descriptor */
    PATH_BYTES_MAX = 8 << 20, /* of all paths; there can be 65,530 mappings, with paths of 4 KB */
};

struct mapping_list {
    struct mapping *mappings; /* in address order; each owns its path */
    int count;
};

struct opened {
    uint64_t device, inode;
    struct elf_file *file;
};

struct mappings {
    pid_t pid;
    struct memory *memory;
    struct mapping_list list;
    struct opened *opened;
    int opened_count;
    struct parser *parser; /* NULL until first used */
    uint64_t read_at;      /* CLOCK_MONOTONIC, ns */
};

static void list_free(struct mapping_list *list)
{
    for (int i = 0; i < list->count; i++)
        free((char *)list->mappings[i].path);
    free(list->mappings);
}

/* Parse "7f00000-7f01000 r-xp 00002000 08:01 1234    /usr/lib/libc.so.6" (proc_pid_maps(5)). */
static bool parse_line(const char *line, struct mapping *mapping)
{
    static const char deleted[] = " (deleted)";
    unsigned int major_number, minor_number;
    char permissions[5];
    size_t length, cut = sizeof(deleted) - 1;
    int path = 0;

    *mapping = (struct mapping){0};
    if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %4s %" SCNx64 " %x:%x %" SCNu64 " %n",
               &mapping->start, &mapping->end, permissions, &mapping->offset, &major_number,
               &minor_number, &mapping->inode, &path) < 7 ||
        path == 0 || mapping->start >= mapping->end)
        return false;
    mapping->executable = permissions[2] == 'x';
    mapping->device = makedev(major_number, minor_number);
    length = strcspn(line + path, "\n");
    if (length >= cut && strncmp(line + path + length - cut, deleted, cut) == 0)
        length -= cut;
    mapping->path = xstrndup(line + path, length);
    return true;
}

static void forget_path(struct mapping *mapping)
{
    free((char *)mapping->path);
    mapping->path = xstrdup("");
}

struct list_read {
    pid_t pid;
    struct mapping_list list;
    int code; /* errno */
};

static void drop_list_read(void *work)
{
    struct list_read *read = work;

    list_free(&read->list);
    free(read);
}

/* Wait for the lock of the memory map. Reading maps does not take it in each kernel; what follows
 * does, as opening map_files. */
static void await_lock(pid_t pid)
{
    char path[64];
    uint64_t entry;
    int fd;

    snprintf(path, sizeof(path), "/proc/%d/pagemap", (int)pid);
    fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return;
    (void)!pread(fd, &entry, sizeof(entry), 0);
    close(fd);
}

static void read_maps(void *work)
{
    struct list_read *read = work;
    struct mapping_list list = {0};
    struct mapping mapping;
    char path[64];
    char *line = NULL;
    size_t line_size = 0, room = 0, path_bytes = 0;
    FILE *file;

    snprintf(path, sizeof(path), "/proc/%d/maps", (int)read->pid);
    file = fopen(path, "re");
    if (!file) {
        read->code = errno;
        return;
    }
    await_lock(read->pid);
    errno = 0;
    while (getline(&line, &line_size, file) > 0) {
        if (!parse_line(line, &mapping))
            continue;
        path_bytes += strlen(mapping.path) + 1;
        if (path_bytes > PATH_BYTES_MAX)
            forget_path(&mapping);
        list.mappings = xgrow(list.mappings, &room, (size_t)list.count, sizeof(*list.mappings));
        list.mappings[list.count++] = mapping;
    }
    read->code = errno;
    free(line);
    fclose(file);
    read->list = list;
}

/* Read /proc/PID/maps. The list is empty if the process has ended or has no memory (a kernel
 * thread). It is also empty, with errno EBUSY, if a thread of the process holds the lock of the
 * list, and with EAGAIN if no thread can be started to read the list. */
static struct mapping_list read_list(pid_t pid)
{
    struct list_read *read = xcalloc(1, sizeof(*read));
    struct mapping_list list;

    read->pid = pid;
    if (!patience_run(read_maps, drop_list_read, read))
        return (struct mapping_list){0};
    list = read->list;
    errno = read->code;
    free(read);
    return list;
}

static bool same_mapping(const struct mapping *a, const struct mapping *b)
{
    return a->start == b->start && a->end == b->end && a->offset == b->offset &&
           a->executable == b->executable && a->device == b->device && a->inode == b->inode &&
           strcmp(a->path, b->path) == 0;
}

/* Keep the files of mappings that still exist. */
static void keep_opened(const struct mapping_list *from, struct mapping_list *to)
{
    int old = 0;

    for (int i = 0; i < to->count; i++) {
        struct mapping *mapping = &to->mappings[i];

        while (old < from->count && from->mappings[old].start < mapping->start)
            old++;
        if (old < from->count && same_mapping(&from->mappings[old], mapping)) {
            mapping->file = from->mappings[old].file;
            mapping->no_file = from->mappings[old].no_file;
        }
    }
}

static bool reread(struct mappings *mappings)
{
    uint64_t now = clock_ns(CLOCK_MONOTONIC);
    struct mapping_list list;

    if (mappings->pid == NOBODY || now - mappings->read_at < REREAD_NS)
        return false;
    mappings->read_at = now;
    errno = 0;
    list = read_list(mappings->pid);
    if (list.count == 0) { /* keep the old list */
        mappings->memory->is_held |= errno == EBUSY && !stop_is_overdue();
        return false;
    }
    keep_opened(&mappings->list, &list);
    list_free(&mappings->list);
    mappings->list = list;
    return true;
}

struct mappings *mappings_new(pid_t pid, struct memory *memory, struct error *error)
{
    struct mapping_list list;
    struct mappings *mappings;

    errno = 0;
    list = read_list(pid);
    if (list.count == 0) {
        if (errno == EACCES || errno == EPERM)
            capabilities_refused(CAPABILITIES_TO_READ, error, "read the mappings of process %d",
                                 (int)pid);
        else if (errno == EBUSY)
            error_set(error, ERROR_UNSUPPORTED,
                      "process %d holds the lock of its memory map, which can't be read", (int)pid);
        else if (errno == EAGAIN)
            child_refused("a thread to read the mappings", pid, error);
        else
            error_set(error, ERROR_NO_PROCESS,
                      "process %d does not exist, or has no memory of its own", (int)pid);
        return NULL;
    }
    mappings = xcalloc(1, sizeof(*mappings));
    mappings->pid = pid;
    mappings->memory = memory;
    mappings->list = list;
    mappings->read_at = clock_ns(CLOCK_MONOTONIC);
    return mappings;
}

static void add_opened(struct mappings *mappings, const struct mapping *mapping,
                       struct elf_file *file)
{
    mappings->opened = xreallocarray(mappings->opened, (size_t)mappings->opened_count + 1,
                                     sizeof(*mappings->opened));
    mappings->opened[mappings->opened_count++] = (struct opened){
        .device = mapping->device,
        .inode = mapping->inode,
        .file = file,
    };
}

static bool is_opened(const struct mappings *mappings, const struct elf_file *file)
{
    for (int i = 0; i < mappings->opened_count; i++)
        if (mappings->opened[i].file == file)
            return true;
    return false;
}

struct mappings *mappings_of_list(const struct mapping *list, int count)
{
    struct mappings *mappings = xcalloc(1, sizeof(*mappings));

    mappings->pid = NOBODY;
    mappings->list.count = count;
    mappings->list.mappings = xreallocarray(NULL, (size_t)count, sizeof(*list));
    for (int i = 0; i < count; i++) {
        mappings->list.mappings[i] = list[i];
        mappings->list.mappings[i].path = xstrdup(list[i].path);
        mappings->list.mappings[i].no_file = !list[i].file;
        if (list[i].file && !is_opened(mappings, list[i].file))
            add_opened(mappings, &list[i], list[i].file);
        if (list[i].file && !mappings->parser)
            mappings->parser = parser_share(list[i].file->parser);
    }
    return mappings;
}

void mappings_free(struct mappings *mappings)
{
    if (!mappings)
        return;
    for (int i = 0; i < mappings->opened_count; i++)
        elf_file_free(mappings->opened[i].file);
    parser_release(mappings->parser);
    free(mappings->opened);
    list_free(&mappings->list);
    free(mappings);
}

static struct mapping *look_up(const struct mapping_list *list, uint64_t address)
{
    int low = 0, high = list->count;

    while (low < high) {
        int middle = low + (high - low) / 2;
        struct mapping *mapping = &list->mappings[middle];

        if (address < mapping->start)
            high = middle;
        else if (address >= mapping->end)
            low = middle + 1;
        else
            return mapping;
    }
    return NULL;
}

struct mapping *mappings_find(struct mappings *mappings, uint64_t address)
{
    struct mapping *mapping = look_up(&mappings->list, address);

    if (!mapping && reread(mappings))
        mapping = look_up(&mappings->list, address);
    return mapping;
}

struct mapping *mappings_find_code(struct mappings *mappings, uint64_t address)
{
    struct mapping *mapping = look_up(&mappings->list, address);

    if (!(mapping && mapping->executable) && reread(mappings))
        mapping = look_up(&mappings->list, address);
    return mapping && mapping->executable ? mapping : NULL;
}

struct mapping *mappings_all(struct mappings *mappings, int *count)
{
    *count = mappings->list.count;
    return mappings->list.mappings;
}

/* Return the open file of the same inode if its bias fits this mapping too. */
static struct elf_file *find_opened(const struct mappings *mappings, const struct mapping *mapping)
{
    for (int i = 0; i < mappings->opened_count; i++) {
        const struct opened *opened = &mappings->opened[i];
        uint64_t bias;

        if (opened->device == mapping->device && opened->inode == mapping->inode &&
            elf_file_bias(opened->file, mapping, &bias) && bias == opened->file->bias)
            return opened->file;
    }
    return NULL;
}

struct parser *mappings_parser(struct mappings *mappings)
{
    if (!mappings->parser)
        mappings->parser = parser_start();
    return mappings->parser;
}

void mappings_rest(struct mappings *mappings, bool is_idle)
{
    if (mappings->parser)
        parser_rest(mappings->parser, is_idle);
    for (int i = 0; is_idle && i < mappings->opened_count; i++) {
        recent_bytes_forget(&mappings->opened[i].file->recent);
        native_code_forget(mappings->opened[i].file);
    }
}

bool mappings_lack_parser(const struct mappings *mappings)
{
    return mappings->parser && !parser_has_started(mappings->parser);
}

static struct elf_file *open_file(struct mappings *mappings, const struct mapping *mapping)
{
    struct elf_file *file;

    if (mappings->opened_count == LARGEST_FILE_COUNT || mappings->pid == NOBODY)
        return NULL;
    file = elf_file_open(mappings_parser(mappings), mappings->pid, mappings->memory, mapping);
    if (file)
        add_opened(mappings, mapping, file);
    return file;
}

struct elf_file *mapping_file(struct mappings *mappings, struct mapping *mapping)
{
    if (mapping->file || mapping->no_file)
        return mapping->file;
    mapping->file = find_opened(mappings, mapping);
    if (!mapping->file)
        mapping->file = open_file(mappings, mapping);
    mapping->no_file = !mapping->file;
    return mapping->file;
}
