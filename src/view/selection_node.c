// SPDX-License-Identifier: Apache-2.0
/* Which node an option names. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "view/selection.h"

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
