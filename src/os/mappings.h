// SPDX-License-Identifier: Apache-2.0
/*
 * The target's executable mappings and the ELF files behind them.
 *
 * Read from /proc/PID/maps. A file is opened through /proc/PID/map_files/LO-HI, which is the
 * mapped file itself whatever the target's mount namespace or chroot calls it, deleted or not.
 * Where that is not permitted (it wants CAP_SYS_ADMIN or CAP_CHECKPOINT_RESTORE), through
 * /proc/PID/root and only when device and inode agree. The vdso is read from memory.
 */
#pragma once

#include <elf.h>
#include <libelf.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "os/build_id.h"
#include "util/error.h"

struct memory;

struct mapping {
    uint64_t start, end; /* [start, end) in the target */
    uint64_t offset;     /* of `start` in the file */
    bool executable;
    const char *path; /* as /proc/PID/maps says, without " (deleted)"; "" if anonymous */
    uint64_t device;  /* as makedev() puts it together; 0 if anonymous */
    uint64_t inode;
    struct elf_file *file; /* NULL until mapping_file() succeeded */
    bool no_file;          /* mapping_file() found none; not tried again */
};

/* One ELF file that is mapped: opened once, shared by all of its mappings (a file that is loaded
 * twice, as dlmopen(3) can, counts as two). Sections are read with pread when asked for, not
 * mapped: a file that its owner truncates while it is profiled must not end the profiler with
 * SIGBUS. */
struct elf_file {
    Elf *elf;
    char *root;    /* where its process has "/"; NULL: not known */
    int fd;        /* -1: it is in memory (the vdso) */
    void *image;   /* what elf reads if it is in memory, else NULL */
    uint64_t bias; /* address in the target minus address in the file */
    char *path;    /* as in struct mapping */
    struct build_id build_id;
    struct symbol_table *symbols; /* NULL until first used (os/native_symbols.h) */
};

struct mappings;

/* Reads /proc/PID/maps. `memory` (for the vdso) is borrowed. NULL with error on failure. */
struct mappings *mappings_new(pid_t pid, struct memory *memory, struct error *error);
void mappings_free(struct mappings *mappings);

/* Mappings of a process that is not there (any more): as listed, in address order, and never read
 * again. Paths are copied, files taken over; mappings can share a file. */
struct mappings *mappings_of_list(const struct mapping *list, int count);

/* The mapping that holds `address`, or NULL. When none does, the list is read again, at most once
 * in 100 ms (something may have been loaded). Valid until the next mappings_* call. Files once
 * opened stay open, their addresses stable, for the life of the object. */
struct mapping *mappings_find(struct mappings *mappings, uint64_t address);

/* The executable mapping that holds `address`, or NULL. The list is also read again (as above)
 * where the mapping known is not executable: code may have been loaded where data was. */
struct mapping *mappings_find_code(struct mappings *mappings, uint64_t address);

/* All mappings, in address order; `*count` entries. */
const struct mapping *mappings_all(struct mappings *mappings, int *count);

/* The ELF file behind a mapping; opened at first use. NULL if there is none or it can't be read. */
struct elf_file *mapping_file(struct mappings *mappings, struct mapping *mapping);
