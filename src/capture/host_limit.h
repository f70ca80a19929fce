// SPDX-License-Identifier: Apache-2.0
/* The budget of the host (budget/host_budget.h), which the governors of all targets share. All
 * functions may be called from any thread. */
#pragma once

struct host_limit;

/* `part`: of one CPU: 0.01. */
struct host_limit *host_limit_new(double part);
/* All members must have left. */
void host_limit_free(struct host_limit *limit);

unsigned host_limit_join(struct host_limit *limit);
void host_limit_leave(struct host_limit *limit, unsigned member);

/* Return the part of a target's income (ns a second) that the host has room for now. */
double host_limit_scale(struct host_limit *limit, unsigned member, double income);
