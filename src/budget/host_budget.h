// SPDX-License-Identifier: Apache-2.0
/*
 * The budget of a host: what the probes in all VMs may cost together, beside the CPU time that this
 * program uses itself. If the VMs' own budgets are more than that, all are scaled alike. It only
 * computes; the caller gives the time.
 */
#pragma once

#include <stdint.h>

struct host_budget;

/* `part`: of one CPU: 0.01. `own_cpu_ns`: CPU time that this program has used until now. */
struct host_budget *host_budget_new(double part, uint64_t now, uint64_t own_cpu_ns);
void host_budget_free(struct host_budget *host);

/* Return the number of a VM that begins. */
unsigned host_budget_join(struct host_budget *host);
void host_budget_leave(struct host_budget *host, unsigned member);

/* Report the CPU time that this program has used since it began. */
void host_budget_own(struct host_budget *host, uint64_t now, uint64_t own_cpu_ns);

/* Report the income that a VM's own budget allows, in ns a second. Return the part of it that the
 * host has room for. If this program itself uses up the host's budget, a tenth of that is left to
 * probes: they would never open without an income. */
double host_budget_scale(struct host_budget *host, unsigned member, double income);
