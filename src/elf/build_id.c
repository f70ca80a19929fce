// SPDX-License-Identifier: Apache-2.0
#include "elf/build_id.h"

#include <elfutils/libdwelf.h>
#include <fcntl.h>
#include <gelf.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "elf/notes.h"
#include "util/files.h"

enum { KERNEL_NOTES_MAX = 4096 };

static struct build_id build_id_of_bytes(const void *bytes, size_t size)
{
    struct build_id id = {.size = 0};

    if (size > sizeof(id.bytes))
        return id;
    memcpy(id.bytes, bytes, size);
    id.size = size;
    return id;
}

struct build_id build_id_of_elf(Elf *elf)
{
    const void *bytes;
    ssize_t size = elf ? dwelf_elf_gnu_build_id(elf, &bytes) : 0;

    return size > 0 ? build_id_of_bytes(bytes, (size_t)size) : (struct build_id){.size = 0};
}

struct build_id build_id_of_notes(struct cursor notes)
{
    struct elf_note note;

    while (elf_note_next(&notes, &note))
        if (elf_note_is(&note, "GNU", NT_GNU_BUILD_ID))
            return build_id_of_bytes(note.content.at, (size_t)(note.content.end - note.content.at));
    return (struct build_id){.size = 0};
}

/* "[name]" is a module. A name without notes in /sys/module, such as "[bpf]", results in -1. */
static int open_notes(const char *module)
{
    char path[128];

    if (!strcmp(module, KERNEL_MODULE))
        return open("/sys/kernel/notes", O_RDONLY | O_CLOEXEC);
    snprintf(path, sizeof(path), "/sys/module/%.*s/notes/.note.gnu.build-id",
             (int)strcspn(module + 1, "]"), module + 1);
    return open(path, O_RDONLY | O_CLOEXEC);
}

struct build_id build_id_of_kernel(const char *module)
{
    uint8_t notes[KERNEL_NOTES_MAX];
    int fd = open_notes(module);
    size_t size;

    if (fd < 0)
        return (struct build_id){.size = 0};
    size = files_read_at(fd, 0, notes, sizeof(notes));
    close(fd);
    return build_id_of_notes(cursor_over(notes, size));
}

bool build_id_equal(const struct build_id *a, const struct build_id *b)
{
    return a->size == b->size && !memcmp(a->bytes, b->bytes, a->size);
}

struct build_id_text build_id_text(const struct build_id *id)
{
    struct build_id_text made = {""};

    for (size_t i = 0; i < id->size; i++)
        snprintf(made.text + 2 * i, 3, "%02x", id->bytes[i]);
    return made;
}
