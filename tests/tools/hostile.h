// SPDX-License-Identifier: Apache-2.0
/* Shared by the files of the program `hostile`. */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "beam/vm.h"

enum { PROCESSES_MAX = 4096 };

/* ---- the node (hostile_node.c) ---- */

extern struct vm *vm;
extern uint64_t room; /* zeros that are free */
extern uint64_t held; /* pages that nobody fills; 0: there are none */
extern uint64_t processes[PROCESSES_MAX];
extern size_t process_count;

/* Open the node, and find its processes and the room for lies. */
void open_node(pid_t pid);

/* End the program with a message. */
void fail(const char *what) __attribute__((noreturn));

/* Write into the memory of the node. */
void put(uint64_t address, const void *bytes, size_t size);
void put_u64(uint64_t address, uint64_t value);
void put_u32(uint64_t address, uint32_t value);

/* Return the address of free zeros. */
uint64_t take_room(size_t size);
/* Put words into free zeros. Return their address. */
uint64_t words(const uint64_t *values, size_t count);
uint64_t held_page(void);
/* The term of an atom with this text. */
uint64_t atom_of(const char *wanted);

/* ---- lies ---- */

/* hostile_processes.c */
void lie_ancestors(void);
void lie_dictionary(void);
void lie_label(void);
void lie_links(void);
void lie_monitors(void);
void lie_messages(void);
void lie_fragments(void);
void lie_binaries(void);
void lie_stacks(void);
void lie_processes(void);
void lie_table(void);
void lie_changing(void);
void lie_absent_stack(void);
void lie_absent_process(void);
void lie_held_table(void);
void lie_held_processes(void);
void lie_held_dictionaries(void);
void lie_held_stacks(void);

/* hostile_tables.c */
void lie_ets(void);
void lie_allocators(void);
void lie_ports(void);

/* hostile_code.c */
void lie_atoms(void);
void lie_code(void);
void lie_code_ring(void);
void lie_code_sizes(void);
void lie_names(void);
void lie_held_atoms(void);
void lie_held_code(void);
