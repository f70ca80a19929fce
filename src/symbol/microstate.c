// SPDX-License-Identifier: Apache-2.0
#include "symbol/threads_internal.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "arch/cpu.h"
#include "beam/layout.h"
#include "native/reachability.h"
#include "profile/microstates.h"
#include "symbol/frames_internal.h"
#include "vm_constants.h"

/*
 * The kind of a collection in garbage_collect() (erl_gc.c 26.2.1:681): minor or major.
 *
 * garbage_collect() runs a minor collection unless a major one is due. A minor collection allocates
 * an old heap if it needs one, and the process has an old heap from then on. If the minor
 * collection finds no room, a major one follows (26.2.1:1372). A major collection allocates a new
 * heap and sweeps all heaps into it with full_sweep_heaps(), which frees the old heap at its end.
 * The process has no old heap from then on (26.2.1:1808).
 *
 * So if garbage_collect() can no longer reach the sweep, the old heap tells the two kinds apart. If
 * it must reach the sweep, the collection is major.
 */

static uint64_t number_at(const uint8_t *bytes, int32_t offset, size_t size)
{
    uint64_t number = 0;

    if (offset >= 0)
        memcpy(&number, bytes + offset, size);
    return number;
}

static uint64_t word_at(const uint8_t *bytes, int32_t offset)
{
    return number_at(bytes, offset, 8);
}

static bool needs_full_sweep(const struct layout *layout, const uint8_t *process)
{
    return number_at(process, layout->process_flags, 4) & F_NEED_FULLSWEEP;
}

/* True if there were enough minor collections (garbage_collect(), erl_gc.c 26.2.1:758). */
static bool is_due(const struct layout *layout, const uint8_t *process)
{
    return number_at(process, layout->process_gen_gcs, 2) >=
           number_at(process, layout->process_max_gen_gcs, 2);
}

/* True if a minor collection would have nothing to move to an old heap, and there is no old heap
 * (minor_collection(), erl_gc.c 26.2.1:1412). */
static bool has_nothing_old(const struct layout *layout, const uint8_t *process)
{
    uint64_t abandoned = word_at(process, layout->process_abandoned_heap);
    uint64_t heap = abandoned ? abandoned : word_at(process, layout->process_heap);

    return !word_at(process, layout->process_old_heap) &&
           word_at(process, layout->process_high_water) == heap;
}

/* `process`: the bytes of the Process struct. `sweep` says if garbage_collect() still has a full
 * sweep ahead; full_sweep_heaps() must not be running. A collection whose kind is not decided yet
 * counts as minor, as in the VM, unless it is bound to become major. MICROSTATE_GC if the kind is
 * unknown. */
static enum microstate collection_kind(const struct layout *layout, const uint8_t *process,
                                       enum call_ahead sweep)
{
    switch (sweep) {
    case CALL_ALWAYS:
        return MICROSTATE_GC_MAJOR;
    case CALL_NEVER:
        return word_at(process, layout->process_old_heap) ? MICROSTATE_GC_MINOR
                                                          : MICROSTATE_GC_MAJOR;
    case CALL_PERHAPS:
        return needs_full_sweep(layout, process) || is_due(layout, process) ||
                       has_nothing_old(layout, process)
                   ? MICROSTATE_GC_MAJOR
                   : MICROSTATE_GC_MINOR;
    case CALL_UNKNOWN:
        break;
    }
    /* The flag is set only until the sweep begins (major_collection(), erl_gc.c 26.2.1:1860). */
    return needs_full_sweep(layout, process) ? MICROSTATE_GC_MAJOR : MICROSTATE_GC;
}

enum { TIMEOUT = 3 /* argument of epoll_wait() */ };

#define CLASSES(class) (1u << (class))

/* The first of the wanted classes from the leaf on, within native code. If there is none, the class
 * of the native code's caller, or CLASS_SYSTEM if the native code is the thread's root. *depth
 * becomes the number of frames before that frame. */
static enum frame_class find_class(const struct thread_sample *sample, unsigned int wanted,
                                   size_t *depth)
{
    for (*depth = 0; *depth < sample->unwound->count; ++*depth) {
        enum frame_class class = sample->classes[*depth];

        if (class == CLASS_ERLANG || class == CLASS_BIF || (wanted & CLASSES(class)))
            return class;
    }
    return CLASS_SYSTEM;
}

static enum frame_class first_class(const struct thread_sample *sample, unsigned int wanted)
{
    size_t depth;

    return find_class(sample, wanted, &depth);
}

/* ---- a process ---- */

static bool know(const struct thread_sample *sample, enum state_function function)
{
    return state_functions_know(sample->functions, function);
}

static enum microstate collection(const struct thread_sample *sample, const uint8_t *process)
{
    static const unsigned int sweeping = CLASSES(CLASS_FULL_SWEEP) | CLASSES(CLASS_COLLECT);
    const struct unwound *unwound = sample->unwound;
    enum call_ahead sweep;
    size_t depth;

    if (unwound->native_broken || !know(sample, FUNCTION_COLLECT) ||
        !know(sample, FUNCTION_FULL_SWEEP))
        return MICROSTATE_GC;
    if (find_class(sample, CLASSES(CLASS_COLLECT), &depth) != CLASS_COLLECT)
        return MICROSTATE_GC_HIBERNATE;
    if (first_class(sample, sweeping) == CLASS_FULL_SWEEP)
        return MICROSTATE_GC_MAJOR;
    sweep = state_functions_sweep_ahead(sample->functions, unwound->frames[depth].address);
    return collection_kind(sample->layout, process, sweep);
}

static uint32_t state_bits(const struct layout *layout, const uint8_t *process)
{
    uint32_t bits;

    memcpy(&bits, process + layout->process_state, sizeof(bits));
    return bits;
}

static enum microstate state_of_process(const struct thread_sample *sample)
{
    const struct layout *layout = sample->layout;
    const uint8_t *process =
        snapshot_region(sample->snapshot, REGION_PROCESS, (size_t)layout->sizeof_process);
    enum frame_class class;

    if (!process)
        return MICROSTATE_NONE;
    if (state_bits(layout, process) & ERTS_PSFLG_GC)
        return collection(sample, process);
    class = first_class(sample, CLASSES(CLASS_PORT) | CLASSES(CLASS_CHECK_IO));
    if (class == CLASS_PORT)
        return MICROSTATE_PORT;
    if (class == CLASS_CHECK_IO)
        return MICROSTATE_CHECK_IO;
    if (snapshot_scheduler_word(sample->snapshot, layout->sched_current_nif))
        return MICROSTATE_NIF;
    return class == CLASS_BIF ? MICROSTATE_BIF : MICROSTATE_EMULATOR;
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
 * timeout other than 0. */
static bool poll_waits(const struct snapshot *snapshot)
{
    if (snapshot->sample->flags & WIRE_IN_KERNEL)
        return (uint32_t)snapshot_register(snapshot, cpu.call_arguments[TIMEOUT]) != 0;
    return sleep_flags(snapshot) & ERTS_SSI_FLG_POLL_SLEEPING;
}

/* True if the scheduler's own loop runs. It may call sched_yield(), but no other function. */
static bool is_in_loop(const struct thread_sample *sample)
{
    size_t count = sample->unwound->count, i = 0;

    while (i < count && sample->classes[i] == CLASS_SYSTEM)
        i++;
    if (i < count && sample->classes[i] == CLASS_VM) /* scheduler_wait() */
        i++;
    return i < count && sample->classes[i] == CLASS_SCHEDULE;
}

static enum microstate state_without_call(const struct thread_sample *sample, enum thread_type type)
{
    const struct snapshot *snapshot = sample->snapshot;
    uint32_t flags = sleep_flags(snapshot);

    if (type == THREAD_ASYNC ||
        snapshot_scheduler_word(snapshot, sample->layout->sched_current_port))
        return MICROSTATE_PORT;
    if ((flags & ERTS_SSI_FLG_TSE_SLEEPING) && (snapshot->sample->flags & WIRE_IN_KERNEL))
        return MICROSTATE_SLEEP;
    if ((flags & ERTS_SSI_FLG_WAITING) && (!know(sample, FUNCTION_SCHEDULE) || is_in_loop(sample)))
        return MICROSTATE_BUSY_WAIT;
    return MICROSTATE_OTHER;
}

static enum microstate state_of_thread(const struct thread_sample *sample, enum thread_type type)
{
    static const unsigned int wanted = CLASSES(CLASS_AUX) | CLASSES(CLASS_CHECK_IO) |
                                       CLASSES(CLASS_PORT) | CLASSES(CLASS_POLL) |
                                       CLASSES(CLASS_SLEEP);

    switch (first_class(sample, wanted)) {
    case CLASS_AUX:
        return MICROSTATE_AUX;
    case CLASS_PORT:
        return MICROSTATE_PORT;
    case CLASS_CHECK_IO:
        return MICROSTATE_CHECK_IO;
    case CLASS_POLL:
        return poll_waits(sample->snapshot) ? MICROSTATE_SLEEP : MICROSTATE_CHECK_IO;
    case CLASS_SLEEP:
        return MICROSTATE_SLEEP;
    default:
        return state_without_call(sample, type);
    }
}

enum microstate microstate_of(const struct thread_sample *sample)
{
    const struct wire_sample *wire = sample->snapshot->sample;
    char name[sizeof(wire->thread_name) + 1] = "";
    enum thread_type type = THREAD_SCHEDULER;
    uint32_t number;

    if (wire->process)
        return state_of_process(sample);
    if (!wire->scheduler) {
        memcpy(name, wire->thread_name, sizeof(wire->thread_name));
        type = thread_type_of(name, &number);
    }
    return state_of_thread(sample, type);
}
