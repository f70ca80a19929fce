// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "push/push_client.h"

/* Set the reason of a reply: one line, clean for a terminal, cut at a whole character if it is
 * long. */
void push_reason_set(struct push_reply *reply, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
