// SPDX-License-Identifier: Apache-2.0
#include "session/target_rules.h"

#include <fnmatch.h>

static bool is_like(const char *pattern, const char *name)
{
    return !pattern || fnmatch(pattern, name, 0) == 0;
}

static bool matches(const struct target_rule *rule, const struct target_names *names)
{
    return is_like(rule->node, names->node) &&
           (is_like(rule->container, names->container) ||
            is_like(rule->container, names->container_id)) &&
           is_like(rule->name_space, names->name_space) && is_like(rule->pod, names->pod);
}

size_t target_rules_find(const struct target_rule *rules, size_t count,
                         const struct target_names *names)
{
    size_t i = 0;

    while (i < count && !matches(&rules[i], names))
        i++;
    return i;
}
