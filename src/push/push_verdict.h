// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "push/push_format.h"

/* Set outcome, status, reason and `rejected` of a reply by what the service has answered, other
 * than a redirect. */
void push_verdict(const struct push_format *format, const struct push_answer *answer,
                  struct push_reply *reply);
