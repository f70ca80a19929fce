// SPDX-License-Identifier: Apache-2.0
#include "session/targets.h"

#include <stdlib.h>

#include "session/node_name.h"
#include "util/alloc.h"

static void free_refusal(struct refused_vm *refusal)
{
    free(refusal->node);
    free(refusal->reason);
}

void refusals_drop(struct refusals *refusals, pid_t pid)
{
    size_t kept = 0;

    for (size_t i = 0; i < refusals->count; i++) {
        if (refusals->of[i].pid != pid)
            refusals->of[kept++] = refusals->of[i];
        else
            free_refusal(&refusals->of[i]);
    }
    refusals->count = kept;
}

struct refused_vm *refusals_add(struct refusals *refusals, pid_t pid, const char *node,
                                enum refusal_kind kind, const char *reason)
{
    bool is_known = node && *node;

    refusals_drop(refusals, pid);
    refusals->of = xgrow(refusals->of, &refusals->room, refusals->count, sizeof(*refusals->of));
    refusals->of[refusals->count++] =
        (struct refused_vm){.pid = pid,
                            .kind = kind,
                            .identity = process_identity(pid),
                            .node = is_known ? xstrdup(node) : node_name_requested(pid),
                            .reason = xstrdup(reason)};
    return &refusals->of[refusals->count - 1];
}

static bool runs(const struct refused_vm *refusal)
{
    return process_runs(refusal->pid, &refusal->identity);
}

const struct refused_vm *refusals_find(const struct refusals *refusals, pid_t pid)
{
    for (size_t i = 0; i < refusals->count; i++)
        if (refusals->of[i].pid == pid && runs(&refusals->of[i]))
            return &refusals->of[i];
    return NULL;
}

void refusals_forget_ended(struct refusals *refusals)
{
    size_t kept = 0;

    for (size_t i = 0; i < refusals->count; i++) {
        if (runs(&refusals->of[i]))
            refusals->of[kept++] = refusals->of[i];
        else
            free_refusal(&refusals->of[i]);
    }
    refusals->count = kept;
}

void refusals_free(struct refusals *refusals)
{
    for (size_t i = 0; i < refusals->count; i++)
        free_refusal(&refusals->of[i]);
    free(refusals->of);
    *refusals = (struct refusals){.count = 0};
}
