// SPDX-License-Identifier: Apache-2.0
/* The parts of replay_capture. */
#pragma once

#include "../replay/image.h"
#include "symbol/snapshot.h"
#include "symbol/unwind.h"

/* ---- replay_log.c: log the reads of a memory ---- */

struct replay_log;

/* A memory that logs what is read through it. Takes ownership of `under`. */
struct replay_log *replay_log_new(struct memory *under);
struct memory *replay_log_memory(struct replay_log *log);
/* Forget all reads so far. */
void replay_log_clear(struct replay_log *log);
/* Return the logged bytes, by address, in as few runs as possible. */
struct image_run *replay_log_runs(const struct replay_log *log, size_t *count);

/* ---- replay_elf.c: reduce an ELF file to what is needed ---- */

/* Keep those parts of an ELF file that unwinding and naming read for the given addresses (in the
 * file). */
int replay_reduce(struct elf_file *file, const uint64_t *addresses, size_t count,
                  struct image_file *image, struct error *error);

/* ---- replay_choice.c: choose samples ---- */

/* Return the name of the state of symbol/unwind.h that a sample shows. */
const char *replay_state(const struct vm *vm, struct code *code, const struct snapshot *snapshot,
                         const struct unwound *unwound);

struct replay_choice;

struct replay_choice *replay_choice_new(void);
void replay_choice_free(struct replay_choice *choice);
/* True if more samples are needed that show this state at this place in the code. */
bool replay_choose(struct replay_choice *choice, const char *state, const struct unwound *unwound);
