// SPDX-License-Identifier: Apache-2.0
#include "os/elf_file.h"

#include <fcntl.h>
#include <gelf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "os/memory.h"
#include "os/native_symbols.h"
#include "os/procfs.h"
#include "util/alloc.h"

/* A vdso has two or three pages. */
enum { LARGEST_VDSO = 1 << 16 };

bool elf_bias(Elf *elf, const struct mapping *mapping, uint64_t *bias)
{
    uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
    bool found = false;
    size_t count;

    if (elf_getphdrnum(elf, &count) != 0)
        return false;
    /* Segments are adjacent in the file. A page in which one segment ends and the next begins is
     * mapped for both. So a mapping belongs to the last segment that begins at or before it. */
    for (size_t i = 0; i < count; i++) {
        GElf_Phdr segment;

        if (!gelf_getphdr(elf, (int)i, &segment) || segment.p_type != PT_LOAD)
            continue;
        if (mapping->executable != ((segment.p_flags & PF_X) != 0))
            continue;
        if (segment.p_offset / page * page > mapping->offset ||
            mapping->offset - segment.p_offset / page * page > segment.p_filesz + page)
            continue;
        *bias = mapping->start - mapping->offset - (segment.p_vaddr - segment.p_offset);
        found = true;
    }
    return found;
}

static int open_map_file(pid_t pid, const struct mapping *mapping)
{
    char path[96];

    snprintf(path, sizeof(path), "/proc/%d/map_files/%llx-%llx", (int)pid,
             (unsigned long long)mapping->start, (unsigned long long)mapping->end);
    return reopen_regular(open(path, O_PATH | O_CLOEXEC));
}

/* Open the file at the path in /proc/PID/maps if it is the mapped one. */
static int open_named(const char *root, const struct mapping *mapping)
{
    int fd = open_in_root(root, mapping->path);
    struct stat status;

    if (fd >= 0 && (fstat(fd, &status) != 0 || status.st_dev != mapping->device ||
                    status.st_ino != mapping->inode)) {
        close(fd);
        return -1;
    }
    return fd;
}

static int open_mapped(pid_t pid, const char *root, const struct mapping *mapping)
{
    int fd = open_map_file(pid, mapping);

    if (fd >= 0)
        return fd;
    fd = open_named(root, mapping);
    /* For a process in a bare chroot, maps has the path as we see it. */
    return fd >= 0 ? fd : open_named("/", mapping);
}

/* Complete `file` from its Elf. On failure free everything and return NULL. */
static struct elf_file *finish(struct elf_file *file, const struct mapping *mapping)
{
    file->path = xstrdup(mapping->path);
    if (!file->elf || !elf_bias(file->elf, mapping, &file->bias)) {
        elf_file_free(file);
        return NULL;
    }
    file->build_id = build_id_of_elf(file->elf);
    return file;
}

struct elf_file *elf_file_of_image(void *image, size_t size, const struct mapping *mapping)
{
    struct elf_file *file = xcalloc(1, sizeof(*file));

    file->fd = -1;
    file->image = image;
    file->elf = elf_open_image(image, size, NULL, &file->elf_bytes);
    return finish(file, mapping);
}

static struct elf_file *file_of_fd(int fd, const char *root, const struct mapping *mapping,
                                   struct elf_room *room)
{
    struct elf_file *file;

    if (fd < 0)
        return NULL;
    file = xcalloc(1, sizeof(*file));
    file->root = xstrdup(root);
    file->fd = fd;
    file->room = room;
    file->elf = elf_open(fd, room, &file->elf_bytes);
    return finish(file, mapping);
}

struct elf_file *elf_file_of_fd(int fd, const char *root, const struct mapping *mapping)
{
    return file_of_fd(fd, root, mapping, NULL);
}

static struct elf_file *open_vdso(struct memory *memory, const struct mapping *mapping)
{
    size_t size = mapping->end - mapping->start;
    void *image;

    if (size > LARGEST_VDSO)
        return NULL;
    image = xmalloc(size);
    if (memory_read(memory, mapping->start, image, size))
        return elf_file_of_image(image, size, mapping);
    free(image);
    return NULL;
}

/* Memory files are not loaded ELF files: "/memfd:vmem" is code of the JIT. */
static bool is_file_path(const char *path)
{
    return path[0] == '/' && strncmp(path, "/memfd:", 7) != 0;
}

struct elf_file *elf_file_open(pid_t pid, struct memory *memory, const struct mapping *mapping,
                               struct elf_room *room)
{
    char root[64];

    if (strcmp(mapping->path, "[vdso]") == 0)
        return open_vdso(memory, mapping);
    if (!is_file_path(mapping->path))
        return NULL;
    snprintf(root, sizeof(root), "/proc/%d/root", (int)pid);
    return file_of_fd(open_mapped(pid, root, mapping), root, mapping, room);
}

void elf_file_free(struct elf_file *file)
{
    if (!file)
        return;
    symbol_table_free(file->symbols);
    elf_close(file->elf, file->room, file->elf_bytes);
    if (file->fd >= 0)
        close(file->fd);
    free(file->image);
    free(file->root);
    free(file->path);
    free(file);
}
