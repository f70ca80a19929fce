// SPDX-License-Identifier: Apache-2.0
#include "agent/agent_session.h"

#include <stdlib.h>

#include "capture/sample_clock.h"
#include "session/trigger_watch.h"

enum { LONG_SLICE_US = 10000 };

/* What a killed agent loses of samples at most. Each flush writes the counts of events again. */
static const uint64_t FLUSH_NS = 5000000000;

/* Names and memory of processes that run are read again after this time. Once a second, reading
 * them is more than a third of what samples cost. */
static const uint64_t PROCESS_NS = 5000000000;

/* The agent reads the times of threads when a recording ends, and at this interval in longer
 * recordings. */
static const uint64_t THREADS_NS = 20000000000;

/* The numbers of VMs are for those that ask for them. */
static bool needs_numbers(const struct agent_config *config)
{
    return *config->http.listen;
}

static struct session_options options_of(const struct agent_config *config, warn_function warn)
{
    struct target_plan most = agent_rules_most(config);

    return (struct session_options){
        .clock = sample_clock_default(),
        .frequency = most.frequency,
        .cpu = most.cpu,
        .wall = most.wall_frequency > 0,
        .wall_frequency = most.wall_frequency,
        .joins_sweeps = true,
        .budget = config->record.budget / 100,
        .host_budget = config->record.host_budget / 100,
        .stacks = config->record.stacks,
        .long_us = LONG_SLICE_US,
        .flush_ns = FLUSH_NS,
        .process_ns = PROCESS_NS,
        .threads_ns = THREADS_NS,
        .node_numbers = needs_numbers(config),
        .warn = warn,
    };
}

int agent_session_set(struct agent_session *own, const struct agent_config *config,
                      struct agent_triggers *triggers, warn_function warn, struct error *error)
{
    struct session_options *options = &own->options;

    agent_session_free(own);
    *options = options_of(config, warn);
    own->events = agent_rules_events(config);
    if (*own->events && session_options_add_events(options, own->events, error))
        return -1;
    if (!options->cpu && !options->wall && !options->event_count)
        return error_set(error, ERROR_USAGE,
                         "nothing is recorded: set record.cpu, record.wall or record.events");
    own->rules = agent_rules_of(config, options);
    agent_triggers_set(triggers, config, options);
    if (!options->cpu && trigger_watch_need_cpu_samples(options))
        return error_set(error, ERROR_USAGE,
                         "a trigger gc>PERCENT%% needs CPU samples: set record.cpu");
    return 0;
}

void agent_session_free(struct agent_session *own)
{
    agent_rules_free(&own->rules);
    free(own->events);
    own->events = NULL;
}

/* ---- another configuration ---- */

bool agent_session_may_follow(const struct agent_config *before, const struct agent_config *now)
{
    return agent_rules_need_alike(before, now) && before->record.budget == now->record.budget &&
           before->record.host_budget == now->record.host_budget &&
           before->record.stacks == now->record.stacks;
}

bool agent_session_alike(const struct agent_config *one, const struct agent_config *other)
{
    return agent_session_may_follow(one, other) && agent_rules_alike(one, other) &&
           agent_triggers_alike(one, other) && needs_numbers(one) == needs_numbers(other);
}

static int follow_rules(struct agent_session *own, const struct agent_config *config,
                        struct session *session, struct error *error)
{
    struct agent_rules before = own->rules;
    int result;

    own->rules = agent_rules_of(config, &own->options);
    result = session_set_rules(session, own->rules.of, own->rules.count, error);
    agent_rules_free(&before);
    return result;
}

int agent_session_follow(struct agent_session *own, const struct agent_config *before,
                         const struct agent_config *now, struct agent_triggers *triggers,
                         struct session *session, struct error *error)
{
    if (needs_numbers(before) != needs_numbers(now)) {
        own->options.node_numbers = needs_numbers(now);
        session_set_node_numbers(session);
    }
    if (!agent_triggers_alike(before, now) &&
        agent_triggers_replace(triggers, now, &own->options, session, error))
        return -1;
    return agent_rules_alike(before, now) ? 0 : follow_rules(own, now, session, error);
}
