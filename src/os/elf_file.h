// SPDX-License-Identifier: Apache-2.0
/* Opening what is mapped, with care: the target may be hostile. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "os/mappings.h"

/* The file behind `mapping` of process `pid`; NULL if it has none that is an ELF file. */
struct elf_file *elf_file_open(pid_t pid, struct memory *memory, const struct mapping *mapping);
void elf_file_free(struct elf_file *file);

/* The file open at `fd`, which is taken, also on failure; -1 is fine. `root` is where the process
 * saw
 * "/", or can be taken to have: its debug file is looked for there. */
struct elf_file *elf_file_of_fd(int fd, const char *root, const struct mapping *mapping);

/* A file whose bytes are in memory (the vdso; a recorded image in tests). `image` is malloc'ed and
 * taken over, also on failure. */
struct elf_file *elf_file_of_image(void *image, size_t size, const struct mapping *mapping);

/* Where `elf` lies if `mapping` maps it: address in the target minus address in the file. False
 * if no loadable segment of the file is what is mapped there. */
bool elf_bias(Elf *elf, const struct mapping *mapping, uint64_t *bias);
