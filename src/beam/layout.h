// SPDX-License-Identifier: Apache-2.0
/*
 * Where the fields of the VM's structs lie.
 *
 * The rows are in layout_rows.h, one X-macro line a field; each becomes a member of struct layout
 * with that field's offset (or size, or -1 where this VM has no such field). A layout comes from
 * the DWARF of the running binary if it has any, else from the built-in table of that OTP release
 * and build variant, else there is none and the VM is refused. Whatever its source, vm_open()
 * checks it against the live VM before anything is believed.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "util/error.h"

struct layout {
#define LAYOUT_ROW(member, name) int32_t member;
#include "beam/layout_rows.h"
#undef LAYOUT_ROW
};

/* How a VM was built, told from its binary alone (beam/build.h). */
struct build {
    int otp_release;          /* 27 */
    char erts[32];            /* "15.2.7" */
    bool jit;                 /* else the interpreter ("emu") */
    bool native_stack;        /* Erlang stack is the machine stack (x86-64 glibc JIT) */
    bool frame_pointer_field; /* struct process has frame_pointer (ERLANG_FRAME_POINTERS) */
    bool vm_probes;           /* USE_VM_PROBES: dynamic trace compiled in; structs differ */
    bool hipe;                /* OTP 23 with HiPE */
    char special[24];         /* what else makes its structs differ, from its banner:
                               * "lock-counting", "32-bit words"; "" if nothing */
};

/* Fill from the built-in table. Fails with ERROR_UNSUPPORTED and says which release and variant
 * were looked for. */
int layout_from_table(const struct build *build, struct layout *layout, struct error *error);

/* All rows -1: to start from where there is no table. */
void layout_unknown(struct layout *layout);

/* Fill from DWARF of the ELF file open at `fd` (the binary itself or its debug file). Rows that
 * DWARF does not know keep the value in *layout. Returns 1 if it has DWARF of the VM and the
 * layout was filled, 0 if it has none, -1 with error. */
int layout_from_dwarf(int fd, struct layout *layout, struct error *error);

/* Whether all rows that are needed are there and each lies within its struct, so that readers need
 * no checks of their own: DWARF may come from a hostile file. */
int layout_check(const struct layout *layout, struct error *error);

/* The word at an offset of a struct's bytes. */
static inline uint64_t layout_word(const uint8_t *bytes, int32_t offset)
{
    uint64_t value;

    memcpy(&value, bytes + offset, sizeof(value));
    return value;
}
