// SPDX-License-Identifier: Apache-2.0
#include "profile/dump.h"

#include <stdlib.h>

#include "util/alloc.h"

void dump_free(struct dump *dump)
{
    free(dump->processes);
    dump_tables_free(&dump->tables);
    dump_ports_free(&dump->ports);
    *dump = (struct dump){0};
}

void dump_add(struct dump *dump, const struct dump_process *process)
{
    dump->processes = xgrow(dump->processes, &dump->room, dump->count, sizeof(*dump->processes));
    dump->processes[dump->count++] = *process;
}
