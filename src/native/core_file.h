// SPDX-License-Identifier: Apache-2.0
/*
 * A core file of an OS process on a CPU like this one, as the kernel, gdb's gcore or
 * systemd-coredump writes it (core(5)).
 *
 * Opening it reads only headers and notes. Memory is read from the file on request. A file that was
 * cut short, for example by a full disk, is a core file with less memory. Everything in it is
 * untrusted.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "arch.h"
#include "native/mappings.h"
#include "native/memory.h"
#include "util/error.h"

/* Memory of the process: [start, end). Its first `file_size` bytes are in the file. */
struct core_segment {
    uint64_t start, end;
    uint64_t offset, file_size;
    bool executable;
};

/* A mapped part of a file. */
struct core_mapping {
    uint64_t start, end;
    uint64_t offset;  /* of `start` in the mapped file */
    const char *path; /* as the process saw it, without " (deleted)" */
};

struct core_thread {
    uint32_t tid;
    uint16_t signal;         /* that it received; 0: none */
    uint64_t thread_pointer; /* as ErtsSchedulerData.tid */
    uint64_t registers[CPU_REGISTERS];
};

struct patient_file;

struct core_file {
    char *path;
    struct patient_file *file;
    pid_t pid;
    uint64_t written;              /* ns since 1970 */
    uint64_t entry;                /* entry point of its program (AT_ENTRY); 0: unknown */
    uint64_t vdso;                 /* address of the vdso's ELF header (AT_SYSINFO_EHDR); 0: none */
    struct core_segment *segments; /* by address */
    size_t segment_count;
    struct core_mapping *mappings; /* by address */
    size_t mapping_count;
    struct core_thread *threads; /* the thread that ended the process is first */
    size_t thread_count;
    uint64_t size, missing; /* bytes in the file; bytes missing after its end */
    void *notes;            /* holds the paths */
};

/* Open a core file. NULL with error: ERROR_UNSUPPORTED for a core of another kind of machine;
 * ERROR_FAILED for a file that can't be read, ends within its headers or is not a core file. */
struct core_file *core_file_open(const char *path, struct error *error);

/* Check that the server of the file has answered each read. -1 with error. */
int core_file_check(const struct core_file *core, struct error *error);
void core_file_free(struct core_file *core);

/* Return the segment that contains an address, NULL if there is none. */
const struct core_segment *core_file_segment(const struct core_file *core, uint64_t address);

/* Read at most `size` bytes of memory at `address`. Return the number of bytes that the file has,
 * up to the end of the segment. */
size_t core_file_read(const struct core_file *core, uint64_t address, void *buffer, size_t size);

/* ---- core_process.c ---- */

/*
 * The process of a core file: its memory and its mappings.
 *
 * The kernel leaves mapped files, such as code, out of a core, but it keeps the first page of each
 * file (core(5), coredump_filter). A file on this machine counts as the mapped file if its build id
 * equals the one in that page. The executable can be given by its path. If that path is DIR
 * followed by the path that the executable had, libraries are also searched for below DIR.
 */

/* `executable`: its path on this machine; NULL: the path that it had. `core` is borrowed. NULL with
 * error if the core does not list the mapped files, or the executable can't be opened or is not the
 * one of the core. The files are opened so that no file server can delay that for long; after a few
 * that do not answer, the search for libraries ends. `parser` reads them; a reference is shared. */
struct mappings *core_process_mappings(const struct core_file *core, struct parser *parser,
                                       const char *executable, struct error *error);

/* Both are borrowed. Memory that the core does not have is read from the files, except in writable
 * segments. */
struct memory *core_process_memory(const struct core_file *core, struct mappings *mappings);
