// SPDX-License-Identifier: Apache-2.0
#include "elf/notes.h"

#include <string.h>

/* Names and contents are padded to this size (elf(5)). At the end of the file the padding may be
 * missing. */
enum { ALIGNMENT = 4 };

static const void *take(struct cursor *notes, uint32_t size)
{
    const void *bytes = cursor_take(notes, size, "note is cut off");
    size_t left = (size_t)(notes->end - notes->at), padding = -(size_t)size % ALIGNMENT;

    if (bytes)
        cursor_take(notes, padding < left ? padding : left, "");
    return bytes;
}

bool elf_note_next(struct cursor *notes, struct elf_note *note)
{
    uint32_t size;
    const void *content;

    if (notes->at == notes->end)
        return false;
    note->name_size = cursor_u32(notes);
    size = cursor_u32(notes);
    note->type = cursor_u32(notes);
    note->name = take(notes, note->name_size);
    content = take(notes, size);
    if (!content)
        return false;
    note->content = cursor_over(content, size);
    return true;
}

bool elf_note_is(const struct elf_note *note, const char *owner, uint32_t type)
{
    return note->type == type && note->name_size == strlen(owner) + 1 &&
           memcmp(note->name, owner, note->name_size) == 0;
}
