// SPDX-License-Identifier: Apache-2.0
/*
 * How much memory hangs off a process: the parts of process_metrics_walk(). Each reads the live
 * target as often as its budget allows, and says false where that ends, where something can't be
 * read, or makes no sense because it changed meanwhile.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "beam/vm.h"

struct walk {
    struct vm *vm;
    uint64_t address;     /* of the process struct */
    const uint8_t *bytes; /* the struct */
    size_t reads;         /* that are left */
};

/* Read `size` bytes of the target. */
bool walk_read(struct walk *walk, uint64_t address, void *buffer, size_t size);
/* A field of the process struct; false if this release has none, or it is not known where. */
bool walk_field(const struct walk *walk, int32_t offset, uint64_t *value);
/* A field of `width` bytes of a part of a struct; the same, or if it does not lie within. */
bool walk_part(const uint8_t *bytes, size_t size, int32_t offset, size_t width, uint64_t *value);

/* Links and monitors: bytes, as erts_process_memory() counts them. */
bool walk_relations(struct walk *walk, uint64_t *size);

/* What waits in the message queue. */
struct queued {
    uint64_t messages;  /* how many */
    uint64_t fragments; /* words in heap fragments of their own */
    uint64_t attached;  /* words in those and in fragments that are a part of the message */
    uint64_t size;      /* bytes, with the structs that queue them */
};
bool walk_queue(struct walk *walk, struct queued *queued);

/* Bytes of the binaries that live outside of its heap, each once. */
bool walk_binaries(struct walk *walk, uint64_t *size);
