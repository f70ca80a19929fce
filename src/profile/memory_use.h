// SPDX-License-Identifier: Apache-2.0
/*
 * Where the memory of a VM is, and how full its tables are.
 *
 * An allocator (erts_alloc(3)) serves one kind of memory: heaps, binaries, ETS... It has several
 * instances, one for each scheduler. An instance gets carriers from the operating system. It
 * divides them into blocks, which it gives to the VM. A large block has a carrier of its own. A
 * carrier with few blocks goes to a pool, from which other instances take it.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "util/error.h"

enum { ALLOCATORS_MAX = 12 };

/* All sizes are bytes. */
struct allocator {
    char name[24]; /* "eheap_alloc" */
    uint32_t instances;
    uint64_t multi;  /* carriers for many blocks, in use by an instance */
    uint64_t single; /* carriers for one block */
    uint64_t pooled; /* carriers for many blocks, in the pool */
    uint64_t blocks; /* blocks in these carriers */
    uint64_t
        allocated; /* blocks that this allocator gave out. It equals `blocks`, unless allocators
                    * share a pool (+M<S>cp): then they can be in carriers of others */
};

/* Those that are enabled, in the VM's order. */
struct allocators {
    struct allocator of[ALLOCATORS_MAX];
    size_t count;
};

/* Entries of a table, as erlang:system_info() counts them. */
struct table_use {
    uint64_t count, limit; /* limit 0: unknown */
};

struct memory_use {
    uint64_t resident;  /* bytes of the OS process in RAM; 0: unknown, as in a core file */
    uint64_t anonymous; /* those that no file and no shared mapping backs, as carriers */
    struct table_use atoms, processes, ports;
    struct allocators allocators; /* none: unknown, and `unknown` says why */
    struct error unknown;
};

/* Return the bytes of all carriers of an allocator. */
uint64_t allocator_carriers(const struct allocator *allocator);

/* Add up allocators. The name of the sum is empty. */
struct allocator allocators_total(const struct allocators *allocators);
