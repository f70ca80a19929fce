// SPDX-License-Identifier: Apache-2.0
#include "agent/agent_triggers.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "agent/config/config_table.h"
#include "profile/profile.h"
#include "rotation/segment_node.h"
#include "session/trigger_watch.h"
#include "util/alloc.h"
#include "util/optional_text.h"

static const double SECOND = 1e9;

enum {
    SWEEP_REST = 500,  /* sweeps at all VMs together need at most 0.2 % of a CPU */
    LATE_SECONDS = 60, /* a recording is complete so long after its end at the latest */
};

_Static_assert((int)CONFIG_TRIGGERS_MAX == (int)TRIGGERS_MAX, "a session watches all of them");

/* ---- the configuration ---- */

static struct agent_trigger copy_of(const struct agent_trigger *trigger)
{
    struct agent_trigger copy = *trigger;

    copy.name = xstrdup(trigger->name);
    copy.when = xstrdup(trigger->when);
    copy.nodes.node = optional_text_copy(trigger->nodes.node);
    copy.nodes.container = optional_text_copy(trigger->nodes.container);
    copy.nodes.name_space = optional_text_copy(trigger->nodes.name_space);
    copy.nodes.pod = optional_text_copy(trigger->nodes.pod);
    return copy;
}

static void forget(struct agent_triggers *triggers)
{
    for (size_t i = 0; i < triggers->count; i++) {
        struct agent_trigger *trigger = &triggers->of[i];

        trigger_free(&triggers->parsed[i]);
        free(trigger->name);
        free(trigger->when);
        free(trigger->nodes.node);
        free(trigger->nodes.container);
        free(trigger->nodes.name_space);
        free(trigger->nodes.pod);
    }
    free(triggers->of);
    triggers->of = NULL;
    triggers->count = 0;
}

static bool has_patterns(const struct target_rule *nodes)
{
    return nodes->node || nodes->container || nodes->name_space || nodes->pod;
}

void agent_triggers_set(struct agent_triggers *triggers, const struct agent_config *config,
                        struct session_options *session)
{
    struct error none; /* the configuration was checked */

    forget(triggers);
    triggers->interval = config->record.interval;
    triggers->of = xcalloc(config->trigger_count + 1, sizeof(*triggers->of));
    for (size_t i = 0; i < config->trigger_count; i++) {
        struct agent_trigger *own = &triggers->of[triggers->count++];

        *own = copy_of(&config->triggers[i]);
        if (trigger_parse(own->when, &triggers->parsed[i], &none))
            abort();
        triggers->parsed[i].name = own->name;
        triggers->parsed[i].nodes = has_patterns(&own->nodes) ? &own->nodes : NULL;
        session->triggers[i] = triggers->parsed[i];
    }
    triggers->limits_changed = true;
    session->trigger_count = triggers->count;
}

int agent_triggers_replace(struct agent_triggers *triggers, const struct agent_config *config,
                           struct session_options *options, struct session *session,
                           struct error *error)
{
    struct agent_triggers before = *triggers; /* the session has conditions of these */
    struct trigger watched[TRIGGERS_MAX];
    int result;

    memcpy(watched, options->triggers, sizeof(watched));
    triggers->of = NULL;
    triggers->count = 0;
    agent_triggers_set(triggers, config, options);
    result = session_set_triggers(session, watched, error);
    forget(&before);
    return result;
}

void agent_triggers_free(struct agent_triggers *triggers)
{
    forget(triggers);
    free(triggers->firings);
    triggers->firings = NULL;
    triggers->firing_count = 0;
}

static bool alike(const struct agent_trigger *a, const struct agent_trigger *b)
{
    return !strcmp(a->name, b->name) && !strcmp(a->when, b->when) &&
           target_rules_match_alike(&a->nodes, &b->nodes) && a->before == b->before &&
           a->after == b->after && a->holdoff == b->holdoff && a->max_kept == b->max_kept &&
           a->max_size == b->max_size;
}

bool agent_triggers_alike(const struct agent_config *one, const struct agent_config *other)
{
    if (one->trigger_count != other->trigger_count)
        return false;
    for (size_t i = 0; i < one->trigger_count; i++)
        if (!alike(&one->triggers[i], &other->triggers[i]))
            return false;
    return true;
}

/* ---- firing ---- */

/* A look at one target. */
struct firing_look {
    struct agent_triggers *triggers;
    struct session *session;
    const struct session_options *options;
    char *node; /* as in names of files */
    uint64_t now, sweep_rest;
};

static const struct agent_trigger *trigger_of(const struct firing_look *look,
                                              const struct trigger *trigger)
{
    return &look->triggers->of[trigger - look->options->triggers];
}

/* True unless the trigger has fired at this node within its hold-off. */
static bool may_fire(void *context, const struct trigger *trigger)
{
    const struct firing_look *look = context;
    const struct agent_trigger *own = trigger_of(look, trigger);
    const struct trigger_count *count =
        trigger_counts_find(look->triggers->counts, own->name, look->node);

    return !count || !count->fired_at ||
           (double)(look->now - count->fired_at) >= own->holdoff * SECOND;
}

/* A mark is in a recording of all VMs, so it names the node. */
static void mark(const struct firing_look *look, const char *trigger, const char *text)
{
    char *label = xasprintf("trigger %s at %s: %s", trigger, look->node, text);

    session_mark_finding(look->session, label);
    free(label);
}

static void fire(const struct firing_look *look, const struct trigger *trigger, const char *text)
{
    struct agent_triggers *triggers = look->triggers;
    const struct agent_trigger *own = trigger_of(look, trigger);
    struct trigger_count *count = trigger_counts_of(triggers->counts, own->name, look->node);
    time_t now = time(NULL);
    struct kept_firing firing = {
        .from = now - (time_t)own->before,
        .until = now + (time_t)own->after,
        .end =
            look->now + (uint64_t)((own->after + 2 * triggers->interval + LATE_SECONDS) * SECOND),
        .max_bytes = own->max_size,
    };
    struct error error;

    snprintf(firing.trigger, sizeof(firing.trigger), "%s", own->name);
    snprintf(firing.node, sizeof(firing.node), "%s", look->node);
    count->fired++;
    count->fired_at = look->now;
    mark(look, own->name, text);
    if (kept_begin(triggers->spool, &firing, now, &error)) {
        count->left_out++;
        triggers->warn("trigger %s fired at %s (%s), and nothing is kept: %s", own->name,
                       look->node, text, error.text);
        return;
    }
    triggers->say("trigger %s fired at %s: %s; kept in %s/kept/%s", own->name, look->node, text,
                  triggers->spool, firing.folder);
    triggers->firings = xgrow(triggers->firings, &triggers->firing_room, triggers->firing_count,
                              sizeof(*triggers->firings));
    triggers->firings[triggers->firing_count++] = firing;
}

static void look_at(const struct target *target, struct firing_look *look)
{
    const struct profile *profile = session_profile(look->session);
    const struct trigger_look request = {.now = look->now,
                                         .profile = profile,
                                         .sweep_rest = look->sweep_rest,
                                         .may_fire = may_fire,
                                         .context = look};
    const struct target_entry *entry =
        profile_get_target(profile, symbolizer_target(target->symbolizer));
    struct buffer text = {0};
    const struct trigger *fires = NULL;

    look->node = segment_node_name(profile_text(profile, entry->node));
    if (target->ended)
        fires = trigger_watch_end(target->trigger_watch, &request, &text);
    else if (target_is_readable(target))
        fires = trigger_watch_look(target->trigger_watch, &request, &text);
    buffer_byte(&text, '\0');
    if (fires)
        fire(look, fires, text.data);
    buffer_free(&text);
    free(look->node);
}

void agent_triggers_look(struct agent_triggers *triggers, struct session *session,
                         const struct session_options *options, const struct targets *targets,
                         uint64_t now)
{
    struct firing_look look = {.triggers = triggers,
                               .session = session,
                               .options = options,
                               .now = now,
                               .sweep_rest = SWEEP_REST * targets->count};

    for (size_t i = 0; triggers->count && i < targets->count; i++)
        if (targets->of[i]->trigger_watch && targets->of[i]->symbolizer)
            look_at(targets->of[i], &look);
}

/* ---- keeping recordings ---- */

/* A firing or a trigger of which something could not be kept. */
struct taking {
    struct agent_triggers *triggers;
    const char *trigger, *node;
};

static void note_left_out(void *context, const char *recording, const struct error *error)
{
    const struct taking *taking = context;

    trigger_counts_of(taking->triggers->counts, taking->trigger, taking->node)->left_out++;
    taking->triggers->warn("trigger %s can't keep %s: %s", taking->trigger, recording, error->text);
}

static void note_removed(void *context, const char *node, const char *folder)
{
    const struct taking *taking = context;

    trigger_counts_of(taking->triggers->counts, taking->trigger, node)->dropped++;
    taking->triggers->say("kept/%s was removed: trigger %s has kept enough since", folder,
                          taking->trigger);
}

static void take(struct agent_triggers *triggers, struct kept_firing *firing)
{
    struct taking taking = {triggers, firing->trigger, firing->node};

    kept_take(triggers->spool, firing, note_left_out, &taking);
}

void agent_triggers_take(struct agent_triggers *triggers, uint64_t now)
{
    size_t left = 0;

    if (!triggers->firing_count && !triggers->limits_changed)
        return;
    triggers->limits_changed = false;
    for (size_t i = 0; i < triggers->firing_count; i++) {
        take(triggers, &triggers->firings[i]);
        if (now < triggers->firings[i].end)
            triggers->firings[left++] = triggers->firings[i];
    }
    triggers->firing_count = left;
    for (size_t i = 0; i < triggers->count; i++) {
        const struct agent_trigger *trigger = &triggers->of[i];
        struct taking taking = {triggers, trigger->name, NULL};

        kept_trim(triggers->spool, trigger->name, trigger->max_kept, trigger->max_size,
                  note_removed, &taking);
    }
}
