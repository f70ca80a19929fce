// SPDX-License-Identifier: Apache-2.0
#include "agent/dump_node.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool is_called(const struct board_node *node, const char *who)
{
    const char *name = node->labels[BOARD_LABEL_NODE];
    size_t size = strlen(who);
    char pid[16];

    if (!size || !strcmp(name, who) || (!strncmp(name, who, size) && name[size] == '@'))
        return true;
    snprintf(pid, sizeof(pid), "%d", (int)node->pid);
    return !strcmp(pid, who);
}

/* "shop@web-1 (12), till@web-1 (13)" */
static void list(char *text, size_t size, const struct board_node *nodes, size_t count,
                 const char *who)
{
    size_t used = 0;

    text[0] = '\0';
    for (size_t i = 0; i < count && used < size; i++) {
        const char *name = nodes[i].labels[BOARD_LABEL_NODE];

        if (is_called(&nodes[i], who))
            used += (size_t)snprintf(text + used, size - used, "%s%s (%d)", used ? ", " : "",
                                     *name ? name : "no name", (int)nodes[i].pid);
    }
}

int dump_node_find(const struct node_board *board, const char *who, struct dump_node *ret_node,
                   struct error *error)
{
    size_t count, found = 0;
    struct board_node *nodes = node_board_read(board, &count);
    char all[300];

    for (size_t i = 0; i < count; i++) {
        if (!is_called(&nodes[i], who))
            continue;
        found++;
        *ret_node = (struct dump_node){nodes[i].pid, nodes[i].identity};
    }
    list(all, sizeof(all), nodes, count, found ? who : "");
    free(nodes);
    if (found == 1)
        return 0;
    if (!count)
        return error_set(error, ERROR_NO_PROCESS, "no VM is recorded now");
    if (!found)
        return error_set(error, ERROR_NO_PROCESS, "no node is '%.100s', the nodes are: %s", who,
                         all);
    return error_set(error, ERROR_USAGE, "name one of %zu VMs, by its pid: %s", found, all);
}
