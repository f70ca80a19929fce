// SPDX-License-Identifier: Apache-2.0
#include "native/core_file.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "arch/cpu.h"
#include "elf/build_id.h"
#include "elf/notes.h"
#include "os/patient_file.h"
#include "util/alloc.h"
#include "util/sorted.h"

enum {
    SEGMENTS_MAX = 1 << 20,
    NOTES_MAX = 1 << 28, /* a few KB for each thread, and the names of mapped files */
};

/* ---- memory ---- */

const struct core_segment *core_file_segment(const struct core_file *core, uint64_t address)
{
    size_t until =
        sorted_until(core->segments, core->segment_count, sizeof(*core->segments), address);

    return until && address < core->segments[until - 1].end ? &core->segments[until - 1] : NULL;
}

size_t core_file_read(const struct core_file *core, uint64_t address, void *buffer, size_t size)
{
    const struct core_segment *segment = core_file_segment(core, address);
    uint64_t at = segment ? address - segment->start : 0;

    if (!segment || at >= segment->file_size)
        return 0;
    if (size > segment->file_size - at)
        size = segment->file_size - at;
    return patient_file_read(core->file, segment->offset + at, buffer, size);
}

/* ---- headers ---- */

static int compare(uint64_t a, uint64_t b)
{
    return (a > b) - (a < b);
}

static int by_start(const void *a, const void *b)
{
    return compare(((const struct core_segment *)a)->start,
                   ((const struct core_segment *)b)->start);
}

/* Return how much of [offset, offset + size) the file has. Add the rest to core->missing. */
static uint64_t present(struct core_file *core, uint64_t offset, uint64_t size)
{
    uint64_t there = offset < core->size ? core->size - offset : 0;

    if (there >= size)
        return size;
    if (size - there < UINT64_MAX - core->missing)
        core->missing += size - there;
    return there;
}

static void add_segment(struct core_file *core, const Elf64_Phdr *header)
{
    struct core_segment *segment = &core->segments[core->segment_count];
    uint64_t size = header->p_filesz < header->p_memsz ? header->p_filesz : header->p_memsz;

    if (!header->p_memsz || header->p_vaddr > UINT64_MAX - header->p_memsz)
        return;
    *segment = (struct core_segment){
        .start = header->p_vaddr,
        .end = header->p_vaddr + header->p_memsz,
        .offset = header->p_offset,
        .file_size = present(core, header->p_offset, size),
        .executable = header->p_flags & PF_X,
    };
    core->segment_count++;
}

/* If the header has too few bits for the number of segments, that number is in the header of the
 * first section (elf(5), PN_XNUM). */
static bool read_segment_count(const struct core_file *core, const Elf64_Ehdr *header,
                               uint32_t *count)
{
    Elf64_Shdr section;

    *count = header->e_phnum;
    if (header->e_phnum != PN_XNUM)
        return true;
    if (patient_file_read(core->file, header->e_shoff, &section, sizeof(section)) !=
        sizeof(section))
        return false;
    *count = section.sh_info;
    return *count <= SEGMENTS_MAX;
}

/* Return the program headers, NULL if some are missing in the file. */
static Elf64_Phdr *read_segments(const struct core_file *core, const Elf64_Ehdr *header,
                                 uint32_t *count)
{
    Elf64_Phdr *segments;
    size_t size;

    if (!read_segment_count(core, header, count) || header->e_phentsize != sizeof(*segments))
        return NULL;
    size = *count * sizeof(*segments);
    segments = xmalloc(size + 1);
    if (patient_file_read(core->file, header->e_phoff, segments, size) == size)
        return segments;
    free(segments);
    return NULL;
}

/* ---- notes ---- */

/* Offsets in struct elf_prstatus and elf_prpsinfo (linux/elfcore.h) on 64-bit machines. */
enum { STATUS_SIGNAL = 12, STATUS_TID = 32, STATUS_REGISTERS = 112, INFO_PID = 24 };

static void add_thread(struct core_file *core, struct cursor status)
{
    struct core_thread thread = {0};
    size_t size = (size_t)(status.end - status.at);

    if (size < STATUS_REGISTERS ||
        !cpu_read_core_registers(status.at + STATUS_REGISTERS, size - STATUS_REGISTERS,
                                 thread.registers, &thread.thread_pointer))
        return;
    memcpy(&thread.signal, status.at + STATUS_SIGNAL, sizeof(thread.signal));
    memcpy(&thread.tid, status.at + STATUS_TID, sizeof(thread.tid));
    core->threads = xreallocarray(core->threads, core->thread_count + 1, sizeof(thread));
    core->threads[core->thread_count++] = thread;
}

static void read_info(struct core_file *core, struct cursor info)
{
    uint32_t pid = 0;

    if (cursor_take(&info, INFO_PID, ""))
        pid = cursor_u32(&info);
    core->pid = pid <= INT32_MAX ? (pid_t)pid : 0;
}

static void read_vector(struct core_file *core, struct cursor vector)
{
    while (vector.at < vector.end && !vector.problem) {
        uint64_t type = cursor_u64(&vector), value = cursor_u64(&vector);

        if (type == AT_ENTRY)
            core->entry = value;
        else if (type == AT_SYSINFO_EHDR)
            core->vdso = value;
    }
}

/* Return the next path, without the " (deleted)" of a deleted file. NULL if the path has no end. */
static const char *next_path(struct cursor *paths)
{
    static const char deleted[] = " (deleted)";
    char *path = (char *)(uintptr_t)paths->at;
    size_t cut = sizeof(deleted) - 1, length = strnlen(path, (size_t)(paths->end - paths->at));

    if (!cursor_take(paths, length + 1, ""))
        return NULL;
    if (length >= cut && memcmp(path + length - cut, deleted, cut) == 0)
        path[length - cut] = '\0';
    return path;
}

/* Read the note NT_FILE: count, page size, {start, end, offset in pages} of each mapping, and then
 * the paths (fs/binfmt_elf.c, fill_files_note). */
static void read_mappings(struct core_file *core, struct cursor places_note)
{
    enum { ENTRY = 3 * sizeof(uint64_t) };
    uint64_t count = cursor_u64(&places_note), page = cursor_u64(&places_note);
    struct cursor paths = places_note;

    if (places_note.problem || core->mappings ||
        count > (size_t)(places_note.end - places_note.at) / ENTRY ||
        !cursor_take(&paths, count * ENTRY, ""))
        return;
    core->mappings = xcalloc(count + 1, sizeof(*core->mappings));
    for (uint64_t i = 0; i < count; i++) {
        struct core_mapping *mapping = &core->mappings[core->mapping_count];
        uint64_t before = core->mapping_count ? mapping[-1].end : 0, pages;

        mapping->start = cursor_u64(&places_note);
        mapping->end = cursor_u64(&places_note);
        pages = cursor_u64(&places_note);
        mapping->path = next_path(&paths);
        if (!mapping->path)
            return;
        if (mapping->start < before || mapping->start >= mapping->end ||
            __builtin_mul_overflow(pages, page, &mapping->offset))
            continue;
        core->mapping_count++;
    }
}

static void read_note(struct core_file *core, const struct elf_note *note)
{
    if (elf_note_is(note, "CORE", NT_PRSTATUS))
        add_thread(core, note->content);
    else if (elf_note_is(note, "CORE", NT_PRPSINFO))
        read_info(core, note->content);
    else if (elf_note_is(note, "CORE", NT_AUXV))
        read_vector(core, note->content);
    else if (elf_note_is(note, "CORE", NT_FILE))
        read_mappings(core, note->content);
}

static void read_notes(struct core_file *core, const Elf64_Phdr *header)
{
    uint64_t size = present(core, header->p_offset, header->p_filesz);
    struct elf_note note;
    struct cursor notes;

    if (!size || size > NOTES_MAX || core->notes)
        return;
    core->notes = xmalloc(size);
    notes = cursor_over(core->notes,
                        patient_file_read(core->file, header->p_offset, core->notes, size));
    while (elf_note_next(&notes, &note))
        read_note(core, &note);
}

/* ---- the file ---- */

static const struct {
    const char *magic, *kind, *program;
} packed[] = {
    {"\x28\xb5\x2f\xfd", "zstd", "zstd -d"},
    {"\x04\x22\x4d\x18", "lz4", "lz4 -d"},
    {"\xfd\x37zXZ", "xz", "xz -d"},
    {"\x1f\x8b", "gzip", "gzip -d"},
};

static int no_core(const char *path, const Elf64_Ehdr *header, struct error *error)
{
    for (size_t i = 0; i < sizeof(packed) / sizeof(packed[0]); i++)
        if (!memcmp(header->e_ident, packed[i].magic, strlen(packed[i].magic)))
            return error_set(error, ERROR_FAILED,
                             "'%s' is compressed with %s: decompress it first (%s)", path,
                             packed[i].kind, packed[i].program);
    if (memcmp(header->e_ident, ELFMAG, SELFMAG))
        return error_set(error, ERROR_FAILED, "'%s' is not a core file", path);
    return error_set(error, ERROR_FAILED,
                     "'%s' is not a core file but another ELF file; --exe takes the executable",
                     path);
}

static int cut_short(const char *path, const struct core_file *core, struct error *error)
{
    return error_set(
        error, ERROR_FAILED,
        "'%s' is incomplete: it has %llu bytes, and even the table of its memory is missing", path,
        (unsigned long long)core->size);
}

/* Fail if this is not a core file of a process on this kind of machine. */
static int check_header(const char *path, const struct core_file *core, const Elf64_Ehdr *header,
                        struct error *error)
{
    if (memcmp(header->e_ident, ELFMAG, SELFMAG))
        return no_core(path, header, error);
    if (core->size < sizeof(*header))
        return cut_short(path, core, error);
    if (header->e_ident[EI_CLASS] != ELFCLASS64 || header->e_ident[EI_DATA] != ELFDATA2LSB ||
        header->e_machine != cpu.elf)
        return error_set(error, ERROR_UNSUPPORTED,
                         "'%s' comes from another machine (ELF machine %u, %s); only core files of "
                         "64-bit %s processes can be read",
                         path, header->e_machine,
                         header->e_ident[EI_CLASS] == ELFCLASS64 ? "64-bit" : "32-bit", cpu.name);
    return header->e_type == ET_CORE ? 0 : no_core(path, header, error);
}

static int read_core(const char *path, struct core_file *core, struct error *error)
{
    Elf64_Ehdr header = {0};
    Elf64_Phdr *segments;
    uint32_t count;

    patient_file_read(core->file, 0, &header, sizeof(header));
    if (check_header(path, core, &header, error))
        return -1;
    segments = read_segments(core, &header, &count);
    if (!segments)
        return cut_short(path, core, error);
    core->segments = xcalloc(count + 1, sizeof(*core->segments));
    for (uint32_t i = 0; i < count; i++) {
        if (segments[i].p_type == PT_LOAD)
            add_segment(core, &segments[i]);
        else if (segments[i].p_type == PT_NOTE)
            read_notes(core, &segments[i]);
    }
    free(segments);
    qsort(core->segments, core->segment_count, sizeof(*core->segments), by_start);
    return 0;
}

static int open_file(const char *path, struct core_file *core, struct error *error)
{
    const struct stat *status;

    core->path = xstrdup(path);
    core->file = patient_file_open(path, false, error);
    if (!core->file)
        return -1;
    status = patient_file_status(core->file);
    if (!S_ISREG(status->st_mode))
        return error_set(error, ERROR_FAILED, "'%s' is not a regular file", path);
    core->size = (uint64_t)status->st_size;
    core->written =
        (uint64_t)status->st_mtim.tv_sec * 1000000000 + (uint64_t)status->st_mtim.tv_nsec;
    return 0;
}

struct core_file *core_file_open(const char *path, struct error *error)
{
    struct core_file *core = xcalloc(1, sizeof(*core));

    if (!open_file(path, core, error) && !read_core(path, core, error) &&
        !core_file_check(core, error))
        return core;
    if (core->file)
        core_file_check(core, error); /* it explains any other error */
    core_file_free(core);
    return NULL;
}

int core_file_check(const struct core_file *core, struct error *error)
{
    if (!patient_file_is_silent(core->file))
        return 0;
    return error_set(error, ERROR_FAILED, "can't read '%s': %s", core->path,
                     patient_file_problem(EBUSY));
}

void core_file_free(struct core_file *core)
{
    if (!core)
        return;
    patient_file_close(core->file);
    free(core->path);
    free(core->segments);
    free(core->mappings);
    free(core->threads);
    free(core->notes);
    free(core);
}
