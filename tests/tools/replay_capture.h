// SPDX-License-Identifier: Apache-2.0
/* The parts of replay_capture. */
#pragma once

#include "../replay/image.h"
#include "symbol/snapshot.h"
#include "symbol/unwind.h"

/* ---- replay_log.c: what is read from a memory ---- */

struct replay_log;

/* A memory that notes what is read through it. `under` is taken over. */
struct replay_log *replay_log_new(struct memory *under);
struct memory *replay_log_memory(struct replay_log *log);
/* Forget what was noted so far. */
void replay_log_clear(struct replay_log *log);
/* What was noted, by address, in as few runs as it can be. */
struct image_run *replay_log_runs(const struct replay_log *log, size_t *count);

/* ---- replay_elf.c: a file without what is not needed ---- */

/* Keep of an ELF file what unwinding and naming look at for the given addresses (in the file). */
int replay_reduce(struct elf_file *file, const uint64_t *addresses, size_t count,
                  struct image_file *image, struct error *error);

/* ---- replay_choice.c: which samples to keep ---- */

/* What state of symbol/unwind.h a sample shows, with a name. */
const char *replay_state(const struct vm *vm, struct code *code, const struct snapshot *snapshot,
                         const struct unwound *unwound);

struct replay_choice;

struct replay_choice *replay_choice_new(void);
void replay_choice_free(struct replay_choice *choice);
/* Whether there are not enough samples yet that show this state in this code. */
bool replay_choose(struct replay_choice *choice, const char *state, const struct unwound *unwound);
