// SPDX-License-Identifier: Apache-2.0
#include "symbol/microstate.h"

#include <stdlib.h>
#include <string.h>

#include "symbol/collection.h"
#include "util/alloc.h"
#include "vm_constants.h"

enum { R10 = 10 }; /* index in struct wire_registers */

/* What a frame tells about the frames that it called. */
enum mark {
    MARK_NOT_LOOKED_AT = 0,
    MARK_ERLANG,     /* not native code */
    MARK_BIF,        /* not native code either, but called native code: a BIF */
    MARK_SYSTEM,     /* the kernel or a library */
    MARK_VM,         /* any other function of the VM */
    MARK_SCHEDULE,   /* erts_schedule() */
    MARK_AUX,        /* handle_aux_work() */
    MARK_CHECK_IO,   /* erts_check_io(), driver_select() */
    MARK_PORT,       /* a callback of a driver */
    MARK_COLLECT,    /* garbage_collect() */
    MARK_FULL_SWEEP, /* full_sweep_heaps(), or a caller below garbage_collect() */
    MARK_POLL,       /* the system call that waits for file descriptors, or checks them */
    MARK_SLEEP,      /* other system calls of an idle thread */
};
#define MARKS(mark) (1u << (mark))

struct microstate_finder {
    const struct vm *vm;
    const struct state_functions *functions;
    const struct profile *profile;
    uint32_t version; /* of the functions that the marks were made with */
    uint8_t *marks;   /* enum mark, by frame id */
    size_t mark_room;
};

struct microstate_finder *microstate_finder_new(const struct vm *vm,
                                                const struct state_functions *functions,
                                                const struct profile *profile)
{
    struct microstate_finder *finder = xcalloc(1, sizeof(*finder));

    finder->vm = vm;
    finder->functions = functions;
    finder->profile = profile;
    return finder;
}

void microstate_finder_free(struct microstate_finder *finder)
{
    if (!finder)
        return;
    free(finder->marks);
    free(finder);
}

/* ---- marks ---- */

static bool contains_any(const char *symbol, const char *const *parts)
{
    for (; *parts; parts++)
        if (strstr(symbol, *parts))
            return true;
    return false;
}

/* The mark of a function of the kernel or of a library, by its name. */
static enum mark mark_of_system(const char *symbol)
{
    static const char *const polls[] = {"epoll_wait", "epoll_pwait", NULL};
    static const char *const sleeps[] = {"futex_wait", "timerfd", "do_sys_poll", "do_select", NULL};

    if (!strcmp(symbol, "ep_poll") || contains_any(symbol, polls))
        return MARK_POLL;
    return contains_any(symbol, sleeps) ? MARK_SLEEP : MARK_SYSTEM;
}

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? slash + 1 : path;
}

static bool is_of_vm(const struct microstate_finder *finder, const struct frame *frame)
{
    return !strcmp(base_name(profile_module_path(finder->profile, frame->module)),
                   base_name(finder->vm->executable));
}

static enum mark mark_of_native(const struct microstate_finder *finder, const struct frame *frame)
{
    static const uint8_t marks[STATE_FUNCTIONS] = {
        [FUNCTION_SCHEDULE] = MARK_SCHEDULE, [FUNCTION_AUX_WORK] = MARK_AUX,
        [FUNCTION_CHECK_IO] = MARK_CHECK_IO, [FUNCTION_DRIVER] = MARK_PORT,
        [FUNCTION_COLLECT] = MARK_COLLECT,   [FUNCTION_FULL_SWEEP] = MARK_FULL_SWEEP,
    };
    const char *symbol = profile_text(finder->profile, frame->symbol);
    enum state_function function = state_functions_get(finder->functions, frame->address);

    if (function != FUNCTION_OTHER)
        return marks[function];
    if (!strcmp(symbol, "driver_select"))
        return MARK_CHECK_IO;
    return is_of_vm(finder, frame) ? MARK_VM : mark_of_system(symbol);
}

static enum mark look_at(const struct microstate_finder *finder, const struct frame *frame)
{
    switch (frame->kind) {
    case FRAME_KERNEL:
        return mark_of_system(profile_text(finder->profile, frame->symbol));
    case FRAME_NATIVE:
        return mark_of_native(finder, frame);
    case FRAME_BIF:
        return MARK_BIF;
    default:
        return MARK_ERLANG;
    }
}

static enum mark mark_of(struct microstate_finder *finder, frame_id frame)
{
    finder->marks = xgrow(finder->marks, &finder->mark_room, frame, sizeof(*finder->marks));
    if (!finder->marks[frame])
        finder->marks[frame] = (uint8_t)look_at(finder, profile_get_frame(finder->profile, frame));
    return finder->marks[frame];
}

static void forget_marks(struct microstate_finder *finder)
{
    if (finder->mark_room)
        memset(finder->marks, MARK_NOT_LOOKED_AT, finder->mark_room);
}

void microstate_finder_move(struct microstate_finder *finder, const struct profile *profile)
{
    finder->profile = profile;
    forget_marks(finder);
}

/* Forget the marks that were made before more functions became known. */
static void forget_old_marks(struct microstate_finder *finder)
{
    if (finder->version == state_functions_version(finder->functions))
        return;
    finder->version = state_functions_version(finder->functions);
    forget_marks(finder);
}

/* The first of the wanted marks from the leaf on, within native code. If there is none, the mark of
 * the native code's caller, or MARK_SYSTEM if the native code is the thread's root. *depth becomes
 * the number of frames before that frame. */
static enum mark find_mark(struct microstate_finder *finder, stack_id stack, unsigned int wanted,
                           size_t *depth)
{
    for (*depth = 0; stack; ++*depth) {
        const struct stack_node *node = profile_get_stack(finder->profile, stack);
        enum mark mark = mark_of(finder, node->frame);

        if (mark == MARK_ERLANG || mark == MARK_BIF || (wanted & MARKS(mark)))
            return mark;
        stack = node->parent;
    }
    return MARK_SYSTEM;
}

static enum mark first_mark(struct microstate_finder *finder, stack_id stack, unsigned int wanted)
{
    size_t depth;

    return find_mark(finder, stack, wanted, &depth);
}

/* ---- a process ---- */

static enum microstate collection(struct microstate_finder *finder, const uint8_t *process,
                                  const struct unwound *unwound, stack_id stack)
{
    static const unsigned int sweeping = MARKS(MARK_FULL_SWEEP) | MARKS(MARK_COLLECT);
    enum call_ahead sweep = CALL_UNKNOWN;
    size_t depth;

    if (unwound->native_broken || !state_functions_know(finder->functions, FUNCTION_COLLECT) ||
        !state_functions_know(finder->functions, FUNCTION_FULL_SWEEP))
        return MICROSTATE_GC;
    if (find_mark(finder, stack, MARKS(MARK_COLLECT), &depth) != MARK_COLLECT)
        return MICROSTATE_GC_HIBERNATE;
    if (first_mark(finder, stack, sweeping) == MARK_FULL_SWEEP)
        return MICROSTATE_GC_MAJOR;
    if (depth < unwound->count)
        sweep = state_functions_sweep_ahead(finder->functions, unwound->frames[depth].address);
    return collection_kind(&finder->vm->layout, process, sweep);
}

static uint32_t state_bits(const struct layout *layout, const uint8_t *process)
{
    uint32_t bits;

    memcpy(&bits, process + layout->process_state, sizeof(bits));
    return bits;
}

static enum microstate state_of_process(struct microstate_finder *finder,
                                        const struct snapshot *snapshot,
                                        const struct unwound *unwound, stack_id stack)
{
    const struct layout *layout = &finder->vm->layout;
    const uint8_t *process =
        snapshot_region(snapshot, REGION_PROCESS, (size_t)layout->sizeof_process);
    enum mark mark;

    if (!process)
        return MICROSTATE_NONE;
    if (state_bits(layout, process) & ERTS_PSFLG_GC)
        return collection(finder, process, unwound, stack);
    mark = first_mark(finder, stack, MARKS(MARK_PORT) | MARKS(MARK_CHECK_IO));
    if (mark == MARK_PORT)
        return MICROSTATE_PORT;
    if (mark == MARK_CHECK_IO)
        return MICROSTATE_CHECK_IO;
    if (snapshot_scheduler_word(snapshot, layout->sched_current_nif))
        return MICROSTATE_NIF;
    return mark == MARK_BIF ? MICROSTATE_BIF : MICROSTATE_EMULATOR;
}

/* ---- a thread without a process ---- */

static uint32_t sleep_flags(const struct snapshot *snapshot)
{
    const uint8_t *bytes = snapshot_region(snapshot, REGION_SLEEP_INFO, ERTS_SSI_FLAGS_OFFSET + 4);
    uint32_t flags = 0;

    if (bytes)
        memcpy(&flags, bytes + ERTS_SSI_FLAGS_OFFSET, sizeof(flags));
    return flags;
}

/* True if the system call waits. That is epoll_wait(epfd, events, maxevents, timeout) with a
 * timeout other than 0, which is in r10 (syscall(2)). */
static bool poll_waits(const struct snapshot *snapshot)
{
    if (snapshot->sample->flags & WIRE_IN_KERNEL)
        return (uint32_t)snapshot_register(snapshot, R10) != 0;
    return sleep_flags(snapshot) & ERTS_SSI_FLG_POLL_SLEEPING;
}

/* True if the scheduler's own loop runs. It may call sched_yield(), but no other function. */
static bool is_in_loop(struct microstate_finder *finder, stack_id stack)
{
    const struct stack_node *node;

    while (stack) {
        node = profile_get_stack(finder->profile, stack);
        stack = node->parent;
        switch (mark_of(finder, node->frame)) {
        case MARK_SYSTEM:
            break;
        case MARK_SCHEDULE:
            return true;
        case MARK_VM: /* scheduler_wait() */
            return stack && mark_of(finder, profile_get_stack(finder->profile, stack)->frame) ==
                                MARK_SCHEDULE;
        default:
            return false;
        }
    }
    return false;
}

static enum microstate state_without_call(struct microstate_finder *finder,
                                          const struct snapshot *snapshot, enum thread_type type,
                                          stack_id stack)
{
    uint32_t flags = sleep_flags(snapshot);

    if (type == THREAD_ASYNC ||
        snapshot_scheduler_word(snapshot, finder->vm->layout.sched_current_port))
        return MICROSTATE_PORT;
    if ((flags & ERTS_SSI_FLG_TSE_SLEEPING) && (snapshot->sample->flags & WIRE_IN_KERNEL))
        return MICROSTATE_SLEEP;
    if ((flags & ERTS_SSI_FLG_WAITING) &&
        (!state_functions_know(finder->functions, FUNCTION_SCHEDULE) || is_in_loop(finder, stack)))
        return MICROSTATE_BUSY_WAIT;
    return MICROSTATE_OTHER;
}

static enum microstate state_of_thread(struct microstate_finder *finder,
                                       const struct snapshot *snapshot, enum thread_type type,
                                       stack_id stack)
{
    static const unsigned int wanted = MARKS(MARK_AUX) | MARKS(MARK_CHECK_IO) | MARKS(MARK_PORT) |
                                       MARKS(MARK_POLL) | MARKS(MARK_SLEEP);

    switch (first_mark(finder, stack, wanted)) {
    case MARK_AUX:
        return MICROSTATE_AUX;
    case MARK_PORT:
        return MICROSTATE_PORT;
    case MARK_CHECK_IO:
        return MICROSTATE_CHECK_IO;
    case MARK_POLL:
        return poll_waits(snapshot) ? MICROSTATE_SLEEP : MICROSTATE_CHECK_IO;
    case MARK_SLEEP:
        return MICROSTATE_SLEEP;
    default:
        return state_without_call(finder, snapshot, type, stack);
    }
}

enum microstate microstate_of(struct microstate_finder *finder, const struct snapshot *snapshot,
                              const struct unwound *unwound, stack_id stack)
{
    char name[sizeof(snapshot->sample->thread_name) + 1] = "";
    enum thread_type type = THREAD_SCHEDULER;
    uint32_t number;

    forget_old_marks(finder);
    if (snapshot->sample->process)
        return state_of_process(finder, snapshot, unwound, stack);
    if (!snapshot->sample->scheduler) {
        memcpy(name, snapshot->sample->thread_name, sizeof(snapshot->sample->thread_name));
        type = thread_type_of(name, &number);
    }
    return state_of_thread(finder, snapshot, type, stack);
}
