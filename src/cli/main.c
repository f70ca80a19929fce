// SPDX-License-Identifier: Apache-2.0
#include <stdio.h>
#include <string.h>

#include "cli/command.h"

static const struct {
    const char *name;
    int (*run)(int argc, char **argv);
} commands[] = {
    {"record", command_record}, {"report", command_report}, {"diff", command_diff},
    {"dump", command_dump},     {"ps", command_ps},         {"probes", command_probes},
};

/* The program's name in help and usage messages of a command. */
static char *name_of(const char *program, const char *command)
{
    static char name[256];

    snprintf(name, sizeof(name), "%s %s", program, command);
    return name;
}

int main(int argc, char **argv)
{
    if (argc > 1 && !strcmp(argv[1], "--version")) {
        puts("beamflame " BEAMFLAME_VERSION);
        return 0;
    }
    for (size_t i = 0; argc > 1 && i < sizeof(commands) / sizeof(*commands); i++)
        if (!strcmp(argv[1], commands[i].name)) {
            argv[1] = name_of(argv[0], argv[1]);
            return commands[i].run(argc - 1, argv + 1);
        }
    return command_record(argc, argv);
}
