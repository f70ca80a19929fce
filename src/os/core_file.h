// SPDX-License-Identifier: Apache-2.0
/*
 * A core file of a process on x86-64, as the kernel, gdb's gcore or systemd-coredump write it
 * (core(5)).
 *
 * Only what says where things are is read when it is opened; memory is read from the file when it
 * is asked for. A file that is cut short, as a full disk leaves it, is a core file of less memory.
 * Everything in it is untrusted.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "os/cfi.h"
#include "util/error.h"

/* Memory of the process: [start, end), of which the first `file_size` bytes are in the file. */
struct core_segment {
    uint64_t start, end;
    uint64_t offset, file_size;
    bool executable;
};

/* What of a file was mapped where. */
struct core_mapping {
    uint64_t start, end;
    uint64_t offset;  /* of `start` in the file */
    const char *path; /* as the process saw it, without " (deleted)" */
};

struct core_thread {
    uint32_t tid;
    uint16_t signal;         /* that it got, 0: none */
    uint64_t thread_pointer; /* fs base */
    uint64_t registers[CFI_REGISTERS];
};

struct core_file {
    int fd;
    pid_t pid;
    uint64_t written;              /* ns since 1970 */
    uint64_t entry;                /* where its program is entered (AT_ENTRY); 0: not known */
    uint64_t vdso;                 /* address of the vdso's ELF header (AT_SYSINFO_EHDR), 0: none */
    struct core_segment *segments; /* by address */
    size_t segment_count;
    struct core_mapping *mappings; /* by address */
    size_t mapping_count;
    struct core_thread *threads; /* the one that ended the process first */
    size_t thread_count;
    uint64_t size, missing; /* bytes that the file has, and that it should have behind these */
    void *notes;            /* to which paths point */
};

/* ERROR_UNSUPPORTED: of another machine. NULL with error also where it is no core file. */
struct core_file *core_file_open(const char *path, struct error *error);
void core_file_free(struct core_file *core);

/* The segment that holds an address, NULL if none does. */
const struct core_segment *core_file_segment(const struct core_file *core, uint64_t address);

/* Read memory from `address` on, at most `size` bytes; returns how many of them are in the file. */
size_t core_file_read(const struct core_file *core, uint64_t address, void *buffer, size_t size);
