// SPDX-License-Identifier: Apache-2.0
/*
 * What a session takes of the agent's configuration, and which changes it can follow without a gap.
 */
#pragma once

#include <stdbool.h>

#include "agent/agent_rules.h"
#include "agent/agent_triggers.h"
#include "agent/config/agent_config.h"
#include "session/options.h"
#include "session/session.h"
#include "util/error.h"

/* A session borrows these. All zero is empty. */
struct agent_session {
    struct session_options options;
    struct agent_rules rules;
    char *events; /* what the options borrow */
};

/* Take what a configuration says. `triggers` get its triggers. ERROR_USAGE if it says nothing that
 * can be recorded. */
int agent_session_set(struct agent_session *own, const struct agent_config *config,
                      struct agent_triggers *triggers, warn_function warn, struct error *error);
void agent_session_free(struct agent_session *own);

/* True if two configurations want the same of a session. */
bool agent_session_alike(const struct agent_config *one, const struct agent_config *other);

/* True if the session of one configuration can follow the other one. */
bool agent_session_may_follow(const struct agent_config *before, const struct agent_config *now);

/* Let the session, which has begun with what `before` says, follow `now`, while there is a segment.
 * -1 with error: another session must begin. */
int agent_session_follow(struct agent_session *own, const struct agent_config *before,
                         const struct agent_config *now, struct agent_triggers *triggers,
                         struct session *session, struct error *error);
