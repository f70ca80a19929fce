// SPDX-License-Identifier: Apache-2.0
#include "native/elf_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "native/memory.h"
#include "os/patience.h"
#include "os/procfs.h"
#include "util/alloc.h"
#include "util/files.h"

/* A vdso has two or three pages. */
enum { LARGEST_VDSO = 1 << 16 };

/* ---- the place in the process ---- */

bool elf_file_bias(const struct elf_file *file, const struct mapping *mapping, uint64_t *bias)
{
    uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
    bool found = false;

    /* Segments are adjacent in the file. A page in which one segment ends and the next begins is
     * mapped for both. So a mapping belongs to the last segment that begins at or before it. */
    for (uint32_t i = 0; i < file->segment_count; i++) {
        const struct elf_segment *segment = &file->segments[i];

        if (mapping->executable != (segment->executable != 0) ||
            segment->offset / page * page > mapping->offset ||
            mapping->offset - segment->offset / page * page > segment->file_bytes + page)
            continue;
        *bias = mapping->start - mapping->offset - (segment->address - segment->offset);
        found = true;
    }
    return found;
}

bool elf_file_place(struct elf_file *file, const struct mapping *mapping)
{
    return elf_file_bias(file, mapping, &file->bias);
}

/* ---- open ---- */

static int open_map_file(pid_t pid, const struct mapping *mapping)
{
    char path[96];
    int fd;

    snprintf(path, sizeof(path), "/proc/%d/map_files/%llx-%llx", (int)pid,
             (unsigned long long)mapping->start, (unsigned long long)mapping->end);
    fd = open(path, O_PATH | O_CLOEXEC);
    return reopen_regular(fd);
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

static int open_by_name(const char *root, const struct mapping *mapping)
{
    int fd = open_named(root, mapping);

    /* For a process in a bare chroot, maps has the path as we see it. */
    return fd >= 0 ? fd : open_named("/", mapping);
}

static int open_mapped(pid_t pid, const char *root, const struct mapping *mapping)
{
    int fd = open_by_name(root, mapping);

    return fd >= 0 ? fd : open_map_file(pid, mapping); /* which takes the lock of the memory map */
}

/* Memory files are not loaded ELF files: "/memfd:vmem" is code of the JIT. */
static bool is_file_path(const char *path)
{
    return path[0] == '/' && strncmp(path, "/memfd:", 7) != 0;
}

struct elf_opening {
    pid_t pid;
    char root[64];
    struct mapping mapping;
    char *path;
};

static void drop_opening(void *work)
{
    struct elf_opening *opening = work;

    free(opening->path);
    free(opening);
}

/* Open the file, and see that it can be read. */
static int open_readable(void *work)
{
    const struct elf_opening *opening = work;
    int fd = open_mapped(opening->pid, opening->root, &opening->mapping);
    char byte;

    if (fd >= 0)
        (void)!pread(fd, &byte, sizeof(byte), 0);
    return fd;
}

/* The lock of the memory map, or the server of the file, can delay this for ever. */
static int open_mapped_patiently(pid_t pid, const char *root, const struct mapping *mapping,
                                 bool *ret_hangs)
{
    struct elf_opening *opening = xcalloc(1, sizeof(*opening));
    int fd;

    opening->pid = pid;
    snprintf(opening->root, sizeof(opening->root), "%s", root);
    opening->mapping = *mapping;
    opening->mapping.path = opening->path = xstrdup(mapping->path);
    *ret_hangs = false;
    if (open_patiently(open_readable, drop_opening, opening, &fd))
        drop_opening(opening);
    else
        *ret_hangs = errno == EBUSY;
    return fd;
}

/* ---- the parser's part ---- */

/* True if what the parser says of the file can be used. */
static bool is_sound(const struct elf_opened *opened, size_t answer_bytes)
{
    return opened->segment_count <= ELF_SEGMENTS_MAX &&
           answer_bytes == sizeof(*opened) + opened->segment_count * sizeof(struct elf_segment) &&
           opened->build_id.size <= BUILD_ID_MAX &&
           memchr(opened->link, '\0', sizeof(opened->link)) && !strchr(opened->link, '/');
}

/* Let the parser open the file. False if it does not accept it. */
static bool let_open(struct elf_file *file, struct buffer *answer)
{
    const struct elf_request request = {.call = ELF_OPEN};

    if (!parser_ask(file->parser, &request, NULL, file->fd, answer) ||
        answer->size < sizeof(file->opened))
        return false;
    memcpy(&file->opened, answer->data, sizeof(file->opened));
    file->epoch = parser_epoch(file->parser);
    return is_sound(&file->opened, answer->size);
}

struct elf_file *elf_file_of_fd(struct parser *parser, int fd, const char *root, const char *path)
{
    struct buffer answer = {0};
    struct elf_file *file;
    size_t bytes;

    if (fd < 0)
        return NULL;
    file = xcalloc(1, sizeof(*file));
    file->fd = fd;
    file->root = root ? xstrdup(root) : NULL;
    file->path = xstrdup(path);
    file->parser = parser_share(parser);
    if (let_open(file, &answer)) {
        bytes = file->opened.segment_count * sizeof(struct elf_segment);
        file->segment_count = file->opened.segment_count;
        file->segments = xmalloc(bytes + 1);
        memcpy(file->segments, answer.data + sizeof(file->opened), bytes);
        file->build_id = file->opened.build_id;
    } else {
        elf_file_free(file);
        file = NULL;
    }
    buffer_free(&answer);
    return file;
}

static struct elf_file *placed(struct elf_file *file, const struct mapping *mapping)
{
    struct buffer answer = {0};

    if (file && elf_file_place(file, mapping))
        return file;
    if (file)
        elf_file_ask(file, ELF_CLOSE, 0, NULL, -1, &answer);
    buffer_free(&answer);
    elf_file_free(file);
    return NULL;
}

struct elf_file *elf_file_of_image(struct parser *parser, const void *image, size_t size,
                                   const struct mapping *mapping)
{
    int fd = memfd_create("image", MFD_CLOEXEC);
    struct elf_file *file = NULL;

    if (fd >= 0 && write_all(fd, image, size) != 0) {
        close(fd);
        return NULL;
    }
    file = placed(elf_file_of_fd(parser, fd, NULL, mapping->path), mapping);
    if (file)
        file->in_memory = true;
    return file;
}

static struct elf_file *open_vdso(struct parser *parser, struct memory *memory,
                                  const struct mapping *mapping)
{
    size_t size = mapping->end - mapping->start;
    struct elf_file *file = NULL;
    void *image;

    if (size > LARGEST_VDSO)
        return NULL;
    image = xmalloc(size);
    if (memory_read(memory, mapping->start, image, size))
        file = elf_file_of_image(parser, image, size, mapping);
    free(image);
    return file;
}

struct elf_file *elf_file_open(struct parser *parser, pid_t pid, struct memory *memory,
                               const struct mapping *mapping, bool *ret_hangs)
{
    char root[64];
    int fd;

    *ret_hangs = false;
    if (strcmp(mapping->path, "[vdso]") == 0)
        return open_vdso(parser, memory, mapping);
    if (!is_file_path(mapping->path))
        return NULL;
    snprintf(root, sizeof(root), "/proc/%d/root", (int)pid);
    fd = open_mapped_patiently(pid, root, mapping, ret_hangs);
    return placed(elf_file_of_fd(parser, fd, root, mapping->path), mapping);
}

void elf_file_free(struct elf_file *file)
{
    if (!file)
        return;
    parser_release(file->parser);
    close(file->fd);
    free(file->segments);
    free(file->functions);
    free(file->symbol_name);
    free(file->root);
    free(file->path);
    free(file);
}

/* ---- questions ---- */

/* The parser that opened the file may have ended since. */
static bool is_open(struct elf_file *file, struct buffer *answer)
{
    if (file->epoch == parser_epoch(file->parser))
        return true;
    file->has_symbols = false;
    return let_open(file, answer);
}

bool elf_file_ask(struct elf_file *file, enum elf_call call, uint64_t address, const char *text,
                  int fd, struct buffer *answer)
{
    struct elf_request request = {
        .call = call,
        .address = address,
        .text_bytes = text ? (uint32_t)strnlen(text, ELF_TEXT_MAX + 1) : 0,
    };

    if (file->is_lost)
        return false;
    file->is_lost = !is_open(file, answer);
    request.file = file->opened.file;
    if (!file->is_lost)
        file->is_lost = !parser_ask(file->parser, &request, text, fd, answer);
    return !file->is_lost;
}

struct cfi_rule *elf_file_rule(struct elf_file *file, uint64_t pc, size_t *size)
{
    struct buffer answer = {0};

    if (elf_file_ask(file, ELF_RULE, pc, NULL, -1, &answer) && answer.size) {
        *size = answer.size;
        return (struct cfi_rule *)answer.data;
    }
    buffer_free(&answer);
    return NULL;
}

struct build_id elf_file_build_id(struct parser *parser, int fd)
{
    const struct elf_request request = {.call = ELF_BUILD_ID};
    struct build_id id = {.size = 0};
    struct buffer answer = {0};

    if (parser_ask(parser, &request, NULL, fd, &answer) && answer.size == sizeof(id))
        memcpy(&id, answer.data, sizeof(id));
    if (id.size > BUILD_ID_MAX)
        id.size = 0;
    buffer_free(&answer);
    return id;
}
