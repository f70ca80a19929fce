// SPDX-License-Identifier: Apache-2.0
#include "symbol/symbolizer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "beam/layout.h"
#include "beam/process_info.h"
#include "beam/process_metrics.h"
#include "os/process.h"
#include "os/service_attributes.h"
#include "profile/profile_remap.h"
#include "symbol/frames_internal.h"
#include "symbol/processes_internal.h"
#include "symbol/snapshot.h"
#include "symbol/stopped_thread.h"
#include "symbol/threads_internal.h"
#include "symbol/unwind.h"
#include "util/alloc.h"
#include "util/clock.h"

/* VMs seldom load drivers, and a look reads the callbacks of all. */
static const uint64_t DRIVERS_NS = 5000000000;

struct symbolizer {
    struct vm *vm;
    struct profile *profile;
    struct atoms *atoms;
    struct code *code;
    struct unwinder *unwinder;
    struct runtime_names *runtime;
    struct dirty_loop *dirty_loop;
    struct frame_names *names;
    struct unnamed_frames *unnamed; /* NULL: no debug files are fetched */
    struct process_cache *processes;
    struct process_walks *walks;
    struct hooks *hooks; /* NULL: not needed yet, or not any more */
    struct state_functions *state_functions;
    uint64_t drivers_found; /* CLOCK_MONOTONIC: when they were looked for */
    uint64_t code_noticed;  /* CLOCK_MONOTONIC; 0: never */
    struct thread_watch *thread_watch;
    struct thread_cache *threads;
    struct wire_words process_words, scheduler_words;
    struct swept_snapshot swept;
    struct wire_trace_atoms traces; /* all 0: not known */
    target_id target;
    /* the last sample */
    const struct named_stack *named;
    bool no_leaf;
};

static string_id text(struct profile *profile, const char *value)
{
    return value[0] ? profile_string_z(profile, value) : 0;
}

static target_id add_target(struct profile *profile, struct vm *vm, const char *service)
{
    char node[600], release[16], container[256] = "", *attributes;
    struct target_entry target = {
        .pid = (uint32_t)vm->pid,
        .schedulers = vm->scheduler_counts[VM_SCHEDULER_NORMAL],
        .dirty_cpu_schedulers = vm->scheduler_counts[VM_SCHEDULER_DIRTY_CPU],
        .dirty_io_schedulers = vm->scheduler_counts[VM_SCHEDULER_DIRTY_IO],
        .processes = vm_process_count(vm),
    };

    vm_node_name(vm, node, sizeof(node));
    snprintf(release, sizeof(release), "%d", vm->build.otp_release);
    if (!vm->core) {
        process_container(vm->pid, container, sizeof(container));
        attributes = service_attributes(vm->pid, container, service);
        target.attributes = text(profile, attributes);
        free(attributes);
    }
    target.node = text(profile, node);
    target.otp_release = text(profile, release);
    target.erts = text(profile, vm->build.erts);
    target.flavor = text(profile, vm->build.jit ? "jit" : "emu");
    target.executable = text(profile, vm->executable);
    target.container = text(profile, container);
    target.layout = text(profile, vm_layout_source(vm));
    return profile_target(profile, &target);
}

struct symbolizer *symbolizer_new(struct vm *vm, const struct name_keys *keys, const char *service,
                                  struct profile *profile, struct error *error)
{
    struct symbolizer *symbolizer = xcalloc(1, sizeof(*symbolizer));

    symbolizer->vm = vm;
    symbolizer->profile = profile;
    symbolizer->atoms = atoms_new(vm);
    symbolizer->process_words = layout_process_words(&vm->layout);
    symbolizer->scheduler_words = layout_scheduler_words(&vm->layout);
    symbolizer->code = code_new(vm, error);
    if (!symbolizer->code)
        goto fail;
    symbolizer->target = add_target(profile, vm, service);
    symbolizer->threads = thread_cache_new(vm, profile, symbolizer->target);
    symbolizer->unwinder = unwinder_new(vm, symbolizer->code);
    symbolizer->runtime = runtime_names_new(vm, symbolizer->code);
    symbolizer->dirty_loop = dirty_loop_new(vm, symbolizer->runtime);
    symbolizer->state_functions = state_functions_new(vm, symbolizer->code, symbolizer->runtime);
    symbolizer->names =
        frame_names_new(&(struct name_sources){vm, symbolizer->atoms, symbolizer->code,
                                               symbolizer->runtime, symbolizer->state_functions},
                        profile);
    symbolizer->unnamed = unnamed_frames_new(vm->mappings);
    symbolizer->walks = process_walks_new(vm);
    symbolizer->thread_watch = thread_watch_new(vm->pid, symbolizer->target, profile);
    symbolizer->processes =
        process_cache_new(vm, symbolizer->atoms, keys, profile, symbolizer->target, error);
    if (symbolizer->processes)
        return symbolizer;
fail:
    symbolizer_free(symbolizer);
    return NULL;
}

void symbolizer_move(struct symbolizer *symbolizer, struct profile *profile)
{
    struct profile_remap remap = {.from = symbolizer->profile, .to = profile};
    target_id target = profile_remap_target(&remap, symbolizer->target);

    profile_remap_free(&remap);
    frame_names_move(symbolizer->names, profile);
    unnamed_frames_forget(symbolizer->unnamed);
    process_cache_move(symbolizer->processes, profile, target);
    thread_cache_move(symbolizer->threads, profile, target);
    thread_watch_move(symbolizer->thread_watch, profile, target);
    symbolizer->profile = profile;
    symbolizer->target = target;
}

void symbolizer_set_kernel(struct symbolizer *symbolizer, const struct kernel_symbols *kernel,
                           bool addresses)
{
    frame_names_set_kernel(symbolizer->names, kernel, addresses);
}

void symbolizer_set_pace(struct symbolizer *symbolizer, uint64_t ns)
{
    process_cache_set_pace(symbolizer->processes, ns);
    process_walks_set_pace(symbolizer->walks, ns);
}

target_id symbolizer_target(const struct symbolizer *symbolizer)
{
    return symbolizer->target;
}

void symbolizer_free(struct symbolizer *symbolizer)
{
    if (!symbolizer)
        return;
    process_cache_free(symbolizer->processes);
    process_walks_free(symbolizer->walks);
    thread_cache_free(symbolizer->threads);
    thread_watch_free(symbolizer->thread_watch);
    frame_names_free(symbolizer->names);
    unnamed_frames_free(symbolizer->unnamed);
    hooks_free(symbolizer->hooks);
    state_functions_free(symbolizer->state_functions);
    dirty_loop_free(symbolizer->dirty_loop);
    runtime_names_free(symbolizer->runtime);
    unwinder_free(symbolizer->unwinder);
    code_free(symbolizer->code);
    atoms_free(symbolizer->atoms);
    free(symbolizer);
}

uint64_t symbolizer_code_generation_address(const struct symbolizer *symbolizer)
{
    return code_generation_address(symbolizer->code);
}

struct code *symbolizer_code(struct symbolizer *symbolizer)
{
    return symbolizer->code;
}

void symbolizer_refresh(struct symbolizer *symbolizer)
{
    struct error ignored; /* the target ended: its samples still need names */
    uint64_t epoch = code_epoch(symbolizer->code), now = clock_ns(CLOCK_MONOTONIC);

    code_refresh(symbolizer->code, &ignored);
    if (code_epoch(symbolizer->code) != epoch)
        symbolizer->code_noticed = now;
    code_refresh_forget(symbolizer->code, now);
}

uint64_t symbolizer_code_noticed(const struct symbolizer *symbolizer)
{
    return symbolizer->code_noticed;
}

process_id symbolizer_process(struct symbolizer *symbolizer, uint64_t pid, uint64_t time)
{
    return process_cache_find(symbolizer->processes, pid, time);
}

static void forget_hooks(struct symbolizer *symbolizer)
{
    hooks_free(symbolizer->hooks);
    symbolizer->hooks = NULL;
}

void symbolizer_find_states(struct symbolizer *symbolizer)
{
    struct error ignored; /* without hooks, states stay unknown */

    if (symbolizer_hooks(symbolizer, &ignored))
        state_functions_find(symbolizer->state_functions, symbolizer->hooks);
    forget_hooks(symbolizer);
}

struct hooks *symbolizer_hooks(struct symbolizer *symbolizer, struct error *error)
{
    if (!symbolizer->hooks)
        symbolizer->hooks = hooks_new(symbolizer->vm, symbolizer->code, error);
    return symbolizer->hooks;
}

void symbolizer_look(struct symbolizer *symbolizer, bool has_rested)
{
    uint64_t now = clock_ns(CLOCK_MONOTONIC);

    if (!has_rested && now - symbolizer->drivers_found >= DRIVERS_NS) {
        symbolizer->drivers_found = now;
        state_functions_find_drivers(symbolizer->state_functions);
    }
}

void symbolizer_rest(struct symbolizer *symbolizer, bool is_idle)
{
    mappings_rest(symbolizer->vm->mappings, is_idle);
    forget_hooks(symbolizer);
}

void symbolizer_look_at_threads(struct symbolizer *symbolizer, bool has_rested)
{
    thread_watch_look(symbolizer->thread_watch, has_rested);
}

void symbolizer_threads(const struct symbolizer *symbolizer, struct thread_times *times)
{
    thread_watch_get(symbolizer->thread_watch, times);
}

void symbolizer_name_late(struct symbolizer *symbolizer, struct recording_writer *writer)
{
    unnamed_frames_name(symbolizer->unnamed, symbolizer->profile, writer);
}

static void count_frames(const struct named_stack *named, struct recording_totals *totals)
{
    totals->frames += named->count;
    totals->erlang_frames += named->erlang;
    totals->unknown_erlang_frames += named->unknown_erlang;
    totals->unknown_native_frames += named->unknown_native;
    totals->losses[LOSS_UNKNOWN_ERLANG] += named->unknown_erlang;
    totals->losses[LOSS_UNKNOWN_NATIVE] += named->unknown_native;
}

static stack_id add_stack(struct profile *profile, const struct named_stack *named)
{
    stack_id stack = 0;

    for (size_t i = named->count; i-- > 0;) {
        stack = profile_stack(profile, stack, named->frames[i]);
        for (const frame_id *inlined = named->chains + named->inlined[i]; *inlined; inlined++)
            stack = profile_stack(profile, stack, *inlined);
    }
    return stack;
}

static void count_sample(const struct snapshot *snapshot, const struct unwound *unwound,
                         const struct sample *sample, struct recording_totals *totals)
{
    bool erlang = sample->flags & SAMPLE_ERLANG;

    totals->losses[LOSS_KERNEL_ENTRY] += unwound->at_entry;
    totals->losses[LOSS_READ_FAULT] += !!(snapshot->sample->flags & WIRE_FAULT);
    if (unwound->at_entry)
        return;
    totals->erlang_samples += erlang;
    totals->complete_stacks += erlang && unwound->complete;
    totals->truncated_stacks += unwound->truncated;
    totals->losses[LOSS_STACK_INCOMPLETE] += erlang && !unwound->complete;
    totals->losses[LOSS_STACK_TRUNCATED] += unwound->truncated;
    totals->losses[LOSS_STACK_POINTER] += unwound->no_leaf;
    totals->losses[LOSS_NATIVE_UNWIND] += unwound->native_broken;
    totals->losses[LOSS_KERNEL_STACK] += !!(snapshot->sample->flags & WIRE_KERNEL_STACK_CUT);
}

static void set_process(struct symbolizer *symbolizer, const struct snapshot *snapshot,
                        const struct unwound *unwound, struct sample *sample)
{
    const struct layout *layout = &symbolizer->vm->layout;
    const uint8_t *process =
        snapshot_region(snapshot, REGION_PROCESS, (size_t)layout->sizeof_process);
    uint64_t address = snapshot->sample->process, time = snapshot->sample->time, id;
    uint32_t state;

    if (!process)
        return;
    memcpy(&id, process + layout->process_id, sizeof(id));
    memcpy(&state, process + layout->process_state, sizeof(state));
    sample->process = process_cache_get(symbolizer->processes, address, process, time);
    sample->status = (uint8_t)process_info_status(symbolizer->vm, state);
    sample->flags |= SAMPLE_ERLANG;
    process_metrics_read(symbolizer->vm, process, &unwound->registers, &sample->metrics);
    process_walks_add(symbolizer->walks, address, id, time, &sample->metrics);
}

/* The trace that the process works for. */
static void set_trace(struct profile *profile, const struct snapshot *snapshot,
                      struct sample *sample, struct recording_totals *totals)
{
    struct wire_trace trace;
    const uint8_t *bytes = snapshot_region(snapshot, REGION_TRACE, sizeof(trace));

    if (bytes) {
        memcpy(&trace, bytes, sizeof(trace));
        sample->trace_span = profile_trace_span(
            profile, &(struct trace_span){trace.trace_high, trace.trace_low, trace.span});
    }
    totals->losses[LOSS_TRACE] +=
        snapshot->sample->flags & WIRE_TRACE_UNKNOWN || (bytes && !sample->trace_span);
}

static enum process_status wait_of(const struct symbolizer *symbolizer, bool has_messages)
{
    const struct named_stack *named = symbolizer->named;

    return symbolizer->no_leaf ? STATUS_WAITING
                               : waiting_status(named->waiting, named->count, has_messages);
}

enum process_status symbolizer_wait(const struct symbolizer *symbolizer)
{
    return wait_of(symbolizer, false);
}

/* Tell idle processes from blocked ones. The metrics must be set. */
static void set_wait(const struct symbolizer *symbolizer, struct sample *sample)
{
    bool has_messages =
        metrics_know(&sample->metrics, METRIC_MSGQ) && sample->metrics.values[METRIC_MSGQ];

    if (sample->status == STATUS_WAITING)
        sample->status = (uint8_t)wait_of(symbolizer, has_messages);
}

static void set_activity(struct symbolizer *symbolizer, const struct snapshot *snapshot,
                         const struct unwound *unwound, const struct named_stack *named,
                         struct sample *sample)
{
    enum microstate state = microstate_of(&(struct thread_sample){
        .layout = &symbolizer->vm->layout,
        .functions = symbolizer->state_functions,
        .snapshot = snapshot,
        .unwound = unwound,
        .classes = named->classes,
    });
    char name[256];

    sample->microstate = (uint8_t)state;
    sample->activity = (uint8_t)activity_of(snapshot, state);
    if (sample->activity != ACTIVITY_PORT)
        return;
    activity_name_port(symbolizer->vm, snapshot, name, sizeof(name));
    sample->detail = text(symbolizer->profile, name);
}

void symbolizer_sample(struct symbolizer *symbolizer, struct snapshot *snapshot,
                       struct sample *sample, struct recording_totals *totals)
{
    const struct wire_sample *wire = snapshot->sample;
    const struct named_stack *named;
    struct unwound *unwound;

    snapshot_expand(snapshot, &symbolizer->process_words,
                    (size_t)symbolizer->vm->layout.sizeof_process, &symbolizer->scheduler_words);
    if (wire->code_generation != code_generation(symbolizer->code))
        symbolizer_refresh(symbolizer);
    unwound = unwind(symbolizer->unwinder, snapshot);
    dirty_loop_cut(symbolizer->dirty_loop, snapshot, unwound);
    table_frame_add(symbolizer->names, symbolizer->vm, snapshot, unwound);
    *sample = (struct sample){.time = wire->time, .cpu = (uint16_t)wire->cpu};
    sample->thread = wire->tid ? thread_cache_get(symbolizer->threads, wire) : 0;
    named = frame_names_find(symbolizer->names, unwound);
    count_frames(named, totals);
    unnamed_frames_note(symbolizer->unnamed, symbolizer->profile, named);
    symbolizer->named = named;
    symbolizer->no_leaf = unwound->no_leaf;
    sample->stack = add_stack(symbolizer->profile, named);
    set_process(symbolizer, snapshot, unwound, sample);
    set_trace(symbolizer->profile, snapshot, sample, totals);
    set_wait(symbolizer, sample);
    set_activity(symbolizer, snapshot, unwound, named, sample);
    if (unwound->complete)
        sample->flags |= SAMPLE_COMPLETE;
    if (unwound->truncated)
        sample->flags |= SAMPLE_TRUNCATED;
    if (unwound->no_leaf)
        sample->flags |= SAMPLE_NO_LEAF;
    count_sample(snapshot, unwound, sample, totals);
}

void symbolizer_set_traces(struct symbolizer *symbolizer, const struct wire_trace_atoms *atoms)
{
    symbolizer->traces = *atoms;
}

static void add_trace(struct symbolizer *symbolizer, const struct swept_process *swept)
{
    if (symbolizer->traces.context)
        swept_snapshot_add_trace(&symbolizer->swept, symbolizer->vm, &symbolizer->traces, swept);
}

void symbolizer_swept(struct symbolizer *symbolizer, const struct swept_process *swept,
                      uint64_t time, struct sample *sample, struct recording_totals *totals)
{
    swept_snapshot_make(&symbolizer->swept, symbolizer->vm, symbolizer->code, swept, time);
    add_trace(symbolizer, swept);
    symbolizer_sample(symbolizer, &symbolizer->swept.snapshot, sample, totals);
}

/* The lowest address at which the process' stack may begin, if a thread with these registers runs
 * it. In Erlang code the stack begins at the stack pointer, otherwise at Process.stop or a little
 * below it. Where the stacks are apart, the register of the top may have another value in C code,
 * so the lower one of the two counts. */
static uint64_t lowest_top(const struct vm *vm, const struct swept_process *swept,
                           const struct wire_registers *registers)
{
    uint64_t top = registers->value[vm->features.native_stack ? CPU_SP : vm->features.saved_top];
    uint64_t heap = layout_word(swept->bytes, vm->layout.process_heap);
    uint64_t stop = layout_word(swept->bytes, vm->layout.process_stop);
    uint64_t hend = layout_word(swept->bytes, vm->layout.process_hend);

    if (top > heap && top <= hend && (vm->features.native_stack || top < stop))
        return top;
    return stop > heap && stop - heap > WIRE_ERLANG_BELOW_BYTES ? stop - WIRE_ERLANG_BELOW_BYTES
                                                                : stop;
}

/* Make a snapshot of the process at `address`, which `thread` runs. */
static bool make_stopped(struct symbolizer *symbolizer, struct process_sweep *sweep,
                         uint64_t address, uint64_t id, const struct stopped_thread *thread)
{
    const struct vm *vm = symbolizer->vm;
    struct swept_process swept;
    enum swept found = process_sweep_again(sweep, address, id, &swept);
    uint64_t stop, top;

    if (found == SWEPT_GONE || (found == SWEPT_AT_REST && !vm->core))
        return false;
    stop = layout_word(swept.bytes, vm->layout.process_stop);
    top = thread->all_registers ? lowest_top(vm, &swept, &thread->registers) : stop;
    if ((!process_sweep_stack(sweep, &swept, top) && !process_sweep_stack(sweep, &swept, stop)) ||
        !swept_snapshot_stopped(&symbolizer->swept, vm, &swept, thread, clock_ns(CLOCK_MONOTONIC)))
        return false;
    add_trace(symbolizer, &swept);
    return true;
}

bool symbolizer_waiting(struct symbolizer *symbolizer, struct process_sweep *sweep,
                        uint64_t address, uint64_t id, struct sample *sample,
                        struct recording_totals *totals)
{
    struct stopped_thread thread = {0};

    if (!stopped_thread_waiting(symbolizer->vm, address, &thread) ||
        !make_stopped(symbolizer, sweep, address, id, &thread) ||
        !stopped_thread_still_waits(symbolizer->vm, address, &thread))
        return false;
    symbolizer_sample(symbolizer, &symbolizer->swept.snapshot, sample, totals);
    return true;
}

bool symbolizer_of_core(struct symbolizer *symbolizer, struct process_sweep *sweep,
                        uint64_t address, uint64_t id, struct sample *sample,
                        struct recording_totals *totals)
{
    struct stopped_thread thread = {0};

    if (!stopped_thread_of_core(symbolizer->vm, address, &thread) ||
        !make_stopped(symbolizer, sweep, address, id, &thread))
        return false;
    symbolizer_sample(symbolizer, &symbolizer->swept.snapshot, sample, totals);
    return true;
}
