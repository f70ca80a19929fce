// SPDX-License-Identifier: Apache-2.0
/*
 * The functions of builds of the VM that distributions strip. The program contains a table of each
 * build (symbols/README.md). A file that claims the build id of a table gets its names only if its
 * code is that of the build: a file can claim any build id.
 */
#pragma once

#include <libelf.h>
#include <stdbool.h>
#include <stdint.h>

/* Called for each function: [start, end) are addresses in the file, within its code. An inferred
 * name begins with INFERRED_NAME (util/inferred_name.h). */
typedef void (*known_function)(void *context, uint64_t start, uint64_t end, const char *name);

/* Call `found` for each function of the table of the file, which is also open as `fd`. The names
 * stay valid. False without a table. */
bool known_builds_read(Elf *elf, int fd, known_function found, void *context);
