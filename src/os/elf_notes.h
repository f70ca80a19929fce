// SPDX-License-Identifier: Apache-2.0
/* Notes of an ELF file, from bytes that may be anything. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "util/cursor.h"

struct elf_note {
    const char *name; /* not terminated */
    uint32_t name_size;
    uint32_t type;
    struct cursor content;
};

/* The next note at the cursor; false if there is none, or not all of it. */
bool elf_note_next(struct cursor *notes, struct elf_note *note);

/* Whether it is a note of `owner` of that type. */
bool elf_note_is(const struct elf_note *note, const char *owner, uint32_t type);
