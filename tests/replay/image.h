// SPDX-License-Identifier: Apache-2.0
/*
 * An image of a node in a file: samples of a real node, and those of its data that decoding them
 * reads.
 *
 *   samples   bytes as the kernel side delivers them (include/wire.h)
 *   memory    what was read from the target's memory
 *   mappings  executable ones, and their ELF files reduced to what is read
 *   kernel    the symbols of the kernel functions in the samples, in the format of /proc/kallsyms
 *
 * Written by tests/tools/replay_capture.c. On disk the image is one zstd frame: after a magic line,
 * numbers are varints and bytes have their length (util/buffer.h).
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

/* A sparse file: bytes in no run are zero. */
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
    struct buffer state; /* the state that the sample shows: "jit", "gc", "light_bif" ... */
    struct buffer bytes;
};

struct image {
    struct build build;
    struct vm_roots roots;
    struct vm_scheduler *schedulers;
    struct image_mapping *mappings; /* by address */
    struct image_file *files;
    struct image_run *memory; /* by address, not adjacent */
    struct image_sample *samples;
    size_t scheduler_count, mapping_count, file_count, run_count, sample_count;
    struct buffer kernel;
};

int image_write(const char *path, struct image *image, struct error *error);
int image_read(const char *path, struct image *image, struct error *error);
void image_free(struct image *image);

/* Make a VM whose memory is the image. The image must outlive it. NULL with error. */
struct vm *image_vm(const struct image *image, struct error *error);

/* NULL if the samples have no kernel frames. */
struct kernel_symbols *image_kernel(const struct image *image);
