// SPDX-License-Identifier: Apache-2.0
#include "profile/dump.h"

#include <stdlib.h>

#include "profile/selection.h"
#include "util/alloc.h"

void dump_free(struct dump *dump)
{
    free(dump->processes);
    *dump = (struct dump){0};
}

void dump_add(struct dump *dump, const struct dump_process *process)
{
    dump->processes = xgrow(dump->processes, &dump->room, dump->count, sizeof(*dump->processes));
    dump->processes[dump->count++] = *process;
}

void dump_keep(struct dump *dump, struct selection *selection)
{
    size_t kept = 0;

    for (size_t i = 0; i < dump->count; i++) {
        const struct dump_process *process = &dump->processes[i];
        const struct sample sample = {
            .process = process->process,
            .stack = process->stack,
            .thread = process->thread,
            .status = process->status,
            .flags = process->flags,
        };

        if (selection_wants(selection, &sample))
            dump->processes[kept++] = *process;
    }
    dump->left_out += dump->count - kept;
    dump->count = kept;
}
