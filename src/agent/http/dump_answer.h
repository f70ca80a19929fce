// SPDX-License-Identifier: Apache-2.0
/*
 * /dump: all processes of one VM with their stacks, its tables, ports and memory, as they are now.
 *
 *   node      name, with or without its host, or pid; may be left out if there is one VM
 *   format    json (default), text: as `beamflame dump` writes it
 */
#pragma once

#include "agent/http/http_answer.h"

/* `dumps`: the channel of requests (agent/dumper.h). */
struct http_answer dump_answer(int dumps, const struct http_request *request);
