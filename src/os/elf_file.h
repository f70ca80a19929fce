// SPDX-License-Identifier: Apache-2.0
/* Opens mapped ELF files with care: the target may be hostile. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "os/elf_limits.h"
#include "os/mappings.h"

/* Open the file behind `mapping` of process `pid`. NULL if it has none, or one that is not an ELF
 * file, or that does not fit into `room`, the room of all files of the process. */
struct elf_file *elf_file_open(pid_t pid, struct memory *memory, const struct mapping *mapping,
                               struct elf_room *room);
void elf_file_free(struct elf_file *file);

/* Make an elf_file of the open file `fd`. Takes `fd`, also on failure. Return NULL on failure, and
 * for an `fd` of -1. `root` is the root directory of the process, or a substitute for it: the debug
 * file is searched for there. */
struct elf_file *elf_file_of_fd(int fd, const char *root, const struct mapping *mapping);

/* Make an elf_file of an image in memory (the vdso; a recorded image in tests). Takes `image`,
 * which is malloc'ed, also on failure. */
struct elf_file *elf_file_of_image(void *image, size_t size, const struct mapping *mapping);

/* Find the bias of `elf` if `mapping` maps it: address in the target minus address in the file.
 * False if the file has no loadable segment that `mapping` maps. */
bool elf_bias(Elf *elf, const struct mapping *mapping, uint64_t *bias);
