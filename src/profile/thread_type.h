// SPDX-License-Identifier: Apache-2.0
/* The types of a VM's threads, by the names that the VM gives them. */
#pragma once

#include <stdint.h>

/* The types that microstate accounting knows, and all other threads. */
enum thread_type {
    THREAD_SCHEDULER,
    THREAD_DIRTY_CPU,
    THREAD_DIRTY_IO,
    THREAD_AUX,
    THREAD_POLL,
    THREAD_ASYNC,
    THREAD_OTHER,
    THREAD_TYPES,
};

/* As in erlang:statistics(microstate_accounting): "dirty_cpu_scheduler". */
const char *thread_type_name(enum thread_type type);

/* The type of the thread with this name; *ret_number is its number in the accounting (0 for
 * THREAD_OTHER). */
enum thread_type thread_type_of(const char *name, uint32_t *ret_number);
