// SPDX-License-Identifier: Apache-2.0
/*
 * Profiles of the last minutes, from the recordings of the spool: nothing is recorded for them, so
 * they come at once.
 *
 *   GET /profile?node=shop&event=cpu&seconds=60&format=pprof
 *
 * node     as for --node; without it, all VMs
 * event    cpu without it
 * seconds  how far to look back, 60 without it; whole recordings are taken
 * format   of an output, "pprof" without it: so `go tool pprof http://host/profile?node=shop`
 * works, and a browser shows format=svg and format=html
 */
#pragma once

#include "agent/config/agent_config.h"
#include "agent/http/http_answer.h"

struct http_answer profile_answer(const struct agent_config *config,
                                  const struct http_request *request);
