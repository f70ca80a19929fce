// SPDX-License-Identifier: Apache-2.0
/* Triggers: conditions for which a recording is made or kept. */
#pragma once

#include "profile/metrics.h"
#include "session/target_rules.h"
#include "util/error.h"

enum { TRIGGERS_MAX = 16 };

enum trigger_kind {
    TRIGGER_CPU,     /* CPU time of the VM, percent of the time of its normal schedulers */
    TRIGGER_GC,      /* percent of its CPU samples that are in garbage collections */
    TRIGGER_MEMORY,  /* resident memory of the VM, bytes */
    TRIGGER_RUNQ,    /* length of its run queues: processes and ports */
    TRIGGER_PROCESS, /* `metric` of any process, or of any that is called `process` */
    TRIGGER_EXIT,    /* the VM ends */
};

struct trigger {
    const char *text; /* as it was given, borrowed */
    const char *name; /* of its own, borrowed; NULL: none */
    enum trigger_kind kind;
    enum metric metric;
    char *process;                   /* as in struct selection_processes; NULL: any */
    double limit;                    /* fires above this value */
    const struct target_rule *nodes; /* the VMs that it is for, borrowed; NULL: all */
};

/* Return 0, or -1 with ERROR_USAGE, which lists the triggers. */
int trigger_parse(const char *text, struct trigger *trigger, struct error *error);
void trigger_free(struct trigger *trigger);
