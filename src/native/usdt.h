// SPDX-License-Identifier: Apache-2.0
/* USDT probes of a mapped file (elf/usdt_notes.h). */
#pragma once

#include "elf/usdt_notes.h"
#include "native/mappings.h"

/* Visit every place of every probe. A visit that returns false ends it. */
void usdt_each(struct elf_file *file, usdt_visit visit, void *context);
