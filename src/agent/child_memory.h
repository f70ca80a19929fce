// SPDX-License-Identifier: Apache-2.0
/* The memory of the agent's children: those that answer a request, and those that make profiles. */
#pragma once

#include <stdint.h>

enum {
    /* Enough for a dump of some 1,000,000 processes, and for outputs of a recording with many
     * stacks. */
    CHILD_MEMORY_MB = 1024,
    /* Two requests at once, with their files, do not make the kernel kill the agent. */
    CHILD_MEMORY_SHARE = 4, /* of the memory of the control group */
};

/* Find out what the agent's control group may have, in a process that can read that. Processes that
 * it starts later know it. */
void child_memory_look(void);

/* Return the address space that a child may take beyond what it has, in bytes: at most
 * CHILD_MEMORY_MB, and this share of what the control group may have. */
uint64_t child_memory(void);
