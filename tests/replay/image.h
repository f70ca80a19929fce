// SPDX-License-Identifier: Apache-2.0
/*
 * A node on file: samples of a real one, and of the node just what decoding them reads.
 *
 *   samples   bytes as the kernel side hands them over (include/wire.h)
 *   memory    what was read from the target meanwhile
 *   mappings  executable ones, and their ELF files without what nobody looks at
 *   kernel    the symbols of the kernel functions in the samples, as /proc/kallsyms has them
 *
 * Written by tests/tools/replay_capture.c. On disk all of it is one zstd frame: after a magic line,
 * numbers are varints and bytes are counted (util/buffer.h).
 */
#pragma once

#include "beam/vm.h"
#include "os/kernel_symbols.h"
#include "util/buffer.h"

/* Bytes at an address of the target's memory, or at an offset of a file. */
struct image_run {
    uint64_t at;
    struct buffer bytes;
};

/* A sparse file: all that is in no run is zero. */
struct image_file {
    uint64_t size;
    struct image_run *runs;
    size_t run_count;
};

struct image_mapping {
    uint64_t start, end, offset;
    uint64_t file; /* number of its file, from 1; 0: none */
    struct buffer path;
};

struct image_sample {
    struct buffer state; /* what it is there to show: "jit", "gc", "light_bif" ... */
    struct buffer bytes;
};

struct image {
    struct build build;
    struct vm_roots roots;
    struct vm_scheduler *schedulers;
    struct image_mapping *mappings; /* by address */
    struct image_file *files;
    struct image_run *memory; /* by address, not touching each other */
    struct image_sample *samples;
    size_t scheduler_count, mapping_count, file_count, run_count, sample_count;
    struct buffer kernel;
};

int image_write(const char *path, struct image *image, struct error *error);
int image_read(const char *path, struct image *image, struct error *error);
void image_free(struct image *image);

/* A VM of which only the image is there. The image must outlive it. NULL with error. */
struct vm *image_vm(const struct image *image, struct error *error);

/* NULL if the samples have no kernel frames. */
struct kernel_symbols *image_kernel(const struct image *image);
