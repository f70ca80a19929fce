// SPDX-License-Identifier: Apache-2.0
#include "native/elf_file.h"
#include "native/cfi_rules.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "native/memory.h"
#include "native/native_symbols.h"
#include "os/patient_open.h"
#include "os/procfs.h"
#include "util/address_map.h"
#include "util/alloc.h"
#include "util/files.h"
#include "util/log.h"
#include "util/optional_text.h"

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

    snprintf(path, sizeof(path), "/proc/%d/map_files/%llx-%llx", (int)pid,
             (unsigned long long)mapping->start, (unsigned long long)mapping->end);
    return procfs_keep_regular(open(path, O_PATH | O_CLOEXEC));
}

/* Find the file at the path in /proc/PID/maps if it is the mapped one. */
static int find_named(const char *root, const struct mapping *mapping)
{
    int fd = procfs_find_in_root(root, mapping->path);
    struct stat status;

    if (fd >= 0 && (fstat(fd, &status) != 0 || status.st_dev != mapping->device ||
                    status.st_ino != mapping->inode)) {
        close(fd);
        return -1;
    }
    return fd;
}

static int find_by_name(const char *root, const struct mapping *mapping)
{
    int fd = find_named(root, mapping);

    /* For a process in a bare chroot, maps has the path as we see it. */
    return fd >= 0 ? fd : find_named("/", mapping);
}

/* Memory files are not loaded ELF files: "/memfd:vmem" is code of the JIT. */
static bool is_file_path(const char *path)
{
    return path[0] == '/' && strncmp(path, "/memfd:", 7) != 0;
}

struct file_finding {
    pid_t pid;
    char root[64];
    struct mapping mapping;
    char *path;
};

static void drop_finding(void *work)
{
    struct file_finding *finding = work;

    free(finding->path);
    free(finding);
}

static int find_mapped(void *work)
{
    const struct file_finding *finding = work;
    int fd = find_by_name(finding->root, &finding->mapping);

    /* Opening map_files takes the lock of the memory map. */
    return fd >= 0 ? fd : open_map_file(finding->pid, &finding->mapping);
}

/* The lock of the memory map, or the server of the file, can delay this for ever. -1 with errno. */
static int find_mapped_patiently(pid_t pid, const char *root, const struct mapping *mapping)
{
    struct file_finding *finding = xcalloc(1, sizeof(*finding));
    int fd;

    finding->pid = pid;
    snprintf(finding->root, sizeof(finding->root), "%s", root);
    finding->mapping = *mapping;
    finding->mapping.path = finding->path = xstrdup(mapping->path);
    if (patient_open(find_mapped, drop_finding, finding, &fd)) {
        drop_finding(finding);
        errno = fd < 0 ? ENOENT : 0;
    }
    return fd;
}

/* ---- servers that do not answer ---- */

static void note_silence(struct parser *parser, uint64_t device, const char *path)
{
    log_decision("mappings", "the file server of %s does not answer: its files have no names",
                 path);
    parser_note_silent(parser, device);
}

static bool is_silent(const struct parser *parser, uint64_t device)
{
    return device && device == parser_silent_device(parser);
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

/* Let the parser open the file. False if it does not accept it; errno as of parser_ask(). */
static bool let_open(struct elf_file *file, struct buffer *answer)
{
    const struct elf_request request = {.call = ELF_OPEN};

    if (!parser_ask(file->parser, &request, NULL, file->fd, answer))
        return false;
    errno = 0;
    if (answer->size < sizeof(file->opened))
        return false;
    memcpy(&file->opened, answer->data, sizeof(file->opened));
    file->epoch = parser_epoch(file->parser);
    return is_sound(&file->opened, answer->size);
}

/* As elf_file_of_fd(); the file is of this device. */
static struct elf_file *file_of(struct parser *parser, int fd, uint64_t device, const char *root,
                                const char *path)
{
    struct buffer answer = {0};
    struct elf_file *file;
    size_t bytes;
    int code = 0;

    if (fd < 0)
        return NULL;
    file = xcalloc(1, sizeof(*file));
    file->fd = fd;
    file->device = device;
    file->root = optional_text_copy(root);
    file->path = xstrdup(path);
    file->parser = parser_share(parser);
    if (let_open(file, &answer)) {
        bytes = file->opened.segment_count * sizeof(struct elf_segment);
        file->segment_count = file->opened.segment_count;
        file->segments = xmalloc(bytes + 1);
        memcpy(file->segments, answer.data + sizeof(file->opened), bytes);
        file->build_id = file->opened.build_id;
    } else {
        code = errno;
        if (code == EBUSY)
            note_silence(parser, device, path);
        elf_file_free(file);
        file = NULL;
    }
    buffer_free(&answer);
    errno = code;
    return file;
}

struct elf_file *elf_file_of_fd(struct parser *parser, int fd, const char *root, const char *path)
{
    return file_of(parser, fd, 0, root, path);
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

    if (fd >= 0 && files_write_all(fd, image, size) != 0) {
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
                               const struct mapping *mapping)
{
    char root[64];
    int fd;

    if (strcmp(mapping->path, "[vdso]") == 0)
        return open_vdso(parser, memory, mapping);
    if (!is_file_path(mapping->path) || is_silent(parser, mapping->device))
        return NULL;
    snprintf(root, sizeof(root), "/proc/%d/root", (int)pid);
    fd = find_mapped_patiently(pid, root, mapping);
    if (fd < 0 && errno == EBUSY)
        note_silence(parser, mapping->device, mapping->path);
    return placed(file_of(parser, fd, mapping->device, root, mapping->path), mapping);
}

void elf_file_free(struct elf_file *file)
{
    if (!file)
        return;
    parser_release(file->parser);
    close(file->fd);
    free(file->segments);
    free(file->functions);
    recent_bytes_forget(&file->recent);
    known_symbols_free(file->known);
    known_rules_free(file->rules);
    address_map_free(file->likenesses);
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

/* Ask the parser. Without an answer the file can't be used any more. If its server is silent,
 * neither can others. */
static bool ask(struct elf_file *file, struct elf_request *request, const char *text, int fd,
                struct buffer *answer)
{
    if (file->is_lost)
        return false;
    errno = 0;
    file->is_lost = is_silent(file->parser, file->device) || !is_open(file, answer);
    request->file = file->opened.file;
    if (!file->is_lost)
        file->is_lost = !parser_ask(file->parser, request, text, fd, answer);
    if (file->is_lost && errno == EBUSY && fd < 0) /* else it may be the server of `fd` */
        note_silence(file->parser, file->device, file->path);
    return !file->is_lost;
}

bool elf_file_ask(struct elf_file *file, enum elf_call call, uint64_t address, const char *text,
                  int fd, struct buffer *answer)
{
    struct elf_request request = {
        .call = call,
        .address = address,
        .text_bytes = text ? (uint32_t)strnlen(text, ELF_TEXT_MAX + 1) : 0,
    };

    return ask(file, &request, text, fd, answer);
}

/* Read at most ELF_ANSWER_MAX bytes. */
static size_t read_part(struct elf_file *file, uint64_t offset, void *buffer, size_t size)
{
    struct elf_request request = {.call = ELF_BYTES, .address = offset, .size = (uint32_t)size};
    struct buffer answer = {0};
    size_t got = 0;

    if (ask(file, &request, NULL, -1, &answer)) {
        got = answer.size < size ? answer.size : size;
        if (got)
            memcpy(buffer, answer.data, got);
    }
    buffer_free(&answer);
    return got;
}

/* Read the part of the file that has the bytes, unless they are too many for a part. */
static void read_ahead(struct elf_file *file, uint64_t offset, size_t size)
{
    struct recent_part *part;

    if (size > RECENT_PART_BYTES / 2)
        return;
    part = recent_bytes_replace(&file->recent, offset);
    part->size = read_part(file, part->offset, part->bytes, RECENT_PART_BYTES);
}

size_t elf_file_read(struct elf_file *file, uint64_t offset, void *buffer, size_t size)
{
    size_t done = 0, part, got;

    if (recent_bytes_copy(&file->recent, offset, buffer, size))
        return size;
    read_ahead(file, offset, size);
    if (recent_bytes_copy(&file->recent, offset, buffer, size))
        return size;
    do {
        part = size - done < ELF_ANSWER_MAX ? size - done : ELF_ANSWER_MAX;
        got = part ? read_part(file, offset + done, (char *)buffer + done, part) : 0;
        done += got;
    } while (got && got == part);
    return done;
}

void elf_file_rules(struct elf_file *file, uint64_t pc, struct buffer *rules)
{
    if (!elf_file_ask(file, ELF_RULES, pc, NULL, -1, rules))
        rules->size = 0;
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
