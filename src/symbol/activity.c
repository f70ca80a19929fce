// SPDX-License-Identifier: Apache-2.0
#include "symbol/threads_internal.h"

#include <string.h>

#include "native/memory.h"

static enum activity activity_of_scheduler(enum microstate state)
{
    switch (state) {
    case MICROSTATE_PORT:
        return ACTIVITY_PORT;
    case MICROSTATE_CHECK_IO:
        return ACTIVITY_CHECK_IO;
    case MICROSTATE_AUX:
        return ACTIVITY_AUX_WORK;
    case MICROSTATE_BUSY_WAIT:
        return ACTIVITY_BUSY_WAIT;
    case MICROSTATE_SLEEP:
        return ACTIVITY_SLEEP;
    default:
        return ACTIVITY_SCHEDULING;
    }
}

static enum activity activity_of_thread(const char *name)
{
    uint32_t number;

    switch (thread_type_of(name, &number)) {
    case THREAD_ASYNC:
        return ACTIVITY_ASYNC;
    case THREAD_AUX:
        return ACTIVITY_AUX_WORK;
    case THREAD_POLL:
        return ACTIVITY_POLL;
    default:
        return ACTIVITY_OTHER;
    }
}

enum activity activity_of(const struct snapshot *snapshot, enum microstate state)
{
    char name[sizeof(snapshot->sample->thread_name) + 1] = "";

    if (snapshot->sample->process)
        return ACTIVITY_PROCESS;
    if (snapshot->sample->scheduler)
        return activity_of_scheduler(state);
    memcpy(name, snapshot->sample->thread_name, sizeof(snapshot->sample->thread_name));
    return activity_of_thread(name);
}

void activity_name_port(const struct vm *vm, const struct snapshot *snapshot, char *name,
                        size_t size)
{
    uint64_t port = snapshot_scheduler_word(snapshot, vm->layout.sched_current_port), text;

    name[0] = 0;
    if (port && vm->layout.port_name >= 0 &&
        memory_read_u64(vm->memory, port + (uint64_t)vm->layout.port_name, &text) && text &&
        !memory_read_string(vm->memory, text, name, size))
        name[0] = 0;
}
