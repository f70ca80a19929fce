// SPDX-License-Identifier: Apache-2.0
#include "symbol/stopped_thread.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "os/process.h"
#include "profile/threads.h"

/* ---- of a live VM ---- */

/* True if `tid` is the scheduler's thread, by its name. */
static bool is_named(const struct vm *vm, pid_t tid, struct stopped_thread *thread)
{
    uint32_t number;

    process_thread_name(vm->pid, tid, thread->name, sizeof(thread->name));
    thread->tid = tid;
    return thread_type_of(thread->name, &number) == THREAD_SCHEDULER &&
           number == thread->scheduler->number;
}

/* Find the scheduler's thread: the one that was found before, or one of all threads. */
static bool find_named(struct vm *vm, struct stopped_thread *thread)
{
    pid_t *known = &vm->schedulers[thread->scheduler - vm->schedulers].task, *tids;
    struct error ignored; /* the VM ended */
    bool found = false;
    size_t count;

    if (*known && is_named(vm, *known, thread))
        return true;
    tids = process_threads(vm->pid, &count, &ignored);
    for (size_t i = 0; tids && i < count && !found; i++)
        found = is_named(vm, tids[i], thread);
    free(tids);
    *known = found ? thread->tid : 0;
    return found;
}

/* The CPU time of the thread, 0 if the kernel does not count it. */
static uint64_t time_run(const struct vm *vm, pid_t tid)
{
    uint64_t cpu, wait;

    return process_thread_times(vm->pid, tid, &cpu, &wait) ? cpu : 0;
}

bool stopped_thread_waiting(struct vm *vm, uint64_t address, struct stopped_thread *thread)
{
    uint64_t *registers = (uint64_t *)thread->registers.value;

    *thread = (struct stopped_thread){.scheduler = vm_scheduler_of(vm, address)};
    if (!thread->scheduler || !find_named(vm, thread))
        return false;
    thread->cpu_ns = time_run(vm, thread->tid);
    return process_thread_waits(vm->pid, thread->tid, &registers[CPU_PC], &registers[CPU_SP]);
}

bool stopped_thread_still_waits(struct vm *vm, uint64_t address,
                                const struct stopped_thread *thread)
{
    uint64_t pc, stack_pointer;

    return process_thread_waits(vm->pid, thread->tid, &pc, &stack_pointer) &&
           pc == thread->registers.value[CPU_PC] &&
           stack_pointer == thread->registers.value[CPU_SP] &&
           vm_scheduler_of(vm, address) == thread->scheduler &&
           time_run(vm, thread->tid) == thread->cpu_ns;
}

/* ---- of a core ---- */

static const struct vm_scheduler *find_scheduler(const struct vm *vm, uint64_t process)
{
    for (uint32_t i = 0; i < vm->scheduler_count; i++) {
        uint64_t at = vm->schedulers[i].data + (uint64_t)vm->layout.sched_current_process, current;

        if (memory_read_u64(vm->memory, at, &current) && current == process)
            return &vm->schedulers[i];
    }
    return NULL;
}

/* A core has no thread names. Make the name that the VM gives. */
static void set_name(const struct vm *vm, struct stopped_thread *thread)
{
    static const char *const types[] = {"sched", "dcpus", "dios"};
    static const char *const old_types[] = {"scheduler", "dirty_cpu_sch", "dirty_io_sche"};
    const struct vm_scheduler *scheduler = thread->scheduler;
    char name[64];

    if (vm->features.erts_thread_names)
        snprintf(name, sizeof(name), "erts_%s_%u", types[scheduler->type], scheduler->number);
    else
        snprintf(name, sizeof(name), "%u_%s", scheduler->number, old_types[scheduler->type]);
    memcpy(thread->name, name, sizeof(thread->name) - 1);
}

bool stopped_thread_of_core(struct vm *vm, uint64_t address, struct stopped_thread *thread)
{
    *thread = (struct stopped_thread){.scheduler = find_scheduler(vm, address)};
    for (size_t i = 0; thread->scheduler && i < vm->core->thread_count; i++) {
        const struct core_thread *from = &vm->core->threads[i];

        if (from->thread_pointer != thread->scheduler->tid)
            continue;
        thread->tid = (pid_t)from->tid;
        memcpy(thread->registers.value, from->registers, sizeof(from->registers));
        thread->all_registers = true;
        set_name(vm, thread);
        return true;
    }
    return false;
}
