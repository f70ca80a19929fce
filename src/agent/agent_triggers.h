// SPDX-License-Identifier: Apache-2.0
/*
 * The triggers of the agent: looks which of them fire at which VMs, and keeps the recordings of the
 * time before and after each firing (agent/kept.h).
 *
 *   { set ──> (a session) look... }... ──> free
 *   take: whenever recordings have come, before the spool is trimmed
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/config/agent_config.h"
#include "agent/kept.h"
#include "agent/trigger_counts.h"
#include "session/options.h"
#include "session/session.h"
#include "session/targets.h"

/* All zero, apart from the first four members, is empty. */
struct agent_triggers {
    const char *spool; /* its directory */
    struct trigger_counts *counts;
    warn_function warn;
    void (*say)(const char *format, ...) __attribute__((format(printf, 1, 2)));
    struct agent_trigger *of;            /* copies of the configuration's */
    struct trigger parsed[TRIGGERS_MAX]; /* their conditions */
    size_t count;
    bool limits_changed;
    double interval; /* seconds of a recording */
    /* Firings of whose time recordings may still come. */
    struct kept_firing *firings;
    size_t firing_count, firing_room;
};

/* Use the triggers of a configuration from now on, and have the session watch them. It borrows
 * them. */
void agent_triggers_set(struct agent_triggers *triggers, const struct agent_config *config,
                        struct session_options *session);

/* The same while the session runs, which has the options (session_set_triggers()). */
int agent_triggers_replace(struct agent_triggers *triggers, const struct agent_config *config,
                           struct session_options *options, struct session *session,
                           struct error *error);
void agent_triggers_free(struct agent_triggers *triggers);

/* True if two configurations have the same triggers. */
bool agent_triggers_alike(const struct agent_config *one, const struct agent_config *other);

/* Look at all targets, about once a second. `now`: CLOCK_MONOTONIC. */
void agent_triggers_look(struct agent_triggers *triggers, struct session *session,
                         const struct session_options *options, const struct targets *targets,
                         uint64_t now);

/* Keep what has come, within the limits. */
void agent_triggers_take(struct agent_triggers *triggers, uint64_t now);
