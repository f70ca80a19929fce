// SPDX-License-Identifier: Apache-2.0
/* metric_list: print the families of metrics of the agent as a table for docs/agent.md. */
#include <stdio.h>

#include "agent/http/agent_metrics.h"

static void print_family(void *context, const struct metric_family *family)
{
    (void)context;
    printf("| `%s` | %s | %s |\n", family->name, family->type, family->help);
}

int main(void)
{
    agent_metrics_families(print_family, NULL);
    return 0;
}
