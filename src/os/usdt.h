// SPDX-License-Identifier: Apache-2.0
/*
 * USDT probes of an ELF file: the notes that sys/sdt.h leaves (SystemTap,
 * "UserSpaceProbeImplementation"). A probe is a nop in the code, at several places if it was
 * inlined; one with a semaphore fires only while that is not 0, which the kernel sees to when the
 * probe is attached.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "os/mappings.h"

struct usdt_probe {
    const char *provider, *name; /* "message-send", as DTrace has it; valid during the visit */
    uint64_t file_offset;
    uint64_t semaphore_offset; /* in the file; 0: it has none */
};

/* Visit every place of every probe; a visit that returns false ends it. */
typedef bool (*usdt_visit)(void *context, const struct usdt_probe *probe);
void usdt_each(struct elf_file *file, usdt_visit visit, void *context);
