// SPDX-License-Identifier: Apache-2.0
/* A table of all processes or of all ports (erl_ptab.h, ErtsPTab): an array of their addresses. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "beam/vm.h"

/* The needed fields. */
struct ptab {
    uint64_t slots, invalid; /* address; value of a slot that is reserved */
    uint32_t max;            /* number of slots */
};

/* Called with a process or port: its index in the table and the address of its struct. Returns
 * false to end the visit. */
typedef bool (*ptab_visit)(void *context, uint64_t index, uint64_t address);

/* Read the fields of the table at `root`. False if they can't be read, or make no sense. */
bool ptab_read(struct vm *vm, uint64_t root, struct ptab *table);

/* Read a mask of the table at `root`. Masks have 32 bits until 25 and 64 bits from 26 on; the
 * distance between two masks is their width. */
bool ptab_read_mask(struct vm *vm, uint64_t root, int32_t offset, uint64_t *mask);

/* Read a number of bits to shift by. False if it is more than 63. */
bool ptab_read_shift(struct vm *vm, uint64_t root, int32_t offset, int32_t *shift);

/* Read the position in the queue from which the newest entry of the table at `root` took its data.
 * Each new entry has the next position, and is in the table a little later. False if it can't be
 * read, or if the table has no queue (+P legacy, +Q legacy). */
bool ptab_read_newest(struct vm *vm, uint64_t root, uint32_t *position);

/* Set the error of a table that can't be read: "process" or "port". Return -1. */
int ptab_unreadable(const struct vm *vm, const char *what, struct error *error);

/* Visit the entries of some slots, whose first has the index `first`; false if a callback ended the
 * visit. */
bool ptab_visit_slots(const uint64_t *slots, uint32_t count, uint64_t first, uint64_t invalid,
                      ptab_visit visit, void *context);

/* Visit all entries of the table at `root` in its order. `what` is as for ptab_unreadable(). Return
 * 0, or -1 with error if the table can't be read. Entries can appear and end during the visit. */
int ptab_each(struct vm *vm, uint64_t root, const char *what, ptab_visit visit, void *context,
              struct error *error);
