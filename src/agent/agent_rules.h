// SPDX-License-Identifier: Apache-2.0
/* The rules of a configuration, as a session takes them. They outlive the configuration, which can
 * be read again while a session uses them. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "agent/config/agent_config.h"
#include "session/target_rules.h"

struct agent_rules {
    struct target_rule *of;
    size_t count;
};

/* Return a copy of the rules, to be freed. */
struct agent_rules agent_rules_of(const struct agent_config *config);
void agent_rules_free(struct agent_rules *rules);

/* True if two configurations have the same rules. */
bool agent_rules_alike(const struct agent_config *one, const struct agent_config *other);
