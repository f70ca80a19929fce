// SPDX-License-Identifier: Apache-2.0
/* A dump: the Erlang processes, ETS tables, ports and memory of one VM at one moment. `beamflame
 * dump` shows it. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "profile/dump_ports.h"
#include "profile/dump_sections.h"
#include "profile/dump_tables.h"
#include "profile/memory_use.h"
#include "profile/metrics.h"
#include "profile/profile.h"

struct dump_process {
    process_id process;
    struct metrics metrics;
    stack_id stack;   /* 0: not known */
    thread_id thread; /* that runs the process; 0: none */
    uint8_t status;   /* enum process_status */
    uint8_t flags;    /* enum sample_flag */
    int64_t growth;   /* growth of the metric `grown` */
};

/* A dump. All zero is an empty one. */
struct dump {
    const struct profile *profile; /* borrowed */
    target_id target;
    uint32_t sections; /* that were requested: 1 << enum dump_section each */
    uint64_t realtime; /* ns since 1970 */
    bool of_core;      /* read from a core file, not from a running VM */
    int signal;        /* the signal that ended the VM; 0: none or unknown */
    process_id
        crashed_process; /* crashed process: ran on the thread that got the signal; 0: none */
    struct dump_process *processes;
    size_t count, room;
    bool has_growth; /* processes were selected by their growth of `grown` */
    enum metric grown;
    uint64_t left_out; /* processes that were not selected */
    uint64_t gone;     /* processes that started or ended during the read; not in the core file */
    uint64_t torn;     /* processes that ran during each attempt to read them */
    struct dump_tables tables;
    struct memory_use memory;
    struct dump_ports ports;
};

static inline bool dump_has(const struct dump *dump, enum dump_section section)
{
    return dump->sections >> section & 1;
}

void dump_free(struct dump *dump);
void dump_add(struct dump *dump, const struct dump_process *process);
