// SPDX-License-Identifier: Apache-2.0
#include "session/targets.h"

#include <stdlib.h>

#include "util/alloc.h"

void refusals_add(struct refusals *refusals, pid_t pid, const char *reason)
{
    refusals->of = xgrow(refusals->of, &refusals->room, refusals->count, sizeof(*refusals->of));
    refusals->of[refusals->count++] =
        (struct refused_vm){pid, process_identity(pid), xstrdup(reason)};
}

static bool runs(const struct refused_vm *refusal)
{
    return process_runs(refusal->pid, &refusal->identity);
}

bool refusals_has(const struct refusals *refusals, pid_t pid)
{
    for (size_t i = 0; i < refusals->count; i++)
        if (refusals->of[i].pid == pid && runs(&refusals->of[i]))
            return true;
    return false;
}

void refusals_forget_ended(struct refusals *refusals)
{
    size_t kept = 0;

    for (size_t i = 0; i < refusals->count; i++) {
        if (runs(&refusals->of[i]))
            refusals->of[kept++] = refusals->of[i];
        else
            free(refusals->of[i].reason);
    }
    refusals->count = kept;
}

void refusals_free(struct refusals *refusals)
{
    for (size_t i = 0; i < refusals->count; i++)
        free(refusals->of[i].reason);
    free(refusals->of);
    *refusals = (struct refusals){.count = 0};
}
