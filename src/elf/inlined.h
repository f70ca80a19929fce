// SPDX-License-Identifier: Apache-2.0
/*
 * The functions that a compiler inlined at an address, and lines of the source, from DWARF. libdw
 * does not check all that it reads: only the parser may use this.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "elf/elf_limits.h"
#include "util/buffer.h"

struct inlined;

/* Read all debug information of the file `fd`, which takes room of `room`. NULL if there is none,
 * or too much. `room` is borrowed. */
struct inlined *inlined_new(int fd, struct elf_room *room);
void inlined_free(struct inlined *inlined);

/* Append the functions at `address`, an address of the file, as ELF_INLINED in elf/requests.h says;
 * at most `size` bytes. */
void inlined_find(struct inlined *inlined, uint64_t address, size_t size, struct buffer *answer);
