// SPDX-License-Identifier: Apache-2.0
#include "session/target.h"

#include <stdlib.h>

#include "native/memory.h"
#include "os/process.h"
#include "session/cpu_time.h"
#include "session/node_watch.h"
#include "session/trigger_watch.h"
#include "session/wall.h"
#include "util/alloc.h"

struct target *target_new(struct vm *vm)
{
    struct target *target = xcalloc(1, sizeof(*target));

    target->vm = vm;
    return target;
}

/* Each part borrows those that are freed after it. */
void target_leave_session(struct target *target)
{
    wall_free(target->wall);
    trigger_watch_free(target->trigger_watch);
    node_watch_free(target->node_watch);
    vm_cpu_time_free(target->cpu_time);
    event_probes_free(target->probes);
    allocation_free(target->allocation);
    symbolizer_free(target->symbolizer);
    memory_watch_lock(target->vm->memory, NULL, NULL, 0);
    *target = (struct target){.vm = target->vm};
}

bool target_runs(const struct target *target)
{
    return process_exists(target->vm->pid) && process_is(target->vm->pid, &target->vm->identity);
}

bool target_is_readable(const struct target *target)
{
    return target_runs(target) && !target->vm->memory->is_held;
}

void target_free(struct target *target)
{
    target_leave_session(target);
    vm_close(target->vm);
    free(target);
}

int target_error(const struct target *target, struct error *error)
{
    pid_t pid = target->vm->pid;

    if (!target_runs(target))
        return error_set(error, ERROR_NO_PROCESS, "process %d ended while beamflame attached to it",
                         pid);
    if (vm_check_held(target->vm, error))
        return -1;
    return error_prefix(error, "process %d", pid);
}
