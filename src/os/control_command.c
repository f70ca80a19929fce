// SPDX-License-Identifier: Apache-2.0
#include "os/control_command.h"

#include <stdbool.h>
#include <string.h>

const struct control_command_text control_command_texts[CONTROL_COMMANDS] = {
    [CONTROL_STATUS] = {"status", NULL, "print how long it records, samples, VMs and options"},
    [CONTROL_PAUSE] = {"pause", NULL, "take no samples until resume: clocks and probes stop"},
    [CONTROL_RESUME] = {"resume", NULL, "take samples again"},
    [CONTROL_MARK] = {"mark", "LABEL", "mark this moment"},
    [CONTROL_SNAPSHOT] = {"snapshot", NULL, "write the outputs of what there is, and continue"},
    [CONTROL_ADD] = {"add", "NAME",
                     "record an event, or count the calls of a function, from now on"},
    [CONTROL_REMOVE] = {"remove", "NAME",
                        "stop to record an event, or to count the calls of a function"},
    [CONTROL_STOP] = {"stop", NULL, "end the recording, which then writes its outputs"},
};

static bool is_name(const char *name, const char *text, size_t size)
{
    return strlen(name) == size && !memcmp(name, text, size);
}

enum control_command control_command_find(const char *request, const char **ret_argument)
{
    size_t size = strcspn(request, " ");
    enum control_command command = 0;

    *ret_argument = request[size] ? request + size + 1 : "";
    while (command < CONTROL_COMMANDS &&
           !is_name(control_command_texts[command].name, request, size))
        command++;
    return command;
}
