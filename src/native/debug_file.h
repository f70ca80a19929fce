// SPDX-License-Identifier: Apache-2.0
/*
 * Finds the symbols that were split off an ELF file when it was stripped.
 *
 * A separate debug file is searched for in the places that the user names, then where debuggers
 * look (GDB manual, "Separate Debug Files"), in the root of the process that has the file mapped,
 * then in the host's:
 *
 *      /usr/lib/debug/.build-id/ab/cdef....debug
 *      DIR/LINK  DIR/.debug/LINK  /usr/lib/debug/DIR/LINK
 *
 * DIR is the directory of the ELF file, LINK the name in its .gnu_debuglink. If debug
 * files are fetched (native/debug_fetch.h), their cache comes last. A debug file is accepted if it
 * has the same build id. If the ELF file has no build id, the checksum in .gnu_debuglink must
 * match.
 */
#pragma once

#include <stddef.h>

#include "util/error.h"

struct elf_file;

/* Search in this place of the host first, before any file is opened: a debug file, or a directory
 * that has debug files by build id or by LINK. */
int debug_file_add_place(const char *path, struct error *error);

/* Return a descriptor (O_PATH) of the separate debug file of `file`, for the caller to close. -1 if
 * none is found, or the root of the file's process is unknown (an image in memory, such as the
 * vdso). A file that was not found is looked for again only after it was fetched: parsers of VMs
 * that rest end and start often. */
int debug_file_open(struct elf_file *file);

/* Says where the symbols of a stripped file are to be had. */

/* Return the package with the debug symbols of the Erlang VM of a distribution, by the text of its
 * os-release; NULL if unknown. */
const char *debug_file_package_of_release(const char *os_release);

/* Write how to get the symbols of `file`, the executable of a VM: a package, the path where they
 * are searched for, and the option that names another place. */
void debug_file_advice(const struct elf_file *file, char *text, size_t size);
