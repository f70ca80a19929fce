// SPDX-License-Identifier: Apache-2.0
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/command_line.h"
#include "cli/message.h"
#include "cli/verbose.h"
#include "os/descriptors.h"
#include "os/standard_input.h"

int main(int argc, char **argv)
{
    const struct command *command = argc > 1 ? command_find(argv[1]) : NULL;
    int code;

    descriptors_fill_standard();
    standard_input_begin();
    if (argc > 1 && (!strcmp(argv[1], "--version") || !strcmp(argv[1], "-V"))) {
        message_print("beamflame " BEAMFLAME_VERSION);
        return message_finish("the version");
    }
    if (argc > 1 && (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h")))
        return help_command.run(0, NULL);
    verbose_start(getenv("BEAMFLAME_LOG"));
    code = command ? command->run(argc - 2, argv + 2) : commands[0]->run(argc - 1, argv + 1);
    verbose_end();
    return code;
}
