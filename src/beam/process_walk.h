// SPDX-License-Identifier: Apache-2.0
/*
 * The memory that a process uses outside of its struct: the parts of process_metrics_walk(). Each
 * function reads the live target. It returns false when the budget of reads is used up, when data
 * can't be read, or when data make no sense because they changed meanwhile.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "beam/vm.h"

struct process_walk {
    struct vm *vm;
    uint64_t address;     /* of the process struct */
    const uint8_t *bytes; /* the struct */
    size_t reads;         /* left in the budget */
};

/* Read `size` bytes of the target. */
bool walk_read(struct process_walk *walk, uint64_t address, void *buffer, size_t size);
/* A field of the process struct; false if this release has none, or if its offset is unknown. */
bool walk_field(const struct process_walk *walk, int32_t offset, uint64_t *value);
/* A field of `width` bytes in a copy of `size` bytes of a struct. False as above, or if the field
 * does not lie within the copy. */
bool walk_part(const uint8_t *bytes, size_t size, int32_t offset, size_t width, uint64_t *value);

/* Bytes of links and monitors, as erts_process_memory() counts them. */
bool walk_relations(struct process_walk *walk, uint64_t *size);

/* The contents of the message queue. */
struct queued {
    uint64_t messages;  /* number of messages */
    uint64_t fragments; /* words in separate heap fragments */
    uint64_t attached;  /* words in those, and in fragments that are part of a message */
    uint64_t size;      /* bytes, with the structs of the queue */
};
bool walk_queue(struct process_walk *walk, struct queued *queued);

/* Bytes of the binaries outside of the process's heap, each counted once. */
bool walk_binaries(struct process_walk *walk, uint64_t *size);
