// SPDX-License-Identifier: Apache-2.0
/* Finds the nodes that options name. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "util/alloc.h"
#include "view/selection.h"

int selection_add_node(struct selection_options *options, const char *who, struct error *error)
{
    struct selection_nodes *nodes = &options->nodes;

    if (!*who)
        return error_set(error, ERROR_USAGE,
                         "name a node by its name, with or without its host, or by its pid");
    nodes->list = xreallocarray(nodes->list, nodes->count + 1, sizeof(*nodes->list));
    nodes->list[nodes->count++] = who;
    return 0;
}

bool selection_is_node(const struct profile *profile, target_id target, const char *who)
{
    const struct target_entry *entry = profile_get_target(profile, target);
    const char *node = profile_text(profile, entry->node);
    size_t size = strlen(who);
    char pid[16];

    if (!strcmp(node, who) || (!strncmp(node, who, size) && node[size] == '@'))
        return true;
    snprintf(pid, sizeof(pid), "%" PRIu32, entry->pid);
    return !strcmp(pid, who);
}
