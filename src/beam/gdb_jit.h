// SPDX-License-Identifier: Apache-2.0
/*
 * The list of loaded code that the JIT keeps for debuggers.
 *
 * Every build of the JIT has it (HAVE_GDB_SUPPORT,
 * beam_jit_metadata.cpp 25.2.3:62, 27.3.4.1:62, 29.1.1:64; OTP 24 has another form,
 * x86/beam_asm.cpp 24.3.4.4:642):
 *
 *   __jit_debug_descriptor            jit_code_entry              symbol file (not an ELF)
 *   u32 version, u32 action     ┌──>  next  ──> ... older         u32 kind
 *   ptr relevant_entry          │     prev                        module: base, ranges, lines
 *   ptr first_entry ────────────┘     symfile_addr ─────────────> or emulator: frame layout,
 *                                     symfile_size                    normal_exit
 *
 * New code becomes the first entry. OTP 27 and later remove purged code from the list; older
 * releases keep it. All numbers come from the target's memory and are checked here.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util/error.h"

struct memory;

enum { GDB_JIT_FIRST_ENTRY = 16 }; /* offset of first_entry in the descriptor */

struct gdb_jit_entry {
    uint64_t next;
    uint64_t symfile, symfile_size;
};

/* An entry in the VM's memory (struct jit_code_entry). */
struct gdb_jit_words {
    uint64_t next, prev, symfile, symfile_size;
};

/* False if the entry can't be read or makes no sense. */
bool gdb_jit_read_entry(struct memory *memory, uint64_t address, struct gdb_jit_entry *entry);

struct gdb_jit_range {
    uint32_t start, end; /* offsets from the module's base */
    uint32_t symbol;     /* offset in `strings` */
    uint32_t first_line; /* index of the range's first line in `lines` */
};

struct gdb_jit_line {
    uint32_t start; /* offset from the module's base */
    uint32_t line;
    uint32_t file; /* offset in `strings` */
};

/* A parsed symbol file of a module. Ranges are in address order and do not overlap. */
struct gdb_jit_module {
    struct gdb_jit_range *ranges; /* range_count entries and a sentinel */
    struct gdb_jit_line *lines;
    char *strings;
    uint32_t range_count, line_count;
    size_t bytes; /* of memory for all of these */
};

/* The header of a symbol file. The rest of the file is read when a name in it is requested. */
struct gdb_jit_header {
    bool emulator;        /* not a module: has the two fields below */
    bool frame_pointers;  /* frames are {frame pointer, return address} */
    uint64_t normal_exit; /* address of the root frame's return address; in the old format, of the
                           * variable that has it */
    uint64_t base;
    uint32_t code_size, range_count;
    char name[256];
};

/* `old_format`: features.old_gdb_jit. Return -1 with ERROR_UNSUPPORTED if the bytes make no
 * sense. */
int gdb_jit_parse_header(const uint8_t *bytes, size_t size, bool old_format,
                         struct gdb_jit_header *header, struct error *error);
int gdb_jit_parse_module(const uint8_t *bytes, size_t size, bool old_format,
                         struct gdb_jit_module *module, struct error *error);
void gdb_jit_free_module(struct gdb_jit_module *module);

/* The range with this offset from the module's base; NULL if there is none. */
const struct gdb_jit_range *gdb_jit_range_at(const struct gdb_jit_module *module, uint32_t offset);

/* The last line of the range that starts at or before the offset; NULL if there is none. */
const struct gdb_jit_line *gdb_jit_line_at(const struct gdb_jit_module *module,
                                           const struct gdb_jit_range *range, uint32_t offset);
