// SPDX-License-Identifier: Apache-2.0
#include "agent/trigger_counts.h"

#include <stdio.h>
#include <string.h>

static bool is_of(const struct trigger_count *count, const char *trigger, const char *node)
{
    return count->is_shown && !strcmp(count->trigger, trigger) && !strcmp(count->node, node);
}

struct trigger_count *trigger_counts_find(struct trigger_counts *counts, const char *trigger,
                                          const char *node)
{
    for (size_t i = 0; i < TRIGGER_COUNTS_MAX; i++)
        if (is_of(&counts->of[i], trigger, node))
            return &counts->of[i];
    return NULL;
}

struct trigger_count *trigger_counts_of(struct trigger_counts *counts, const char *trigger,
                                        const char *node)
{
    struct trigger_count *count = trigger_counts_find(counts, trigger, node);

    if (count)
        return count;
    count = &counts->of[0];
    for (size_t i = 1; i < TRIGGER_COUNTS_MAX && count->is_shown; i++)
        if (!counts->of[i].is_shown || counts->of[i].fired_at < count->fired_at)
            count = &counts->of[i];
    count->is_shown = false;
    snprintf(count->trigger, sizeof(count->trigger), "%s", trigger);
    snprintf(count->node, sizeof(count->node), "%s", node);
    count->fired = count->dropped = count->left_out = count->fired_at = 0;
    count->is_shown = true;
    return count;
}
