// SPDX-License-Identifier: Apache-2.0
#include "session/traces.h"

#include "util/log.h"

void traces_look(struct programs *programs, struct target *target)
{
    if (target->has_traces || !trace_atoms_look(target->vm, &target->trace_atoms))
        return;
    target->has_traces = true;
    programs_set_traces(programs, target->vm, &target->trace_atoms.wire);
    log_decision("traces", "process %d has OpenTelemetry: the traces of its processes are read",
                 (int)target->vm->pid);
}
