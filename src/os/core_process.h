// SPDX-License-Identifier: Apache-2.0
/*
 * The process of a core file: its memory, and what it had mapped.
 *
 * The kernel leaves out of a core what can be read from files, such as code, but puts in the first
 * page of each of them (core(5), coredump_filter). A file that is here is taken for the one that
 * was mapped if it has the build id that this page has; the executable can be named, and where it
 * is below a directory with the path that it had, the libraries are looked for below that, too.
 */
#pragma once

#include "os/core_file.h"
#include "os/mappings.h"
#include "os/memory.h"
#include "util/error.h"

/* `executable`: path of it here; NULL: it is where it was. `core` is borrowed. NULL with error
 * where it is not the executable that the core is of. */
struct mappings *mappings_of_core(const struct core_file *core, const char *executable,
                                  struct error *error);

/* Both are borrowed. What the core does not have is read from the files, if nothing can have been
 * written there. */
struct memory *memory_of_core(const struct core_file *core, struct mappings *mappings);
