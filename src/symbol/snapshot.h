// SPDX-License-Identifier: Apache-2.0
/*
 * Reads a sample as a small core dump (include/wire.h): fields, kernel stack, and memory by
 * address. Borrows the buffer with the sample.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "beam/code.h"
#include "beam/process_sweep.h"
#include "symbol/stopped_thread.h"
#include "wire.h"

struct snapshot {
    const struct wire_sample *sample;
    const uint64_t *kernel_stack; /* sample->kernel_depth addresses, leaf first */
    struct wire_region regions[WIRE_REGIONS];
    const uint8_t *bytes[WIRE_REGIONS]; /* the bytes of each region */
    uint64_t process[WIRE_PROCESS_BYTES / 8], scheduler[WIRE_SCHEDULER_BYTES / 8];
};

/* False if the bytes are not a complete sample. `data` must be aligned to 8 bytes. */
bool snapshot_open(struct snapshot *snapshot, const void *data, size_t size);

/* Rebuild Process and ErtsSchedulerData if the sample contains only single words of them. Their
 * regions become whole structs (`process_size` bytes of Process), with zeros between the words. */
void snapshot_expand(struct snapshot *snapshot, const struct wire_words *process_words,
                     size_t process_size, const struct wire_words *scheduler_words);

/* The bytes of the first region of a kind. NULL if there is none or it has fewer than `size`
 * bytes. */
const uint8_t *snapshot_region(const struct snapshot *snapshot, enum wire_region_kind kind,
                               size_t size);

/* The word at an offset of the scheduler's struct. 0 if the word was not copied: a sample contains
 * only the head of the struct, and a layout may have any offset. */
uint64_t snapshot_scheduler_word(const struct snapshot *snapshot, int32_t offset);

/* Read the word at an address of the native or Erlang stack. False if it was not copied. */
bool snapshot_word(const struct snapshot *snapshot, uint64_t address, uint64_t *word);

/* The lowest address at or above `address` whose Erlang stack was copied, or 0. */
uint64_t snapshot_next_erlang(const struct snapshot *snapshot, uint64_t address);

static inline uint64_t snapshot_register(const struct snapshot *snapshot, int number)
{
    return snapshot->sample->registers.value[number];
}

/* Converts what a sweep read of a process into the form of a kernel sample. */

struct swept_snapshot {
    struct snapshot snapshot;
    struct wire_sample sample;
    uint8_t mfa[WIRE_MFA_BYTES];
    uint8_t scheduler[WIRE_SCHEDULER_BYTES];
    uint64_t native[WIRE_C_STACK_BYTES / 8], frame[8];
    struct wire_trace trace;
};

/* Fill with a process that does not run. Keeps pointers into `swept`. `time` in ns of
 * CLOCK_MONOTONIC. */
void swept_snapshot_make(struct swept_snapshot *snapshot, const struct vm *vm, struct code *code,
                         const struct swept_process *swept, uint64_t time);

/* Add the trace that the process works for, if it has one. The snapshot is that of `swept`. */
void swept_snapshot_add_trace(struct swept_snapshot *snapshot, const struct vm *vm,
                              const struct wire_trace_atoms *atoms,
                              const struct swept_process *swept);

/* Fill with a process that `thread` runs. Keeps pointers into `swept`. False if the scheduler's
 * struct or the thread's native stack can't be read. */
bool swept_snapshot_stopped(struct swept_snapshot *snapshot, const struct vm *vm,
                            const struct swept_process *swept, const struct stopped_thread *thread,
                            uint64_t time);
