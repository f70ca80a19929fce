// SPDX-License-Identifier: Apache-2.0
/*
 * ELF files that are not trusted. libelf and libdw read whole sections into memory, and unpack
 * those that are compressed: a file of a kilobyte can take all memory. So a file is opened only if
 * the bytes that they would read fit into a limit for each file, and into a limit for all files of
 * a VM.
 */
#pragma once

#include <libelf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    /* A VM's executable takes 2 MB, all of its files together some 5 MB. */
    ELF_BYTES_MAX = 64 << 20,
    ELF_ROOM_BYTES = 96 << 20,
    /* Debug information, which is read and freed again: a VM's takes 50 MB. */
    ELF_DEBUG_BYTES_MAX = 128 << 20,
};

/* The room of all files that a VM has mapped. */
struct elf_room {
    size_t taken; /* bytes, by open files */
};

/* Take bytes of the room for other data of a file, such as unpacked symbols, and give them back.
 * False if they do not fit. */
bool elf_limits_take(struct elf_room *room, size_t bytes);
void elf_limits_give(struct elf_room *room, size_t bytes);

/* Open the file for reading as elf_begin(3) does. *ret_bytes is what it takes of the room, which
 * can be NULL. NULL if it is no 64-bit ELF file, or if it takes too much. */
Elf *elf_limits_open(int fd, struct elf_room *room, size_t *ret_bytes);

/* The same for an image in memory, which must stay there. */
Elf *elf_limits_open_image(void *image, size_t size, struct elf_room *room, size_t *ret_bytes);

/* Close a file that took `bytes` of the room. `elf` can be NULL. */
void elf_limits_close(Elf *elf, struct elf_room *room, size_t bytes);

/* Return the bytes of the debug information of the open file. */
uint64_t elf_limits_debug_bytes(Elf *elf);

/* True if libdw may read the debug information of the open file. dwarf_begin_elf() reads all. */
bool elf_limits_fit_debug(Elf *elf);
