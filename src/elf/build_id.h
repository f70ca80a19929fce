// SPDX-License-Identifier: Apache-2.0
/* GNU build ids. A build id identifies one build of a program, library or kernel. */
#pragma once

#include <libelf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util/cursor.h"

#define KERNEL_MODULE "[kernel.kallsyms]" /* as perf calls it */

enum { BUILD_ID_MAX = 64 };

struct build_id {
    uint8_t bytes[BUILD_ID_MAX];
    size_t size; /* 0: unknown */
};

struct build_id_text {
    char text[2 * BUILD_ID_MAX + 1];
};

/* The build id is unknown if there is none or it is longer than BUILD_ID_MAX. `elf` may be NULL. */
struct build_id build_id_of_elf(Elf *elf);
struct build_id build_id_of_notes(struct cursor notes);

/* The build id of the running kernel (KERNEL_MODULE) or of one of its modules ("[name]"). */
struct build_id build_id_of_kernel(const char *module);

bool build_id_equal(const struct build_id *a, const struct build_id *b);

/* Lower-case hexadecimal digits; "" for an unknown build id. */
struct build_id_text build_id_text(const struct build_id *id);
