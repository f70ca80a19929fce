// SPDX-License-Identifier: Apache-2.0
/*
 * The rules of a configuration, as a session takes them. They outlive the configuration, which can
 * be read again while a session uses them.
 *
 * A session records what at least one rule wants. The plan of a rule says what is recorded
 * of the VMs that match it.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "agent/config/agent_config.h"
#include "session/options.h"
#include "session/target_rules.h"

struct agent_rules {
    struct target_rule *of;
    size_t count;
};

/* Return a copy of the rules, to be freed. The last one is for all VMs that match no other; its
 * plan is that of section `record`. `session` has the events of agent_rules_events(). */
struct agent_rules agent_rules_of(const struct agent_config *config,
                                  const struct session_options *session);
void agent_rules_free(struct agent_rules *rules);

/* Return the events of all rules and of section `record`, as a list to be freed; "" if there are
 * none. */
char *agent_rules_events(const struct agent_config *config);

/* Return the plan with the highest frequencies of all rules and of section `record`, and all
 * events. */
struct target_plan agent_rules_most(const struct agent_config *config);

/* True if the rules of two configurations need the same of a session together: the highest
 * frequency of CPU samples, sweeps or none, and events. */
bool agent_rules_need_alike(const struct agent_config *one, const struct agent_config *other);

/* True if two configurations have the same rules, and the same for VMs that match none. */
bool agent_rules_alike(const struct agent_config *one, const struct agent_config *other);
