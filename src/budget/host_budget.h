// SPDX-License-Identifier: Apache-2.0
/*
 * The budget of a host: the CPU time that this program and the probes in all VMs may take together.
 * If the VMs' own budgets exceed what this program leaves for probes, all are scaled by the same
 * factor. This module only computes; the caller passes the time.
 */
#pragma once

#include <stdint.h>

struct host_budget;

/* `part`: of one CPU: 0.01. `own_cpu_ns`: CPU time that this program has used until now. */
struct host_budget *host_budget_new(double part, uint64_t now, uint64_t own_cpu_ns);
void host_budget_free(struct host_budget *host);

/* Add a VM. Return its number. */
unsigned host_budget_join(struct host_budget *host);
void host_budget_leave(struct host_budget *host, unsigned member);

/* Report the CPU time that this program has used since it began. */
void host_budget_own(struct host_budget *host, uint64_t now, uint64_t own_cpu_ns);

/* Report the income that a VM's own budget allows, in ns a second. Return the factor by which
 * it is scaled, at most 1. If this program alone needs the host's budget, probes keep a tenth of
 * the budget: without an income they would never open. */
double host_budget_scale(struct host_budget *host, unsigned member, double income);
