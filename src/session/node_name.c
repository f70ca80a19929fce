// SPDX-License-Identifier: Apache-2.0
#include "session/node_name.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "os/process.h"
#include "util/alloc.h"

void node_name_now(struct vm *vm, char *name, size_t size)
{
    vm_node_name(vm, name, size);
    if (!strcmp(name, "nonode@nohost"))
        name[0] = '\0';
}

uint64_t node_name_pause(uint64_t last, uint64_t longest)
{
    static const uint64_t FIRST = 1000000000;

    if (last < FIRST)
        return FIRST;
    return last < longest ? 2 * last : last;
}

char *node_name_requested(pid_t pid)
{
    size_t size;
    char *arguments = process_arguments(pid, &size), *name = NULL;
    bool is_name = false;

    for (const char *at = arguments; at && at < arguments + size && !name; at += strlen(at) + 1) {
        if (is_name)
            name = xstrdup(at);
        is_name = !strcmp(at, "-sname") || !strcmp(at, "-name");
    }
    free(arguments);
    return name;
}
