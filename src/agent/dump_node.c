// SPDX-License-Identifier: Apache-2.0
#include "agent/dump_node.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static bool is_called(const struct roster_vm *vm, const char *who)
{
    size_t size = strlen(who);

    return !size || !strcmp(vm->node, who) ||
           (!strncmp(vm->node, who, size) && vm->node[size] == '@');
}

/* "shop@web-1 (12), till@web-1 (13)" */
static void list(char *text, size_t size, const struct roster_vm *vms, size_t count,
                 const char *who)
{
    size_t used = 0;

    text[0] = '\0';
    for (size_t i = 0; i < count && used < size; i++)
        if (is_called(&vms[i], who))
            used += (size_t)snprintf(text + used, size - used, "%s%s (%d)", used ? ", " : "",
                                     *vms[i].node ? vms[i].node : "no name", (int)vms[i].pid);
}

/* A name can look like a pid, so the pid counts first. */
static const struct roster_vm *with_pid(const struct roster_vm *vms, size_t count, const char *who)
{
    char pid[16];

    for (size_t i = 0; i < count; i++) {
        snprintf(pid, sizeof(pid), "%d", (int)vms[i].pid);
        if (!strcmp(pid, who))
            return &vms[i];
    }
    return NULL;
}

/* Return how many VMs have the name `who`. *ret_vm is one of them. */
static size_t count_called(const struct roster_vm *vms, size_t count, const char *who,
                           const struct roster_vm **ret_vm)
{
    size_t found = 0;

    for (size_t i = 0; i < count; i++) {
        if (!is_called(&vms[i], who))
            continue;
        *ret_vm = &vms[i];
        found++;
    }
    return found;
}

const struct roster_vm *dump_node_find(const struct roster_vm *vms, size_t count, const char *who,
                                       struct error *error)
{
    const struct roster_vm *vm = with_pid(vms, count, who);
    size_t found = vm ? 1 : count_called(vms, count, who, &vm);
    char all[300];

    if (found == 1)
        return vm;
    list(all, sizeof(all), vms, count, found ? who : "");
    if (!count)
        error_set(error, ERROR_NO_PROCESS, "no VM is recorded now");
    else if (!found)
        error_set(error, ERROR_NO_PROCESS, "no node is '%.100s', the nodes are: %s", who, all);
    else
        error_set(error, ERROR_USAGE, "name one of %zu VMs, by its pid: %s", found, all);
    return NULL;
}
