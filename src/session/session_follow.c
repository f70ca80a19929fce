// SPDX-License-Identifier: Apache-2.0
/* What a session can change while it runs, without a gap in its samples. */
#include "session/node_meter.h"
#include "session/node_name.h"
#include "session/session_internal.h"
#include "session/trigger_watch.h"

int session_notice_ends(struct session *session, struct error *error)
{
    return membership_leave_ended(session, error);
}

/* ---- rules ---- */

/* Find the rule of a target. If that records the target in another way, the target has no rule: it
 * leaves. Return true if it will join again. */
static bool follow_rule(const struct targets *targets, struct target *target)
{
    const struct target_rule *before = target->rule, *now = NULL;
    char node[600];
    size_t rule;

    node_name_now(target->vm, node, sizeof(node));
    rule = targets_find_rule(targets->rules, targets->rule_count, target->vm, node);
    if (rule < targets->rule_count)
        now = &targets->rules[rule];
    target->rule = before && now && target_rules_record_alike(before, now) ? now : NULL;
    return !target->rule && (!now || now->profile);
}

/* Find the rules of all targets. Return the number of VMs that will join again. */
static size_t follow_rules(const struct targets *targets)
{
    size_t joining = 0;

    for (size_t i = 0; i < targets->count; i++) {
        if (targets->of[i]->ended)
            targets->of[i]->rule = NULL;
        else
            joining += follow_rule(targets, targets->of[i]);
    }
    return joining;
}

int session_set_rules(struct session *session, const struct target_rule *rules, size_t count,
                      struct error *error)
{
    struct targets *targets = session->targets;
    size_t joining;

    targets->rules = rules;
    targets->rule_count = count;
    joining = follow_rules(targets);
    if (targets->count + joining > session->room) /* those that leave keep their numbers */
        return error_set(error, ERROR_FAILED, "there is no room for %zu VMs to join again",
                         joining);
    for (size_t i = 0; i < targets->refused.count; i++)
        if (targets->refused.of[i].kind == REFUSED_BY_RULE)
            arrivals_again(session->arrivals, targets->refused.of[i].pid);
    for (size_t i = 0; i < targets->count; i++) {
        struct target *target = targets->of[i];

        if (target->ended || target->rule)
            continue;
        symbolizer_look_at_threads(target->symbolizer, false);
        if (membership_rejoin(session, target, error))
            return -1;
    }
    return 0;
}

/* ---- triggers ---- */

int session_set_triggers(struct session *session, const struct trigger *before, struct error *error)
{
    const struct targets *targets = session->targets;

    for (size_t i = 0; i < targets->count; i++)
        if (trigger_watch_replace(targets->of[i], session->options, before, error))
            return target_error(targets->of[i], error);
    return 0;
}

/* ---- numbers of VMs ---- */

void session_set_node_numbers(struct session *session)
{
    for (size_t i = 0; i < session->targets->count; i++) {
        struct target *target = session->targets->of[i];

        node_meter_free(target->meter);
        target->meter = session->options->node_numbers && !target->ended
                            ? node_meter_new(target, session->options)
                            : NULL;
    }
}
