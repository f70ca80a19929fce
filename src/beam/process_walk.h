// SPDX-License-Identifier: Apache-2.0
/*
 * The memory that a process uses outside of its struct. process_walk_metrics() adds up its parts.
 * The function of each part reads the live target. It returns false when the budget of reads is
 * used up, when data can't be read, or when data make no sense because they changed meanwhile.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "beam/vm.h"
#include "profile/metrics.h"

/* Add the metrics that process_metrics_read() omits to *metrics, by reading the data that the
 * struct at `address` points to. `bytes` must be a fresh copy of the struct: if the struct has
 * changed meanwhile, nothing is added. The walk reads at most `reads` times, and once more for that
 * check. Returns the number of reads. */
enum { PROCESS_READS_MAX = 100000 };
size_t process_walk_metrics(struct vm *vm, uint64_t address, const uint8_t *bytes, size_t reads,
                            struct metrics *metrics);

/* ---- the parts ---- */

struct process_walk {
    struct vm *vm;
    uint64_t address;     /* of the process struct */
    const uint8_t *bytes; /* the struct */
    size_t reads;         /* left in the budget */
    struct read_cache cache;
};

/* Read `size` bytes of the target. They can be as old as the first read of their neighbours. */
bool process_walk_read(struct process_walk *walk, uint64_t address, void *buffer, size_t size);
/* Read `count` spans. False if one can't be read. */
bool process_walk_read_spans(struct process_walk *walk, struct memory_span *spans, size_t count);
/* A field of the process struct; false if this release has none, or if its offset is unknown. */
bool process_walk_field(const struct process_walk *walk, int32_t offset, uint64_t *value);
/* A field of `width` bytes in a copy of `size` bytes of a struct. False as above, or if the field
 * does not lie within the copy. */
bool process_walk_part(const uint8_t *bytes, size_t size, int32_t offset, size_t width,
                       uint64_t *value);

/* Bytes of links and monitors, as erts_process_memory() counts them. */
bool relations_walk(struct process_walk *walk, uint64_t *size);

/* The contents of the message queue. */
struct queued {
    uint64_t messages;  /* number of messages */
    uint64_t fragments; /* words in separate heap fragments */
    uint64_t attached;  /* words in those, and in fragments that are part of a message */
    uint64_t size;      /* bytes, with the structs of the queue */
};
bool process_walk_queue(struct process_walk *walk, struct queued *queued);

/* Bytes of the binaries outside of the process's heap, each counted once. */
bool held_binaries_walk(struct process_walk *walk, uint64_t *size);
