// SPDX-License-Identifier: Apache-2.0
#include <string.h>

#include "cli/command.h"

const struct command *const commands[] = {
    &record_command, &report_command, &diff_command, &dump_command,       &ps_command,
    &probes_command, &doctor_command, &help_command, &completion_command, NULL,
};

const struct command *command_find(const char *name)
{
    for (const struct command *const *command = commands; *command; command++)
        if (!strcmp((*command)->name, name))
            return *command;
    return NULL;
}
