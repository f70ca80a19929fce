// SPDX-License-Identifier: Apache-2.0
#include "agent/agent_rules.h"

#include <stdlib.h>

#include "util/alloc.h"
#include "util/optional_text.h"

struct agent_rules agent_rules_of(const struct agent_config *config)
{
    struct agent_rules rules = {xcalloc(config->rule_count + 1, sizeof(*rules.of)),
                                config->rule_count};

    for (size_t i = 0; i < rules.count; i++) {
        const struct agent_rule *rule = &config->rules[i];

        rules.of[i] = (struct target_rule){.node = optional_text_copy(rule->node),
                                           .container = optional_text_copy(rule->container),
                                           .name_space = optional_text_copy(rule->name_space),
                                           .pod = optional_text_copy(rule->pod),
                                           .profile = rule->profile};
    }
    return rules;
}

void agent_rules_free(struct agent_rules *rules)
{
    for (size_t i = 0; i < rules->count; i++) {
        free((char *)rules->of[i].node);
        free((char *)rules->of[i].container);
        free((char *)rules->of[i].name_space);
        free((char *)rules->of[i].pod);
    }
    free(rules->of);
    *rules = (struct agent_rules){NULL, 0};
}

bool agent_rules_alike(const struct agent_config *one, const struct agent_config *other)
{
    if (one->rule_count != other->rule_count)
        return false;
    for (size_t i = 0; i < one->rule_count; i++) {
        const struct agent_rule *a = &one->rules[i], *b = &other->rules[i];

        if (!optional_text_equal(a->node, b->node) ||
            !optional_text_equal(a->container, b->container) ||
            !optional_text_equal(a->name_space, b->name_space) ||
            !optional_text_equal(a->pod, b->pod) || a->profile != b->profile)
            return false;
    }
    return true;
}
