// SPDX-License-Identifier: Apache-2.0
/* The calls that took long, each by itself: when, in which process, and from where. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "beam/code.h"
#include "calls/call_arguments.h"
#include "calls/call_names.h"
#include "calls/call_times.h"
#include "capture/call_counter.h"

struct slow_call {
    uint64_t ended; /* ns since 1970 */
    uint64_t took;  /* ns */
    uint32_t function;
    bool is_split; /* `split` is known */
    struct call_split_sums split;
    struct call_named process;
    char *arguments;          /* NULL: they were not copied */
    bool is_cut;              /* a part of them was not copied */
    struct call_named *stack; /* the caller first */
    size_t depth;
};

struct slow_calls;

/* All are borrowed. `arguments` NULL: they are not copied. */
struct slow_calls *slow_calls_new(struct call_counter *counter, struct code *code,
                                  struct call_names *names, const struct call_arguments *arguments);
void slow_calls_free(struct slow_calls *slow);

/* Take the calls that the kernel has listed. Their callers and processes get the names that they
 * have now. */
void slow_calls_read(struct slow_calls *slow);

/* The longest 10,000 calls, the longest first. Borrowed until the next read. */
const struct slow_call *slow_calls_list(struct slow_calls *slow, size_t *ret_count);

/* After list(): the number of calls that were read and are not in it. */
uint64_t slow_calls_unlisted(const struct slow_calls *slow);
