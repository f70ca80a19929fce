// SPDX-License-Identifier: Apache-2.0
#include "native/core_file.h"

#include <errno.h>
#include <fcntl.h>
#include <elf.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "native/elf_file.h"
#include "os/patient_file.h"
#include "os/patient_open.h"
#include "os/procfs.h"
#include "util/alloc.h"
#include "util/log.h"
#include "util/optional_text.h"

enum { HEADERS_MAX = 64, NOTES_MAX = 1 << 14, VDSO_MAX = 1 << 16 };
enum { SILENT_MAX = 3 /* libraries whose server does not answer, each of which takes a while */ };

/* ---- files as they were mapped ---- */

static bool read_all(const struct core_file *core, uint64_t address, void *buffer, size_t size)
{
    return core_file_read(core, address, buffer, size) == size;
}

static struct build_id read_build_id(const struct core_file *core, uint64_t notes, uint64_t size)
{
    uint8_t bytes[NOTES_MAX];

    if (size > sizeof(bytes) || !read_all(core, notes, bytes, size))
        return (struct build_id){.size = 0};
    return build_id_of_notes(cursor_over(bytes, size));
}

static struct build_id build_id_at(const struct core_file *core, uint64_t address)
{
    struct build_id id = {.size = 0};
    Elf64_Phdr headers[HEADERS_MAX];
    Elf64_Ehdr header;

    if (!read_all(core, address, &header, sizeof(header)) ||
        memcmp(header.e_ident, ELFMAG, SELFMAG) || header.e_phnum > HEADERS_MAX ||
        !read_all(core, address + header.e_phoff, headers, header.e_phnum * sizeof(*headers)))
        return id;
    /* The first page is the start of the file, so the notes are at their file offset. */
    for (int i = 0; i < header.e_phnum && !id.size; i++)
        if (headers[i].p_type == PT_NOTE)
            id = read_build_id(core, address + headers[i].p_offset, headers[i].p_filesz);
    return id;
}

/* Consecutive mappings of one file, beginning with the one of its first page. */
struct file_group {
    size_t first, count;
    struct build_id id;
};

static struct file_group next_group(const struct core_file *core, size_t first)
{
    const struct core_mapping *mapping = &core->mappings[first];
    struct file_group group = {.first = first, .count = 1};

    while (first + group.count < core->mapping_count && mapping[group.count].offset &&
           !strcmp(mapping[group.count].path, mapping->path))
        group.count++;
    if (!mapping->offset)
        group.id = build_id_at(core, mapping->start);
    return group;
}

static bool is_executable(const struct core_file *core, const struct file_group *group)
{
    const struct core_mapping *first = &core->mappings[group->first];

    for (size_t i = 0; i < group->count; i++)
        if (core->entry >= first[i].start && core->entry < first[i].end)
            return true;
    return false;
}

/* ---- files on this machine ---- */

struct library_search {
    char *root; /* NULL: the path is one of this process */
    char *path;
    int code; /* errno; 0: found, or not a regular file */
};

static void drop_search(void *work)
{
    struct library_search *search = work;

    free(search->root);
    free(search->path);
    free(search);
}

static int find_file(void *work)
{
    struct library_search *search = work;
    int fd;

    errno = 0;
    fd = search->root ? procfs_find_in_root(search->root, search->path)
                      : procfs_keep_regular(open(search->path, O_PATH | O_CLOEXEC));
    search->code = fd < 0 ? errno : 0;
    return fd;
}

/* Return a descriptor with O_PATH. -1 with errno: 0 if it is not a regular file, EBUSY if its
 * server does not answer. */
static int find_patiently(const char *root, const char *path)
{
    struct library_search *search = xcalloc(1, sizeof(*search));
    int fd, code;

    *search = (struct library_search){.root = optional_text_copy(root), .path = xstrdup(path)};
    if (!patient_open(find_file, drop_search, search, &fd))
        return -1;
    code = search->code;
    drop_search(search);
    errno = code;
    return fd;
}

/* Return the last loadable segment of a file whose pages contain `offset`, or NULL. */
static const struct elf_segment *segment_at(const struct elf_file *file, uint64_t offset)
{
    uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
    const struct elf_segment *found = NULL;

    for (uint32_t i = 0; i < file->segment_count; i++) {
        const struct elf_segment *segment = &file->segments[i];

        if (segment->offset / page * page <= offset &&
            offset - segment->offset / page * page <= segment->file_bytes + page)
            found = segment;
    }
    return found;
}

/* True if the mapping is executable: by the core, or by the file if the core does not have the
 * memory (gdb leaves out what is in files). */
static bool is_code(const struct core_file *core, const struct core_mapping *mapping,
                    const struct elf_file *file)
{
    const struct core_segment *in_core = core_file_segment(core, mapping->start);
    const struct elf_segment *in_file = file ? segment_at(file, mapping->offset) : NULL;

    return in_core ? in_core->executable : in_file && in_file->executable;
}

static struct mapping mapping_of(const struct core_file *core, const struct core_mapping *from,
                                 const struct elf_file *file)
{
    return (struct mapping){
        .start = from->start,
        .end = from->end,
        .offset = from->offset,
        .executable = is_code(core, from, file),
        .path = from->path,
    };
}

/* Open an ELF file as it was mapped. The first mapping that agrees with the file determines its
 * bias. Takes `fd`. NULL with errno EBUSY if the server of the file does not answer. */
static struct elf_file *lay_out(const struct core_file *core, struct parser *parser,
                                const struct file_group *group, int fd, const char *root)
{
    struct elf_file *file = elf_file_of_fd(parser, fd, root, core->mappings[group->first].path);

    if (!file)
        return NULL;
    for (size_t i = 0; i < group->count; i++) {
        struct mapping mapping = mapping_of(core, &core->mappings[group->first + i], file);

        if (elf_file_place(file, &mapping))
            return file;
    }
    elf_file_free(file);
    errno = 0;
    return NULL;
}

/* All mappings under construction. */
struct maker {
    const struct core_file *core;
    struct parser *parser;
    const char *executable;
    char *root; /* NULL: not yet known */
    struct mapping *list;
    int count;
    int silent; /* files whose server did not answer */
};

/* Open a library. Only its build id proves that it is the one that was mapped. */
static struct elf_file *open_library(struct maker *maker, const struct file_group *group)
{
    const char *const roots[] = {maker->root, "/"},
                      *path = maker->core->mappings[group->first].path;

    for (size_t i = 0; i < 2 && group->id.size && maker->silent < SILENT_MAX; i++) {
        int fd = find_patiently(roots[i], path);
        struct elf_file *file =
            fd < 0 ? NULL : lay_out(maker->core, maker->parser, group, fd, roots[i]);

        if (file && build_id_equal(&file->build_id, &group->id))
            return file;
        if (!file && errno == EBUSY) {
            log_decision("core", "the file server of %s does not answer%s", path,
                         ++maker->silent < SILENT_MAX ? "" : ": no more libraries are read");
        }
        elf_file_free(file);
    }
    return NULL;
}

/* ---- the executable ---- */

static struct build_id_text known_text(const struct build_id *id)
{
    return id->size ? build_id_text(id) : (struct build_id_text){"not known"};
}

/* Return the directory below which the file of `fd` is `inside`; "/" if there is none. To be freed.
 */
static char *root_of(int fd, const char *inside)
{
    char link[32], whole[PATH_MAX];
    ssize_t length;
    size_t end = strlen(inside);

    snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
    length = readlink(link, whole, sizeof(whole));
    return length > (ssize_t)end && !memcmp(whole + length - end, inside, end)
               ? xstrndup(whole, (size_t)length - end)
               : xstrdup("/");
}

static void cannot_open(const char *path, const char *why, const struct file_group *group,
                        struct error *error)
{
    error_set(error, ERROR_FAILED,
              "can't open the executable of the core file, '%s' (%s): give it with --exe FILE "
              "(build id %s)",
              path, why, known_text(&group->id).text);
}

/* Sets the root. */
static struct elf_file *open_executable(struct maker *maker, const struct file_group *group,
                                        struct error *error)
{
    const char *was = maker->core->mappings[group->first].path, *named = maker->executable;
    const char *path = named ? named : was;
    struct elf_file *file;
    int fd = find_patiently(named ? NULL : "/", path);

    if (fd < 0) {
        cannot_open(path, errno ? patient_file_problem(errno) : "not a regular file", group, error);
        return NULL;
    }
    maker->root = named ? root_of(fd, was) : xstrdup("/");
    file = lay_out(maker->core, maker->parser, group, fd, maker->root);
    if (!file && errno == EBUSY) {
        cannot_open(path, patient_file_problem(EBUSY), group, error);
        return NULL;
    }
    if (!file) {
        error_set(error, ERROR_FAILED, "'%s' is not the executable of the core file (%s)", path,
                  was);
        return NULL;
    }
    if (group->id.size ? build_id_equal(&file->build_id, &group->id) : !!named)
        return file;
    error_set(error, ERROR_FAILED,
              "'%s' is not the executable of the core file: its build id is %s, not %s; give the "
              "right one with --exe FILE",
              path, known_text(&file->build_id).text, known_text(&group->id).text);
    elf_file_free(file);
    return NULL;
}

/* ---- all mappings ---- */

static bool find_executable(const struct core_file *core, struct file_group *found)
{
    for (size_t at = 0; core->entry && at < core->mapping_count; at += found->count) {
        *found = next_group(core, at);
        if (is_executable(core, found))
            return true;
    }
    return false;
}

static void add_group(struct maker *maker, const struct file_group *group, struct elf_file *file)
{
    for (size_t i = 0; i < group->count; i++) {
        struct mapping *mapping = &maker->list[maker->count++];

        *mapping = mapping_of(maker->core, &maker->core->mappings[group->first + i], file);
        mapping->file = file;
    }
}

/* The vdso has no file. It was in memory, so the core contains it. */
static void add_vdso(struct maker *maker)
{
    const struct core_segment *segment = core_file_segment(maker->core, maker->core->vdso);
    struct mapping mapping = {.executable = true, .path = "[vdso]"};
    uint64_t size = segment ? segment->end - segment->start : 0;
    void *image;

    if (!maker->core->vdso || !size || size > VDSO_MAX)
        return;
    mapping.start = segment->start;
    mapping.end = segment->end;
    image = xmalloc(size);
    if (read_all(maker->core, mapping.start, image, size))
        mapping.file = elf_file_of_image(maker->parser, image, size, &mapping);
    free(image);
    if (mapping.file)
        maker->list[maker->count++] = mapping;
}

static int by_start(const void *a, const void *b)
{
    const struct mapping *x = a, *y = b;

    return (x->start > y->start) - (x->start < y->start);
}

/* Add the mappings of the executable, which is `own`, and of all other files. */
static int add_all(struct maker *maker, const struct file_group *own, struct error *error)
{
    const struct core_file *core = maker->core;
    struct elf_file *executable = open_executable(maker, own, error);
    struct file_group group;

    if (!executable)
        return -1;
    for (size_t at = 0; at < core->mapping_count; at += group.count) {
        group = next_group(core, at);
        add_group(maker, &group, at == own->first ? executable : open_library(maker, &group));
    }
    add_vdso(maker);
    qsort(maker->list, (size_t)maker->count, sizeof(*maker->list), by_start);
    return 0;
}

struct mappings *core_process_mappings(const struct core_file *core, struct parser *parser,
                                       const char *executable, struct error *error)
{
    struct maker maker = {.core = core, .parser = parser, .executable = executable};
    struct mappings *mappings = NULL;
    struct file_group own = {0};

    if (!find_executable(core, &own)) {
        error_set(error, ERROR_UNSUPPORTED,
                  "it does not list the mapped files (notes NT_FILE and NT_AUXV)");
        return NULL;
    }
    maker.list = xcalloc(core->mapping_count + 1, sizeof(*maker.list));
    if (!add_all(&maker, &own, error))
        mappings = mappings_of_list(maker.list, maker.count);
    free(maker.list);
    free(maker.root);
    return mappings;
}

/* ---- memory ---- */

struct core_memory {
    struct memory memory;
    const struct core_file *core;
    struct mappings *mappings;
};

/* Read memory from the mapped file. Only memory that can't have been written is the same there. */
static size_t read_file(struct mappings *mappings, uint64_t address, void *buffer, size_t size)
{
    const struct mapping *mapping = mappings_find(mappings, address);
    uint64_t offset = mapping ? mapping->offset + (address - mapping->start) : 0;
    const struct elf_segment *segment =
        mapping && mapping->file ? segment_at(mapping->file, mapping->offset) : NULL;

    if (!segment || segment->writable || mapping->file->in_memory)
        return 0;
    if (size > mapping->end - address)
        size = mapping->end - address;
    return elf_file_read(mapping->file, offset, buffer, size);
}

static bool read_memory(struct memory *memory, uint64_t address, void *buffer, size_t size)
{
    const struct core_memory *self = (const struct core_memory *)memory;

    while (size) {
        size_t got = core_file_read(self->core, address, buffer, size);

        if (!got)
            got = read_file(self->mappings, address, buffer, size);
        if (!got)
            return false;
        address += got;
        buffer = (char *)buffer + got;
        size -= got;
    }
    return true;
}

static void free_memory(struct memory *memory)
{
    free(memory);
}

struct memory *core_process_memory(const struct core_file *core, struct mappings *mappings)
{
    struct core_memory *memory = xcalloc(1, sizeof(*memory));

    memory->memory.read = read_memory;
    memory->memory.free = free_memory;
    memory->core = core;
    memory->mappings = mappings;
    return &memory->memory;
}
