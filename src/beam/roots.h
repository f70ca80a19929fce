// SPDX-License-Identifier: Apache-2.0
/*
 * Finding the VM's global variables.
 *
 * A root's address comes from the dynamic symbols where the emulator exports it. From OTP 29 it is
 * built with -fvisibility=hidden, and the whole of its writable data is searched instead. Either
 * way an address counts only if what lies there passes the test for that root, and a search only
 * if exactly one thing does.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "beam/vm.h"
#include "os/mappings.h"

/* The emulator's writable data (.data, .bss), read once, and what it takes to look further. */
struct roots_search {
    struct memory *memory;
    const struct layout *layout;
    uint64_t start; /* address of bytes[0] in the target */
    uint8_t *bytes;
    size_t size;
    uint64_t executable_start; /* the executable ends where the data do */
    uint64_t atom_table;       /* as soon as it is known */
};

/* Read the writable segments of `executable`, mapped in the target. */
int roots_search_read(struct roots_search *search, struct elf_file *executable,
                      struct error *error);

/* Find all roots; `executable` NULL means that nothing is exported. The required ones are there
 * when it returns 0. */
int roots_find(struct roots_search *search, struct elf_file *executable, struct vm_roots *roots,
               struct error *error);

/* The tests: whether the variable may lie at `address` within the data, and if so the root in
 * *root (the address itself, or the variable's value for pointers). */
typedef bool (*root_test)(const struct roots_search *search, uint64_t address, uint64_t *root);

bool root_is_process_table(const struct roots_search *search, uint64_t address, uint64_t *root);
bool root_is_port_table(const struct roots_search *search, uint64_t address, uint64_t *root);
bool root_is_atom_table(const struct roots_search *search, uint64_t address, uint64_t *root);
bool root_is_schedulers(const struct roots_search *search, uint64_t address, uint64_t *root);
bool root_is_dirty_cpu_schedulers(const struct roots_search *search, uint64_t address,
                                  uint64_t *root);
bool root_is_dirty_io_schedulers(const struct roots_search *search, uint64_t address,
                                 uint64_t *root);
bool root_is_jit_descriptor(const struct roots_search *search, uint64_t address, uint64_t *root);
bool root_is_code_ranges(const struct roots_search *search, uint64_t address, uint64_t *root);
bool root_is_this_node(const struct roots_search *search, uint64_t address, uint64_t *root);
