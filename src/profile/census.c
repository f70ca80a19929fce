// SPDX-License-Identifier: Apache-2.0
#include "profile/census.h"

#include <stdlib.h>

#include "profile/selection.h"
#include "util/alloc.h"

void census_free(struct census *census)
{
    free(census->processes);
    *census = (struct census){0};
}

void census_add(struct census *census, const struct census_process *process)
{
    census->processes =
        xgrow(census->processes, &census->room, census->count, sizeof(*census->processes));
    census->processes[census->count++] = *process;
}

void census_keep(struct census *census, struct selection *selection)
{
    size_t kept = 0;

    for (size_t i = 0; i < census->count; i++) {
        const struct census_process *process = &census->processes[i];
        const struct sample sample = {
            .process = process->process,
            .stack = process->stack,
            .thread = process->thread,
            .status = process->status,
            .flags = process->flags,
        };

        if (selection_wants(selection, &sample))
            census->processes[kept++] = *process;
    }
    census->left_out += census->count - kept;
    census->count = kept;
}
