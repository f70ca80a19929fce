// SPDX-License-Identifier: Apache-2.0
/*
 * What of an ELF file was split off when it was stripped.
 *
 * A separate debug file is looked for where debuggers look (GDB manual, "Separate Debug Files"),
 * in the root of the process that has the file mapped, then in the host's:
 *
 *      /usr/lib/debug/.build-id/ab/cdef....debug
 *      DIR/LINK  DIR/.debug/LINK  /usr/lib/debug/DIR/LINK
 *
 * DIR is the file's own, LINK the name in its .gnu_debuglink. It is believed if it has the same
 * build id or, where the file has none, the checksum that .gnu_debuglink says.
 */
#pragma once

#include <libelf.h>
#include <stddef.h>

struct elf_file;

/* A descriptor of the separate debug file of `file`, for the caller to close; -1 if none is found,
 * or `file` is not of a live process. */
int debug_file_open(const struct elf_file *file);

/* The ELF image with a table of symbols that is packed into .gnu_debugdata (GDB manual,
 * "MiniDebugInfo"), malloc'ed; NULL if there is none that can be unpacked. */
void *debug_data_unpack(Elf *elf, size_t *size);
