// SPDX-License-Identifier: Apache-2.0
/* Reads notes of an ELF file from untrusted bytes. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util/cursor.h"

struct elf_note {
    const char *name; /* not terminated */
    uint32_t name_size;
    uint32_t type;
    struct cursor content;
};

/* Read the next note at the cursor. False if there is no complete one. */
bool elf_note_next(struct cursor *notes, struct elf_note *note);

/* True if the note has this owner and type. */
bool elf_note_is(const struct elf_note *note, const char *owner, uint32_t type);
