// SPDX-License-Identifier: Apache-2.0
/*
 * USDT probes of an ELF file, from the notes of sys/sdt.h (SystemTap,
 * "UserSpaceProbeImplementation"). A probe is a nop in the code. If it was inlined, it has several
 * places. A probe with a semaphore fires only while the semaphore is not 0; the kernel increments
 * it when the probe is attached.
 */
#pragma once

#include <libelf.h>
#include <stdbool.h>
#include <stdint.h>

struct usdt_probe {
    const char *provider, *name; /* "message-send", as in DTrace; valid during the visit */
    uint64_t file_offset;
    uint64_t semaphore_offset; /* in the file; 0: no semaphore */
};

/* Visit every place of every probe. A visit that returns false ends it. */
typedef bool (*usdt_visit)(void *context, const struct usdt_probe *probe);
void usdt_notes_each(Elf *elf, usdt_visit visit, void *context);
