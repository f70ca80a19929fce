// SPDX-License-Identifier: Apache-2.0
/*
 * The process of a core file: its memory and its mappings.
 *
 * The kernel leaves out of a core what can be read from files, such as code, but it keeps the first
 * page of each file (core(5), coredump_filter). A file on this machine counts as the one that was
 * mapped if it has the build id in that page. The executable can be given by its path. If that path
 * is DIR followed by the path that the executable had, libraries are also searched for below DIR.
 */
#pragma once

#include "native/core_file.h"
#include "native/mappings.h"
#include "native/memory.h"
#include "util/error.h"

/* `executable`: its path on this machine; NULL: the path that it had. `core` is borrowed. NULL with
 * error if the core does not list the mapped files, or the executable can't be opened or is not the
 * one of the core. The files are opened so that no server of files can delay that for long; after
 * a few that do not answer, libraries are not looked for any more. `parser` reads them; a reference
 * is shared. */
struct mappings *core_process_mappings(const struct core_file *core, struct parser *parser,
                                       const char *executable, struct error *error);

/* Both are borrowed. Memory that the core does not have is read from the files, except in writable
 * segments. */
struct memory *core_process_memory(const struct core_file *core, struct mappings *mappings);
