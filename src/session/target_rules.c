// SPDX-License-Identifier: Apache-2.0
#include "session/target_rules.h"

#include <fnmatch.h>

#include "util/optional_text.h"

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

bool target_rules_match_alike(const struct target_rule *one, const struct target_rule *other)
{
    return optional_text_equal(one->node, other->node) &&
           optional_text_equal(one->container, other->container) &&
           optional_text_equal(one->name_space, other->name_space) &&
           optional_text_equal(one->pod, other->pod);
}

bool target_rules_record_alike(const struct target_rule *one, const struct target_rule *other)
{
    const struct target_plan *a = &one->plan, *b = &other->plan;

    if (!one->profile || !other->profile)
        return one->profile == other->profile;
    return a->cpu == b->cpu && a->frequency == b->frequency &&
           a->wall_frequency == b->wall_frequency && a->events == b->events &&
           optional_text_equal(one->service, other->service);
}
