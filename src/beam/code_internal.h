// SPDX-License-Identifier: Apache-2.0
/*
 * The parts of the code map, for its own files:
 *
 *      code.c           making a map, and looking up addresses and names
 *      code_refresh.c   reading the JIT's list, and parsing modules
 *
 * A module is identified by the addresses of its list entry and symbol file, and by a hash of the
 * first bytes of the file: a freed entry can be reused at the same address with other content.
 *
 *   live      modules that the VM has now, by address; they do not overlap
 *   retired   modules that something newer has replaced, newest first; forgotten after some seconds
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "beam/code.h"
#include "beam/module_symbols.h"
#include "util/address_map.h"

enum { ENTRIES_MAX = 1 << 18 }; /* of the list; a longer list is taken for a loop */

struct code_module {
    uint64_t start, end;
    uint64_t symfile, symfile_size;
    uint64_t age; /* number of modules added before this one */
    char *name;
    bool unreadable;
    const struct module_symbols *symbols; /* NULL: not parsed */
    struct code_module *next_retired;
    uint64_t retired_ns; /* CLOCK_MONOTONIC */
};

/* One of the newest entries of the list, as the last refresh has read it. */
struct newest_entry {
    uint64_t address;
    uint64_t symfile, symfile_size;
    uint64_t hash; /* of the first bytes of the symbol file */
};

enum { NEWEST = 4 }; /* entries that each refresh compares */

struct code {
    struct vm *vm;
    bool old_format;
    uint64_t first_entry; /* at the last refresh */
    struct newest_entry newest[NEWEST];
    size_t newest_count;
    uint64_t normal_exit;
    bool frame_pointers;
    uint64_t epoch;
    uint64_t added;            /* number of modules added so far */
    struct code_module **live; /* by address */
    size_t live_count, live_room;
    struct code_module *retired;
    size_t parsed_bytes;
    bool out_of_time;             /* the last refresh ended by its limit of CPU time */
    uint64_t rest_until;          /* CLOCK_MONOTONIC: the list is not read before */
    struct address_map *by_entry; /* list entry -> struct content, from the last read */
    struct address_map *call_classes;
};

void code_refresh_module_free(struct code_module *module);

/* The live module that has code at the address. NULL if there is none. */
struct code_module *code_refresh_live_at(const struct code *code, uint64_t address);

/* The newest module that has code at the address, live or retired. NULL if there is none. */
struct code_module *code_refresh_module_at(const struct code *code, uint64_t address);

/* Parse the symbols of a module, if that was not done. module->symbols stays NULL if they
 * can't be read. */
void code_refresh_parse(struct code *code, struct code_module *module);
