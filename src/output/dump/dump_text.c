// SPDX-License-Identifier: Apache-2.0
#include "output/dump/sections.h"
#include "output/dump/writers.h"
#include "output/summary/summary_text.h"

static void (*const writers[DUMP_SECTIONS])(FILE *file, const struct dump *dump) = {
    [DUMP_PROCESSES] = dump_processes_text,
    [DUMP_TABLES] = dump_tables_text,
    [DUMP_MEMORY] = dump_memory_text,
    [DUMP_PORTS] = dump_ports_text,
};

void dump_write_text(FILE *file, const struct dump *dump)
{
    struct buffer target = {0};
    const char *separator = "";

    summary_text_of_target(dump->profile, dump->target, &target);
    fprintf(file, "%.*s\n", (int)target.size, target.data);
    buffer_free(&target);
    for (int section = 0; section < DUMP_SECTIONS; section++) {
        if (!dump_has(dump, (enum dump_section)section))
            continue;
        fputs(separator, file);
        writers[section](file, dump);
        separator = "\n";
    }
}
