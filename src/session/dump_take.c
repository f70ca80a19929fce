// SPDX-License-Identifier: Apache-2.0
#include "session/dump_take.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "beam/allocators.h"
#include "beam/atom.h"
#include "beam/ets_tables.h"
#include "beam/process_sweep.h"
#include "capture/programs.h"
#include "capture/sampler.h"
#include "os/kernel_symbols.h"
#include "symbol/snapshot.h"
#include "symbol/symbolizer.h"
#include "util/alloc.h"
#include "util/clock.h"

enum {
    HZ = 997,           /* frequency of CPU samples */
    ROUND_NS = 2000000, /* between two reads of the running processes */
    PATIENCE = 20,      /* rounds until a process seems to wait in the kernel */
    ROUNDS = 100,       /* rounds until processes stay without a stack */
    GROWTH_SECONDS = 1, /* default time over which growth is measured */
};

/* A process that ran when it was read; address 0: it is in the dump, or has ended. */
struct running {
    uint64_t address, id;
};

struct dump_taker {
    struct vm *vm;
    const struct dump_request *request;
    struct profile *profile;
    struct dump *dump;
    struct symbolizer *symbolizer;
    struct kernel_symbols *kernel;
    struct sweep_room *room;
    struct process_sweep *sweep;
    struct process_top *top;
    struct programs *programs;
    struct sampler *sampler;
    struct trace_atoms traces;
    struct recording_totals totals;
    struct running *running;
    size_t running_count, running_room;
};

/* The `depth` frames next to the leaf; if there are more, the mark "..." is the root. */
static stack_id cut_stack(struct profile *profile, stack_id stack, uint32_t depth)
{
    frame_id frames[DUMP_DEPTH_MAX];
    uint32_t count = 0;
    stack_id at = stack, made = 0;

    for (; at && count < depth; at = profile_get_stack(profile, at)->parent)
        frames[count++] = profile_get_stack(profile, at)->frame;
    if (!at)
        return stack;
    made = profile_stack(profile, 0,
                         profile_frame(profile, &(struct frame){
                                                    .kind = FRAME_MARK,
                                                    .symbol = profile_string_z(profile, "..."),
                                                }));
    while (count)
        made = profile_stack(profile, made, frames[--count]);
    return made;
}

static void add_sample(struct dump_taker *taker, const struct sample *sample)
{
    uint32_t depth = taker->request->depth;
    const struct dump_process added = {
        .process = sample->process,
        .metrics = sample->metrics,
        .stack = depth ? cut_stack(taker->profile, sample->stack, depth) : sample->stack,
        .thread = sample->thread,
        .trace_span = sample->trace_span,
        .status = sample->status,
        .flags = sample->flags,
    };

    dump_add(taker->dump, &added);
}

static void add_running(struct dump_taker *taker, const struct swept_process *swept)
{
    taker->running =
        xgrow(taker->running, &taker->running_room, taker->running_count, sizeof(*taker->running));
    taker->running[taker->running_count++] =
        (struct running){swept->address, swept_process_id(taker->vm, swept)};
}

static void add_at_rest(struct dump_taker *taker, const struct swept_process *swept)
{
    struct sample sample;

    symbolizer_swept(taker->symbolizer, swept, clock_ns(CLOCK_MONOTONIC), &sample, &taker->totals);
    add_sample(taker, &sample);
}

/* In a core file, a process on a dirty scheduler counts as well: its stack continues in native
 * code. */
static bool is_running(const struct vm *vm, const struct swept_process *swept)
{
    return swept->is_running || (vm->core && swept_process_status(vm, swept) == STATUS_RUNNING);
}

static void visit(void *context, const struct swept_process *swept)
{
    struct dump_taker *taker = context;

    if (is_running(taker->vm, swept))
        add_running(taker, swept);
    else
        add_at_rest(taker, swept);
}

/* Have the traces of processes read, if the VM has OpenTelemetry. */
static void find_traces(struct dump_taker *taker)
{
    uint64_t seen;
    bool found;

    do {
        seen = taker->traces.seen;
        found = trace_atoms_look(taker->vm, &taker->traces);
    } while (!found && taker->traces.seen > seen);
    if (found)
        symbolizer_set_traces(taker->symbolizer, &taker->traces.wire);
    else
        taker->traces.wire = (struct wire_trace_atoms){0};
}

/* ---- running processes ---- */

/* Take a CPU sample. The first one of each running process gives its stack. */
static void take(void *context, const void *data, size_t size)
{
    struct dump_taker *taker = context;
    struct snapshot snapshot;
    struct sample sample;

    if (!snapshot_open(&snapshot, data, size))
        return;
    for (size_t i = 0; snapshot.sample->process && i < taker->running_count; i++) {
        if (taker->running[i].address != snapshot.sample->process)
            continue;
        taker->running[i].address = 0;
        symbolizer_sample(taker->symbolizer, &snapshot, &sample, &taker->totals);
        add_sample(taker, &sample);
    }
}

static bool any_running(const struct dump_taker *taker)
{
    for (size_t i = 0; i < taker->running_count; i++)
        if (taker->running[i].address)
            return true;
    return false;
}

static int start_sampling(struct dump_taker *taker, struct error *error)
{
    struct programs_options options = {.clock = sample_clock_default(), .frequency = HZ};

    taker->programs = programs_new(&options);
    if (programs_open(taker->programs, error))
        return -1;
    taker->sampler = sampler_new(taker->programs, "sample_cpu", sample_clock_default(), HZ);
    if (programs_load(taker->programs, error) ||
        programs_add_target(taker->programs, taker->vm,
                            symbolizer_code_generation_address(taker->symbolizer), 1, error) ||
        sampler_start(taker->sampler, error))
        return -1;
    if (taker->traces.wire.context)
        programs_set_traces(taker->programs, taker->vm, &taker->traces.wire);
    taker->kernel = kernel_symbols_new(&(struct error){0});
    symbolizer_set_kernel(taker->symbolizer, taker->kernel, false);
    return 0;
}

static bool take_waiting(struct dump_taker *taker, const struct running *running)
{
    struct sample sample;

    if (!symbolizer_waiting(taker->symbolizer, taker->sweep, running->address, running->id, &sample,
                            &taker->totals))
        return false;
    add_sample(taker, &sample);
    return true;
}

/* Read the running processes again: add those that are at rest now, and drop those that have ended.
 * Unless `patient`, also add those that wait in the kernel. */
static void look_again(struct dump_taker *taker, bool patient)
{
    for (size_t i = 0; i < taker->running_count; i++) {
        struct running *running = &taker->running[i];
        struct swept_process swept;

        if (!running->address)
            continue;
        switch (process_sweep_again(taker->sweep, running->address, running->id, &swept)) {
        case SWEPT_AT_REST:
            add_at_rest(taker, &swept);
            running->address = 0;
            break;
        case SWEPT_GONE:
            taker->dump->gone++;
            running->address = 0;
            break;
        case SWEPT_RUNNING:
            if (!patient && take_waiting(taker, running))
                running->address = 0;
            break;
        }
    }
}

/* Add the processes that did not stop running and were not sampled: their threads wait in the
 * kernel, or for a CPU. */
static void add_without_stack(struct dump_taker *taker)
{
    for (size_t i = 0; i < taker->running_count; i++) {
        struct running *running = &taker->running[i];
        process_id process = running->address ? symbolizer_process(taker->symbolizer, running->id,
                                                                   clock_ns(CLOCK_MONOTONIC))
                                              : 0;

        if (process)
            dump_add(taker->dump,
                     &(struct dump_process){.process = process, .status = STATUS_RUNNING});
    }
}

static void look_at_running(struct dump_taker *taker, struct error *sampling)
{
    const struct timespec pause = {.tv_nsec = ROUND_NS};
    bool samples = start_sampling(taker, sampling) == 0;

    for (int round = 0; round < ROUNDS && any_running(taker); round++) {
        struct error ignored; /* a round without samples */

        if (samples)
            programs_poll(taker->programs, 0, take, taker, &ignored);
        look_again(taker, samples && round < PATIENCE);
        nanosleep(&pause, NULL);
    }
    add_without_stack(taker);
}

/* ---- running processes of a core file ---- */

/* Note the crashed process. The first thread is the one that got the signal (fs/binfmt_elf.c,
 * fill_note_info). */
static void note_crashed(struct dump_taker *taker, const struct sample *sample)
{
    const struct core_thread *first = taker->vm->core->threads;

    if (first->signal && sample->thread &&
        profile_get_thread(taker->profile, sample->thread)->tid == first->tid)
        taker->dump->crashed_process = sample->process;
}

static void look_at_threads(struct dump_taker *taker)
{
    for (size_t i = 0; i < taker->running_count; i++) {
        struct running *running = &taker->running[i];
        struct swept_process swept;
        struct sample sample;

        if (symbolizer_of_core(taker->symbolizer, taker->sweep, running->address, running->id,
                               &sample, &taker->totals)) {
            add_sample(taker, &sample);
            note_crashed(taker, &sample);
        } else if (process_sweep_again(taker->sweep, running->address, running->id, &swept) ==
                   SWEPT_AT_REST) {
            add_at_rest(taker, &swept);
        } else {
            continue;
        }
        running->address = 0;
    }
    add_without_stack(taker);
}

/* ---- tables ---- */

struct table_taker {
    struct symbolizer *symbolizer;
    struct profile *profile;
    struct atoms *atoms;
    struct dump_tables *tables;
};

static string_id reference_of(struct profile *profile, const struct ets_table *table)
{
    char text[ETS_REFERENCE_BYTES];

    if (!table->has_reference)
        return 0;
    ets_tables_reference_text(table, text);
    return profile_string_z(profile, text);
}

static void take_table(void *context, const struct ets_table *table)
{
    const struct table_taker *taker = context;
    const char *name = atom_text(taker->atoms, table->name);
    struct dump_table taken = {.facts = table->facts};

    if (name)
        taken.name = profile_string_z(taker->profile, atom_shown(name));
    taken.reference = reference_of(taker->profile, table);
    taken.owner = symbolizer_process(taker->symbolizer, table->owner, clock_ns(CLOCK_MONOTONIC));
    dump_tables_add(taker->tables, &taken);
}

/* Fill *tables, which must be all zero, with the ETS tables of the VM, the largest first. Their
 * owners become entries of `profile`. */
static void take_tables(struct vm *vm, struct symbolizer *symbolizer, struct profile *profile,
                        struct dump_tables *tables)
{
    struct table_taker taker = {symbolizer, profile, atoms_new(vm), tables};
    struct ets_counts counts = {0};

    tables->is_known = ets_tables_each(vm, take_table, &taker, &counts);
    tables->deleted = counts.deleted;
    tables->lost = counts.lost;
    dump_tables_sort(tables);
    atoms_free(taker.atoms);
}

/* ---- the dump ---- */

/* Read the metric a first time, and wait: growth is the difference between two readings. */
static int let_grow(struct dump_taker *taker, struct error *error)
{
    double seconds = taker->request->top.seconds ? taker->request->top.seconds : GROWTH_SECONDS;
    struct timespec pause = {.tv_sec = (time_t)seconds};
    struct sweep_counts before = {0};

    pause.tv_nsec = (long)((seconds - (double)pause.tv_sec) * 1e9);
    if (process_top_find(taker->top, taker->vm, taker->sweep, &before, error))
        return -1;
    nanosleep(&pause, NULL);
    return 0;
}

static int find_top(struct dump_taker *taker, struct sweep_request *request, struct error *error)
{
    const struct top_option *option = &taker->request->top;
    struct sweep_counts counts = {0};
    int result;

    taker->top = process_top_new(option->count, option->metric, option->by_growth);
    if (option->by_growth && let_grow(taker, error))
        return -1;
    result = process_top_find(taker->top, taker->vm, taker->sweep, &counts, error);
    request->indices = process_top_indices(taker->top, &request->index_count);
    taker->dump->left_out = counts.processes - request->index_count;
    return result;
}

static int by_rank(const void *a, const void *b, void *dump)
{
    const struct dump_process *one = a, *other = b;
    int order = dump_compare_processes(dump, one, other);

    return order ? order : (one->process > other->process) - (one->process < other->process);
}

/* If processes were selected by a metric, set their growth, and sort them. */
static void rank_top(struct dump_taker *taker)
{
    struct dump *dump = taker->dump;

    dump->is_top = taker->request->top.count > 0;
    dump->has_growth = dump->is_top && taker->request->top.by_growth;
    dump->top = taker->request->top.metric;
    for (size_t i = 0; dump->has_growth && i < dump->count; i++) {
        struct dump_process *process = &dump->processes[i];

        process_top_value(taker->top,
                          profile_get_process(taker->profile, process->process)->identity,
                          &process->growth);
    }
    if (dump->is_top && dump->count)
        qsort_r(dump->processes, dump->count, sizeof(*dump->processes), by_rank, dump);
}

/* Now, or when the core file was written; ns since 1970. */
static uint64_t dump_time(const struct vm *vm)
{
    return vm->core ? vm->core->written : clock_ns(CLOCK_REALTIME);
}

static void begin_core(const struct core_file *core, struct dump *dump)
{
    dump->of_core = true;
    dump->signal = core->thread_count ? core->threads->signal : 0;
}

static int take_processes(struct dump_taker *taker, struct error *sampling, struct error *error)
{
    struct sweep_request request = {.with_stacks = true, .visit = visit, .context = taker};
    struct sweep_counts counts = {0};

    taker->room = sweep_room_new();
    taker->sweep = process_sweep_new(taker->vm, taker->room, error);
    if (!taker->sweep || (taker->request->top.count && find_top(taker, &request, error)))
        return -1;
    find_traces(taker);
    taker->dump->realtime = dump_time(taker->vm);
    if (process_sweep_run(taker->sweep, &request, &counts, error))
        return -1;
    taker->dump->gone += counts.gone;
    taker->dump->torn += counts.torn;
    if (taker->vm->core)
        look_at_threads(taker);
    else if (any_running(taker))
        look_at_running(taker, sampling);
    rank_top(taker);
    return 0;
}

static int run(struct dump_taker *taker, struct error *sampling, struct error *error)
{
    struct dump *dump = taker->dump;

    taker->symbolizer =
        symbolizer_new(taker->vm, &taker->request->name_keys, NULL, taker->profile, error);
    if (!taker->symbolizer)
        return -1;
    dump->realtime = dump_time(taker->vm);
    if (taker->vm->core)
        begin_core(taker->vm->core, dump);
    if (dump_has(dump, DUMP_PROCESSES) && take_processes(taker, sampling, error))
        return -1;
    if (dump_has(dump, DUMP_TABLES))
        take_tables(taker->vm, taker->symbolizer, taker->profile, &dump->tables);
    if (dump_has(dump, DUMP_MEMORY))
        node_memory_read(taker->vm, &dump->memory);
    if (dump_has(dump, DUMP_PORTS))
        take_ports(taker->vm, taker->symbolizer, taker->profile, &dump->ports);
    return 0;
}

int dump_take(struct vm *vm, const struct dump_request *request, struct profile *profile,
              struct dump *dump, struct error *sampling, struct error *error)
{
    struct dump_taker taker = {.vm = vm, .request = request, .profile = profile, .dump = dump};
    int result;

    *sampling = (struct error){0};
    dump->sections = request->sections;
    result = run(&taker, sampling, error);
    if (vm_check_held(vm, error))
        result = -1;
    dump->profile = profile;
    dump->target = 1;
    sampler_free(taker.sampler);
    programs_free(taker.programs);
    process_top_free(taker.top);
    process_sweep_free(taker.sweep);
    sweep_room_free(taker.room);
    symbolizer_free(taker.symbolizer);
    kernel_symbols_free(taker.kernel);
    free(taker.running);
    return result;
}
