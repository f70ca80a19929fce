// SPDX-License-Identifier: Apache-2.0
/*
 * Which VMs are targets of a session. It begins with those that it is given. If all VMs of the host
 * are targets, VMs that start later join. A VM that has ended stays, without probes, until its
 * segment is written.
 */
#pragma once

#include <stdbool.h>

#include "session/session_internal.h"

/* The start of a session, in this order. */

/* Make the symbolizers. If all VMs of the host are targets, those that can't be profiled are
 * skipped. Sets session->room. */
int membership_open(struct session *session, struct error *error);
/* Let hits and samples of all targets count. */
int membership_begin(struct session *session, struct error *error);
/* Begin the accounts of CPU time, if CPU time is sampled. */
void membership_account(struct session *session);
/* Begin sweeps and triggers. */
int membership_watch(struct session *session, struct error *error);
/* Find what takes long and is not needed before the first sample. Samples wait meanwhile. */
void membership_prepare(struct session *session);

/* While it runs. */

/* Let VMs leave that have ended, and look for VMs that have started. Call about once a second. */
int membership_step(struct session *session, struct error *error);
/* Let VMs join that have started, for a short time. Call at each step. */
int membership_welcome(struct session *session, struct error *error);
/* Return the part of the timeout (ms) after which a VM may be able to join. */
int membership_limit_timeout(const struct session *session, int timeout_ms);
/* False once every target has ended. */
bool membership_alive(const struct session *session);
/* Warn of targets that have ended since the last step. */
void membership_note_ends(const struct session *session);
/* Forget the targets that have ended, when their segment is written. */
void membership_forget(struct session *session);
