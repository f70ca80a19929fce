// SPDX-License-Identifier: Apache-2.0
/* Compares configurations of the agent. */
#pragma once

#include <stdbool.h>
#include <string.h>

#include "agent/config/agent_config.h"

static inline bool same_text(const char *a, const char *b)
{
    return a && b ? !strcmp(a, b) : a == b;
}

static inline bool same_service(const struct push_service *a, const struct push_service *b)
{
    return a->protocol == b->protocol && same_text(a->name, b->name) && same_text(a->url, b->url) &&
           same_text(a->tenant, b->tenant) && same_text(a->user, b->user) &&
           same_text(a->password_file, b->password_file) &&
           same_text(a->token_file, b->token_file) && same_text(a->ca_file, b->ca_file) &&
           same_text(a->events, b->events) && a->traces == b->traces &&
           a->timestamps == b->timestamps;
}

static inline bool same_rule(const struct agent_rule *a, const struct agent_rule *b)
{
    return a->profile == b->profile && same_text(a->node, b->node) &&
           same_text(a->container, b->container) && same_text(a->name_space, b->name_space) &&
           same_text(a->pod, b->pod) && a->cpu == b->cpu && a->wall == b->wall &&
           same_text(a->events, b->events);
}

static inline bool same_trigger(const struct agent_trigger *a, const struct agent_trigger *b)
{
    return same_text(a->name, b->name) && same_text(a->when, b->when) &&
           same_text(a->nodes.node, b->nodes.node) &&
           same_text(a->nodes.container, b->nodes.container) &&
           same_text(a->nodes.name_space, b->nodes.name_space) &&
           same_text(a->nodes.pod, b->nodes.pod) && a->before == b->before &&
           a->after == b->after && a->holdoff == b->holdoff && a->max_kept == b->max_kept &&
           a->max_size == b->max_size;
}

/* True if all values are the same, wherever they are from. */
static inline bool same_config(const struct agent_config *a, const struct agent_config *b)
{
    if (a->record.cpu != b->record.cpu || a->record.wall != b->record.wall ||
        a->record.budget != b->record.budget || a->record.host_budget != b->record.host_budget ||
        a->record.interval != b->record.interval || a->record.max_memory != b->record.max_memory ||
        a->record.beside_others != b->record.beside_others ||
        !same_text(a->record.events, b->record.events) ||
        !same_text(a->spool.directory, b->spool.directory) ||
        a->spool.max_size != b->spool.max_size || a->spool.max_age != b->spool.max_age ||
        a->rule_count != b->rule_count || a->trigger_count != b->trigger_count ||
        a->service_count != b->service_count)
        return false;
    for (size_t i = 0; i < a->rule_count; i++)
        if (!same_rule(&a->rules[i], &b->rules[i]))
            return false;
    for (size_t i = 0; i < a->trigger_count; i++)
        if (!same_trigger(&a->triggers[i], &b->triggers[i]))
            return false;
    for (size_t i = 0; i < a->service_count; i++)
        if (!same_service(&a->services[i], &b->services[i]))
            return false;
    return true;
}
