// SPDX-License-Identifier: Apache-2.0
#include "agent/agent_rules.h"

#include <stdlib.h>
#include <string.h>

#include "util/alloc.h"
#include "util/buffer.h"
#include "util/optional_text.h"
#include "util/word_list.h"

/* ---- what all rules want ---- */

static void add_events(struct buffer *list, const char *events)
{
    if (*events)
        buffer_format(list, "%s%s", list->size ? "," : "", events);
}

char *agent_rules_events(const struct agent_config *config)
{
    struct buffer list = {0};

    add_events(&list, config->record.events);
    for (size_t i = 0; i < config->rule_count; i++)
        if (config->rules[i].profile)
            add_events(&list, config->rules[i].events);
    buffer_byte(&list, '\0');
    return list.data;
}

/* Where no CPU samples are recorded, one a second is enough for the other events. */
static struct target_plan plan(uint32_t cpu, uint32_t wall, uint32_t events)
{
    return (struct target_plan){
        .cpu = cpu > 0, .frequency = cpu ? cpu : 1, .wall_frequency = wall, .events = events};
}

struct target_plan agent_rules_most(const struct agent_config *config)
{
    uint32_t cpu = config->record.cpu, wall = config->record.wall;

    for (size_t i = 0; i < config->rule_count; i++) {
        const struct agent_rule *rule = &config->rules[i];

        if (rule->profile && rule->cpu > cpu)
            cpu = rule->cpu;
        if (rule->profile && rule->wall > wall)
            wall = rule->wall;
    }
    return plan(cpu, wall, UINT32_MAX);
}

/* ---- rules ---- */

struct agent_rules agent_rules_of(const struct agent_config *config,
                                  const struct session_options *session)
{
    struct agent_rules rules = {xcalloc(config->rule_count + 1, sizeof(*rules.of)),
                                config->rule_count + 1};

    for (size_t i = 0; i < config->rule_count; i++) {
        const struct agent_rule *rule = &config->rules[i];

        rules.of[i] =
            (struct target_rule){.node = optional_text_copy(rule->node),
                                 .container = optional_text_copy(rule->container),
                                 .name_space = optional_text_copy(rule->name_space),
                                 .pod = optional_text_copy(rule->pod),
                                 .profile = rule->profile,
                                 .service = optional_text_copy(rule->service),
                                 .plan = plan(rule->cpu, rule->wall,
                                              session_options_find_events(session, rule->events))};
    }
    rules.of[config->rule_count] = (struct target_rule){
        .profile = true,
        .plan = plan(config->record.cpu, config->record.wall,
                     session_options_find_events(session, config->record.events))};
    return rules;
}

void agent_rules_free(struct agent_rules *rules)
{
    for (size_t i = 0; i < rules->count; i++) {
        free((char *)rules->of[i].node);
        free((char *)rules->of[i].container);
        free((char *)rules->of[i].name_space);
        free((char *)rules->of[i].pod);
        free(rules->of[i].service);
    }
    free(rules->of);
    *rules = (struct agent_rules){NULL, 0};
}

/* True if a configuration has all events of another one. */
static bool has_events_of(const struct agent_config *config, const struct agent_config *other)
{
    char *events = agent_rules_events(config), *others = agent_rules_events(other), *rest = NULL;
    char *event = strtok_r(others, ",", &rest);
    bool has_all;

    while (event && word_list_has(events, event))
        event = strtok_r(NULL, ",", &rest);
    has_all = !event;
    free(events);
    free(others);
    return has_all;
}

bool agent_rules_need_alike(const struct agent_config *one, const struct agent_config *other)
{
    struct target_plan most = agent_rules_most(one), others = agent_rules_most(other);

    return most.cpu == others.cpu && most.frequency == others.frequency &&
           !most.wall_frequency == !others.wall_frequency && has_events_of(one, other) &&
           has_events_of(other, one);
}

bool agent_rules_alike(const struct agent_config *one, const struct agent_config *other)
{
    if (one->rule_count != other->rule_count || one->record.cpu != other->record.cpu ||
        one->record.wall != other->record.wall ||
        strcmp(one->record.events, other->record.events) != 0)
        return false;
    for (size_t i = 0; i < one->rule_count; i++) {
        const struct agent_rule *a = &one->rules[i], *b = &other->rules[i];

        if (!optional_text_equal(a->node, b->node) ||
            !optional_text_equal(a->container, b->container) ||
            !optional_text_equal(a->name_space, b->name_space) ||
            !optional_text_equal(a->pod, b->pod) || !optional_text_equal(a->service, b->service) ||
            a->profile != b->profile || a->cpu != b->cpu || a->wall != b->wall ||
            strcmp(a->events, b->events) != 0)
            return false;
    }
    return true;
}
