// SPDX-License-Identifier: Apache-2.0
/* What a recording is made for: conditions as they are asked for on the command line. */
#pragma once

#include "profile/metrics.h"
#include "util/error.h"

enum { TRIGGERS_MAX = 16 };

enum trigger_kind {
    TRIGGER_CPU,     /* percent of the time of its schedulers that the node is on a CPU */
    TRIGGER_GC,      /* percent of its CPU time that goes to collections of garbage */
    TRIGGER_MEMORY,  /* bytes that the node has resident */
    TRIGGER_RUNQ,    /* processes and ports in its run queues */
    TRIGGER_PROCESS, /* `metric` of any process, or of those that are called `process` */
    TRIGGER_EXIT,    /* the node ends */
};

struct trigger {
    const char *text; /* as it was asked for, borrowed */
    enum trigger_kind kind;
    enum metric metric;
    char *process; /* as struct selection_processes has them; NULL: any */
    double limit;  /* it fires above this */
};

/* ERROR_USAGE says what there is. */
int trigger_parse(const char *text, struct trigger *trigger, struct error *error);
void trigger_free(struct trigger *trigger);
