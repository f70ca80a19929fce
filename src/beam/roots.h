// SPDX-License-Identifier: Apache-2.0
/*
 * Find the VM's global variables.
 *
 * The address of a root comes from the dynamic symbols if the VM exports it. From OTP 29 on the VM
 * is built with -fvisibility=hidden, and all of its writable data are searched instead. In both
 * cases the memory at the address must pass the test for that root. A search succeeds only if
 * exactly one candidate passes.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "beam/vm.h"
#include "native/mappings.h"

/* The VM's writable data (.data, .bss), read once, and what the tests need to read further. */
struct roots_search {
    struct memory *memory;
    const struct layout *layout;
    uint64_t start; /* address of bytes[0] in the target */
    uint8_t *bytes;
    size_t size;
    uint64_t executable_start; /* the executable ends where the data end */
    uint64_t atom_table;       /* 0 until it is found */
};

/* Read the writable segments of `executable`, mapped in the target. */
int roots_search_read(struct roots_search *search, struct elf_file *executable,
                      struct error *error);

/* Find all roots. `executable` may be NULL: then no symbols are used. If it returns 0, all required
 * roots are found; other roots can be 0. */
int roots_find(struct roots_search *search, struct elf_file *executable, struct vm_roots *roots,
               struct error *error);

/* The tests: true if the variable may lie at `address` within the data. Fills *root: the address
 * itself, or, for pointers, the value of the variable. */
typedef bool (*root_test)(const struct roots_search *search, uint64_t address, uint64_t *root);

bool root_test_process_table(const struct roots_search *search, uint64_t address, uint64_t *root);
bool root_test_port_table(const struct roots_search *search, uint64_t address, uint64_t *root);
bool root_test_atom_table(const struct roots_search *search, uint64_t address, uint64_t *root);
bool root_test_schedulers(const struct roots_search *search, uint64_t address, uint64_t *root);
bool root_test_dirty_cpu_schedulers(const struct roots_search *search, uint64_t address,
                                    uint64_t *root);
bool root_test_dirty_io_schedulers(const struct roots_search *search, uint64_t address,
                                   uint64_t *root);
bool root_test_jit_descriptor(const struct roots_search *search, uint64_t address, uint64_t *root);
bool root_test_code_ranges(const struct roots_search *search, uint64_t address, uint64_t *root);
bool root_test_this_node(const struct roots_search *search, uint64_t address, uint64_t *root);
bool root_test_allocators(const struct roots_search *search, uint64_t address, uint64_t *root);
