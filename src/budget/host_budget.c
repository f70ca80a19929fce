// SPDX-License-Identifier: Apache-2.0
#include "budget/budget.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "util/alloc.h"
#include "util/number.h"

#define SECOND 1e9

/* Probes have at least this part of the host's budget. */
static const double LEAST = 0.1;

/* The CPU time of this program is averaged over this many ns, because the end of a segment takes a
 * burst of it. */
static const double OWN_MEMORY = 30e9;

struct member {
    bool runs;
    double income;
};

struct host_budget {
    double part, own; /* CPUs */
    uint64_t start, now, own_cpu;
    struct member *members;
    unsigned count;
    double incomes; /* the sum of all */
};

struct host_budget *host_budget_new(double part, uint64_t now, uint64_t own_cpu_ns)
{
    struct host_budget *host = xcalloc(1, sizeof(*host));

    *host = (struct host_budget){.part = part, .start = now, .now = now, .own_cpu = own_cpu_ns};
    return host;
}

void host_budget_free(struct host_budget *host)
{
    if (!host)
        return;
    free(host->members);
    free(host);
}

unsigned host_budget_join(struct host_budget *host)
{
    unsigned member = 0;

    while (member < host->count && host->members[member].runs)
        member++;
    if (member == host->count)
        host->members = xreallocarray(host->members, ++host->count, sizeof(*host->members));
    host->members[member] = (struct member){.runs = true};
    return member;
}

/* Set the income of a VM. The sum is added up anew, so that no errors of rounding remain. */
static void set_income(struct host_budget *host, unsigned member, double income)
{
    host->members[member].income = income;
    host->incomes = 0;
    for (unsigned i = 0; i < host->count; i++)
        host->incomes += host->members[i].income;
}

void host_budget_leave(struct host_budget *host, unsigned member)
{
    host->members[member].runs = false;
    set_income(host, member, 0);
}

void host_budget_own(struct host_budget *host, uint64_t now, uint64_t own_cpu_ns)
{
    double time = (double)(now - host->now), seen = (double)(now - host->start);

    if (now <= host->now)
        return;
    host->own = moved_average(host->own, (double)(own_cpu_ns - host->own_cpu) / time, time,
                              fmin(seen, OWN_MEMORY));
    host->own_cpu = own_cpu_ns;
    host->now = now;
}

double host_budget_scale(struct host_budget *host, unsigned member, double income)
{
    double room = fmax(host->part - host->own, LEAST * host->part) * SECOND;

    set_income(host, member, income);
    return host->incomes > room ? room / host->incomes : 1;
}
