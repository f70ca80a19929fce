// SPDX-License-Identifier: Apache-2.0
/*
 * Differences between releases of the VM, other than the layout of its structs (layout.h). Code
 * that reads a VM tests a member of struct features, never the number of a release. features.c has
 * the source of each fact.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "beam/layout.h"

struct features {
    /* terms */
    bool wide_pids;        /* a pid term has 60 bits of data, not 28 */
    bool binaries_in_bits; /* binaries are HEAP_BITS, SUB_BITS and BIN_REF; sizes are in bits */
    /* Process */
    bool arity_is_byte;           /* Process.arity; else a word */
    bool fcalls_is_32_bits;       /* Process.fcalls and its register */
    bool vm_probes_at_end;        /* USE_VM_PROBES adds its fields at the end of Process */
    bool omits_writable_binaries; /* process_info(binary) omits Process.wrt_bins */
    /* ErtsSchedulerData */
    bool counters_may_move; /* patches of the release add a word before a scheduler's counters */
    /* code of the JIT */
    bool native_stack;               /* Erlang code runs on the Erlang stack: the CPU's stack
                                      * pointer is its top. Else the stacks are apart, and the
                                      * top stays in the register `saved_top` (include/arch.h) */
    bool apart_stacks_known;         /* stacks that are apart can be read */
    unsigned int saved_top;          /* register of the Erlang stack's top where Process.stop is
                                      * stale: a callee-saved one, enum cpu_register */
    bool light_bif_export_in_fcalls; /* call_light_bif keeps the Export in the register of FCALLS,
                                      * not in TMP_MEM2 */
    bool old_gdb_jit;                /* the first format of the JIT's list of code (gdb_jit.h) */
    bool has_leaf_frames; /* frames of functions can be computed (symbol/unwind_internal.h) */
    /* messages and signals */
    uint16_t alias_message;       /* index of the message in the tuple of a message to an alias */
    bool unbuffered_process_info; /* process_info() goes around the buffers of signal queues */
    /* threads */
    bool erts_thread_names; /* "erts_sched_1"; else "1_scheduler" */
};

/* The features of the release and version of a build. A release older or newer than the known ones
 * is taken for the oldest or the newest of them. */
struct features features_of(const struct build *build);
