// SPDX-License-Identifier: Apache-2.0
#include "profile/census.h"

#include <stdlib.h>

#include "util/alloc.h"

void census_free(struct census *census)
{
    free(census->processes);
    *census = (struct census){0};
}

void census_add(struct census *census, const struct census_process *process)
{
    if (census->count == census->room) {
        census->room = census->room ? census->room * 2 : 1024;
        census->processes =
            xreallocarray(census->processes, census->room, sizeof(*census->processes));
    }
    census->processes[census->count++] = *process;
}
