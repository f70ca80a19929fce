// SPDX-License-Identifier: Apache-2.0
/* The steps of vm_open(). Each step needs the parts of struct vm that the steps before it have
 * filled. */
#pragma once

#include "beam/layout.h"
#include "beam/vm.h"

/* Run all steps below in their order, and find the roots. Needs vm->memory, mappings, entry and
 * build. */
int vm_examine(struct vm *vm, struct error *error);

/* Fill vm->features, and vm->layout: from DWARF of the executable or of its debug file, else from
 * the table. */
int vm_check_layout(struct vm *vm, struct elf_file *executable, struct error *error);

/* Fill vm->schedulers from vm->roots.schedulers. */
int schedulers_read(struct vm *vm, struct error *error);

/* Compare layout and roots with the live VM. ERROR_UNSUPPORTED: the text says what does not fit. */
int vm_check(struct vm *vm, struct error *error);

/* Return 0 if this process may read the memory of `pid`, else -1 with error. */
int vm_identify_permitted(pid_t pid, struct error *error);

/* ---- build.c ---- */

/* Identify a BEAM and its release by the contents of the ELF file, never by the file's name. */

/* Read .rodata of the ELF file open at `fd`: the banner "Erlang/OTP R%s [erts-V] ..." and the text
 * of config.h that each VM contains. Returns 1 and fills *build if it is a BEAM, 0 if it is not, -1
 * with error if it can't be read. */
int build_identify(int fd, struct build *build, struct error *error);

/* Return 0, or -1 with ERROR_UNSUPPORTED if the JIT of this build uses the CPU in a way that is not
 * known, whatever the layout of its structs. */
int build_check(const struct build *build, struct error *error);
