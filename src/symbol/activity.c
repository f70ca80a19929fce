// SPDX-License-Identifier: Apache-2.0
#include "symbol/activity.h"

#include <string.h>

#include "os/memory.h"

/* ErtsSchedulerSleepInfo.flags and ERTS_SSI_FLG_* (erl_process.h 25:150; same values and place
 * seen on live 25.2, 27.3 and 29.1). */
enum {
    SLEEP_INFO_FLAGS = 24,
    SSI_POLL_SLEEPING = 1 << 1, /* sleeps, or is about to, in the poll system call */
    SSI_TSE_SLEEPING = 1 << 2,  /* the same on its own event */
    SSI_WAITING = 1 << 3,       /* has no work: in scheduler_wait(), which spins first */
};

static uint32_t sleep_flags(const struct snapshot *snapshot)
{
    const uint8_t *bytes = snapshot_segment(snapshot, SEGMENT_SLEEP_INFO, SLEEP_INFO_FLAGS + 4);
    uint32_t flags = 0;

    if (bytes)
        memcpy(&flags, bytes + SLEEP_INFO_FLAGS, sizeof(flags));
    return flags;
}

static bool has_function(const struct profile *profile, stack_id stack, const char *const *names)
{
    for (; stack; stack = profile_get_stack(profile, stack)->parent) {
        const struct frame *frame =
            profile_get_frame(profile, profile_get_stack(profile, stack)->frame);
        const char *symbol = profile_text(profile, frame->symbol);

        for (const char *const *name = names; *name; name++)
            if (strstr(symbol, *name))
                return true;
    }
    return false;
}

static enum activity activity_of_scheduler(const struct vm *vm, const struct snapshot *snapshot,
                                           const struct profile *profile, stack_id stack)
{
    static const char *const polls[] = {"epoll", "erts_check_io", "do_poll", "do_select", NULL};
    static const char *const sleeps[] = {"futex", "erts_tse_wait", "ethr_event", NULL};
    static const char *const aux[] = {"handle_aux_work", "erts_thr_progress", "erts_alcu_",
                                      "erts_bump_timers", NULL};
    uint32_t flags = sleep_flags(snapshot);

    if (snapshot_scheduler_word(snapshot, vm->layout.sched_current_port))
        return ACTIVITY_PORT;
    if ((flags & SSI_POLL_SLEEPING) || has_function(profile, stack, polls))
        return ACTIVITY_CHECK_IO;
    if ((flags & SSI_TSE_SLEEPING) || has_function(profile, stack, sleeps))
        return ACTIVITY_SLEEP;
    if (has_function(profile, stack, aux))
        return ACTIVITY_AUX_WORK;
    return flags & SSI_WAITING ? ACTIVITY_BUSY_WAIT : ACTIVITY_SCHEDULING;
}

/* Threads of the VM by name: "async_1", "1_aux", "0_poller" (23 to 25), "erts_async_1",
 * "erts_aux_1", "erts_poll_0" (from 26; erl_process.c 27:8853). */
static enum activity activity_of_thread(const char *name)
{
    if (strstr(name, "async_"))
        return ACTIVITY_ASYNC;
    if (strstr(name, "aux"))
        return ACTIVITY_AUX_WORK;
    if (strstr(name, "poll"))
        return ACTIVITY_POLL;
    return ACTIVITY_OTHER;
}

enum activity activity_of(const struct vm *vm, const struct snapshot *snapshot,
                          const struct profile *profile, stack_id stack)
{
    char name[sizeof(snapshot->sample->thread_name) + 1] = "";

    if (snapshot->sample->process)
        return ACTIVITY_PROCESS;
    if (snapshot->sample->scheduler)
        return activity_of_scheduler(vm, snapshot, profile, stack);
    memcpy(name, snapshot->sample->thread_name, sizeof(snapshot->sample->thread_name));
    return activity_of_thread(name);
}

void activity_port_name(const struct vm *vm, const struct snapshot *snapshot, char *name,
                        size_t size)
{
    uint64_t port = snapshot_scheduler_word(snapshot, vm->layout.sched_current_port), text;

    name[0] = 0;
    if (port && vm->layout.port_name >= 0 &&
        memory_read_u64(vm->memory, port + (uint64_t)vm->layout.port_name, &text) && text &&
        !memory_read_string(vm->memory, text, name, size))
        name[0] = 0;
}
