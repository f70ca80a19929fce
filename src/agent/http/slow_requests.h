// SPDX-License-Identifier: Apache-2.0
/*
 * Places for requests that take seconds and whose answer takes memory: profiles and dumps. A
 * request has its place until its answer has been sent, or its connection has ended.
 */
#pragma once

#include <stdbool.h>

enum { SLOW_REQUESTS = 2 };

/* False if all places are taken. Any thread may call it. */
bool slow_requests_enter(void);
void slow_requests_leave(void);
