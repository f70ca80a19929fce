// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "calls/call_watch.h"

/* Count calls, and do nothing else: for `seconds`, 0: until a signal (util/stop.h). Ends the watch.
 */
void call_run(struct call_watch *watch, double seconds, struct call_facts *ret_facts);
