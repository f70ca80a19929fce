// SPDX-License-Identifier: Apache-2.0
/* Opening what is mapped, with care: the target may be hostile. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "os/mappings.h"

/* The file behind `mapping` of process `pid`; NULL if it has none that is an ELF file. */
struct elf_file *elf_file_open(pid_t pid, struct memory *memory, const struct mapping *mapping);
void elf_file_free(struct elf_file *file);

/* Where `elf` lies if `mapping` maps it: address in the target minus address in the file. False
 * if no loadable segment of the file is what is mapped there. */
bool elf_bias(Elf *elf, const struct mapping *mapping, uint64_t *bias);
