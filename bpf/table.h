/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * Copy the argument of a BIF by which the function of an ETS table knows its table.
 *
 * The JIT hands a BIF the array of X registers, in which X0 is the first argument
 * (jit/x86/instr_bif.cpp 25.2.3:438, 25.2.3:782, 27.3.4.1:446, 27.3.4.1:806; BIF_ARG_1, bif.h). On
 * x86-64 all X registers are in that memory. A BIF writes to X0 only when it traps, just before it
 * returns (ERTS_BIF_PREP_TRAP1, bif.h): then X0 is the first argument of the function that it traps
 * to. X0 has one of these forms:
 *
 *      atom                                 the name of a named table
 *      boxed -> magic reference             the identifier of a table (make_tid(), erl_db.c)
 *      boxed -> tuple {Table, ...}          a continuation, whose table has one of the forms above
 *
 * A term can move while a collection runs. Its old place then has no header, and is left out.
 */
#ifndef BEAMFLAME_TABLE_H
#define BEAMFLAME_TABLE_H

#include "sample.h"
#include "vm_constants.h"

/* Read the table that the term stands for. False if it can't be one. `numbers`: offset of
 * ErtsMagicBinary.refn, negative if unknown. */
static __always_inline bool table_read(struct wire_table *table, __u64 term, __s16 numbers)
{
    __u64 words[2]; /* a header, and the word behind it */

    *table = (struct wire_table){};
    for (int i = 0; i < 2; i++) {
        if ((term & TAG_IMMED2_MASK) == TAG_IMMED2_ATOM) {
            table->name = term;
            return true;
        }
        if ((term & TAG_PRIMARY_MASK) != TAG_PRIMARY_BOXED ||
            bpf_probe_read_user(words, sizeof(words), (void *)(term & ~7ULL)))
            return false;
        if (words[0] == ERTS_REF_THING_HEADER)
            break;
        if ((words[0] & TAG_HEADER_MASK) != ARITYVAL_SUBTAG)
            return false;
        table->continues = true;
        term = words[1];
    }
    table->identifier = words[1];
    return words[0] == ERTS_REF_THING_HEADER && (__u32)words[1] != ERTS_ORDINARY_REF_MARKER &&
           numbers >= 0 &&
           !bpf_probe_read_user(table->numbers, sizeof(table->numbers),
                                (void *)(words[1] + numbers));
}

/* Add the region of the table, if X0, which is at `address`, can be one. */
__noinline int put_table(__u32 at, __u64 address, __s16 numbers)
{
    struct scratch *scratch = scratch_at(at);
    struct wire_table *table = scratch ? room(scratch) : 0;
    __u64 term;

    if (!table || bpf_probe_read_user(&term, sizeof(term), (void *)address) ||
        !table_read(table, term, numbers))
        return 0;
    sample_add_region(scratch, REGION_TABLE, address, sizeof(*table));
    return sizeof(*table);
}

#endif
