// SPDX-License-Identifier: Apache-2.0
/*
 * The offsets of the fields of the VM's structs.
 *
 * The rows are in layout_rows.h, one X-macro line per field. Each row becomes a member of struct
 * layout with the offset of that field, or the size of that struct; -1 if this VM has no such
 * field. The layout comes from the DWARF of the running binary. Without DWARF it comes from the
 * built-in table of that OTP release and build variant. Without a table the VM is refused.
 * vm_open() checks every layout against the live VM before it is used.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "util/error.h"
#include "wire.h"

/* The releases whose layouts are built in. */
#define LAYOUT_RELEASES(oldest, newest) enum { OLDEST_RELEASE = oldest, NEWEST_RELEASE = newest };
#include "beam/layout_tables.h"

struct layout {
#define LAYOUT_ROW(member, name) int32_t member;
#include "beam/layout_rows.h"
#undef LAYOUT_ROW
};

enum libc { LIBC_UNKNOWN, LIBC_GLIBC, LIBC_MUSL };

/* How a VM was built, read from its binary alone (beam/vm_internal.h). */
struct build {
    int otp_release;          /* 27 */
    char erts[32];            /* "15.2.7" */
    bool jit;                 /* else the interpreter ("emu") */
    enum libc libc;           /* the C library that it is linked against */
    bool native_stack;        /* Erlang stack is the machine stack (x86-64 JIT) */
    bool frame_pointer_field; /* struct process has frame_pointer (ERLANG_FRAME_POINTERS) */
    bool vm_probes;           /* USE_VM_PROBES: dynamic trace compiled in; structs differ */
    char special[24];         /* another cause of different structs, from its banner:
                               * "lock-counting", "32-bit words"; "" if none */
};

/* Fill *layout from the built-in table. Fails with ERROR_UNSUPPORTED and a text that names the
 * release or the build variant that has no table. */
int layout_from_table(const struct build *build, struct layout *layout, struct error *error);

/* Set all rows to -1: the start for a VM without a table. */
void layout_unknown(struct layout *layout);

struct parser; /* native/parser.h */

/* Fill *layout from the DWARF of the ELF file open at `fd` (the binary itself or its debug file),
 * which is borrowed. Rows of structs that the DWARF lacks keep their value. False, and *layout is
 * unchanged, if the file has no DWARF of the VM. */
bool layout_from_dwarf(struct parser *parser, int fd, struct layout *layout);

/* Check that all needed rows are present, that all values are in range, and that the fields of
 * Process and Atom lie within their structs. Readers then need no checks of their own: DWARF may
 * come from a hostile file. Returns 0, or -1 with ERROR_UNSUPPORTED. */
int layout_check(const struct layout *layout, struct error *error);

/* True if each of these rows is known, and leaves room for a word in a struct of `size` bytes. */
bool layout_rows_fit(const int32_t *rows, size_t count, int32_t size);

/* The word at an offset of a struct's bytes; 0 if this release has no such field. */
static inline uint64_t layout_word(const uint8_t *bytes, int32_t offset)
{
    uint64_t value;

    if (offset < 0)
        return 0;
    memcpy(&value, bytes + offset, sizeof(value));
    return value;
}

/* The words of the VM's structs that a sample contains: those that wire_fields.h lists. */

struct wire_words layout_process_words(const struct layout *layout);
struct wire_words layout_scheduler_words(const struct layout *layout);
