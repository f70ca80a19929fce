// SPDX-License-Identifier: Apache-2.0
/* The input of unwinding: the mappings and the memory of a process. */
#pragma once

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "native/cfi.h"
#include "native/mappings.h"
#include "native/memory.h"

enum { DEPTH = 64 };

#define NO_FRAME_POINTER __attribute__((noinline, optimize("omit-frame-pointer")))

struct unwinder {
    struct memory *memory;
    struct mappings *mappings;
    uint64_t lowest; /* nothing below is readable, as if it was not captured */
};

static inline bool read_stack(void *context, uint64_t address, uint64_t *word)
{
    const struct unwinder *unwinder = context;

    return address >= unwinder->lowest && memory_read_u64(unwinder->memory, address, word);
}

static inline struct unwinder unwinder_of(pid_t pid)
{
    struct unwinder unwinder = {.memory = memory_of_process(pid)};
    struct error error;

    unwinder.mappings = mappings_new(pid, unwinder.memory, &error);
    assert_non_null(unwinder.mappings);
    return unwinder;
}

static inline void unwinder_free(struct unwinder *unwinder)
{
    mappings_free(unwinder->mappings);
    memory_free(unwinder->memory);
}
