// SPDX-License-Identifier: Apache-2.0
#include "session/node_meter.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "beam/allocators.h"
#include "beam/ets_tables.h"
#include "beam/ports.h"
#include "beam/process_sweep.h"
#include "os/process.h"
#include "profile/microstates.h"
#include "session/node_meter_internal.h"
#include "util/alloc.h"
#include "util/clock.h"
#include "util/log.h"

static const uint64_t SECOND = 1000000000;

/* How often something is read: less often, the more CPU time a reading takes. */
struct pace {
    uint64_t least;  /* ns between two readings */
    uint64_t factor; /* time between readings of all VMs, for each ns that they take */
    uint64_t due;
};

struct node_meter {
    struct vm *vm;
    struct event_meter *events;
    struct process_sweep *sweep; /* NULL: processes can't be read */
    struct pace quick, slow;
    uint64_t cpu_ns, shared_ns; /* CPU time of the VM: read, and divided among threads */
    double sampled[THREAD_KINDS][THREAD_STATES]; /* ns of samples that are not divided yet */
    bool samples_cpu;
    struct node_numbers numbers;
};

struct node_meter *node_meter_new(const struct target *target,
                                  const struct session_options *options)
{
    const struct target_plan *plan = &target->plan;
    struct vm *vm = target->vm;
    struct node_meter *meter = xcalloc(1, sizeof(*meter));
    struct node_numbers *numbers = &meter->numbers;
    struct error no_processes;

    meter->vm = vm;
    meter->events = event_meter_new(options);
    meter->sweep = process_sweep_new(vm, target->sweep_room, &no_processes);
    meter->quick = (struct pace){.least = SECOND, .factor = 2000};
    meter->slow = (struct pace){.least = 30 * SECOND, .factor = 1000};
    meter->samples_cpu = plan->cpu;
    process_cpu_time(vm->pid, &meter->cpu_ns);
    meter->shared_ns = meter->cpu_ns;
    for (int i = 0; i < NODE_NUMBERS; i++)
        numbers->of[i] = NAN;
    numbers->pauses.seconds = numbers->delays.seconds = NAN;
    numbers->of[NUMBER_CPU_FREQUENCY] = plan->cpu ? plan->frequency : 0;
    if (!plan->cpu)
        numbers->cpu_seconds[0][0] = NAN;
    return meter;
}

void node_meter_free(struct node_meter *meter)
{
    if (!meter)
        return;
    event_meter_free(meter->events);
    process_sweep_free(meter->sweep);
    free(meter);
}

const struct node_numbers *node_meter_numbers(const struct node_meter *meter)
{
    return &meter->numbers;
}

/* ---- CPU time ---- */

static enum thread_kind kind_of(const struct profile *profile, thread_id id)
{
    if (!id)
        return KIND_OTHER;
    switch (profile_get_thread(profile, id)->scheduler_kind) {
    case SCHEDULER_NORMAL:
        return KIND_NORMAL;
    case SCHEDULER_DIRTY_CPU:
        return KIND_DIRTY_CPU;
    case SCHEDULER_DIRTY_IO:
        return KIND_DIRTY_IO;
    default:
        return KIND_OTHER;
    }
}

static enum thread_state state_of(const struct sample *sample)
{
    if (microstate_is_gc((enum microstate)sample->microstate))
        return STATE_GC;
    return sample->microstate == MICROSTATE_BUSY_WAIT || sample->microstate == MICROSTATE_SLEEP
               ? STATE_WAIT
               : STATE_WORK;
}

void node_meter_cpu_sample(struct node_meter *meter, const struct profile *profile,
                           const struct sample *sample, uint64_t ns)
{
    meter->sampled[kind_of(profile, sample->thread)][state_of(sample)] += (double)ns;
}

/* Divide the CPU time since the last division among threads and states, in proportion to the times
 * of their samples. Without samples, a later call divides it. */
static void divide_cpu_time(struct node_meter *meter)
{
    double all = 0, since = (double)(meter->cpu_ns - meter->shared_ns) / 1e9;

    for (int kind = 0; kind < THREAD_KINDS; kind++)
        for (int state = 0; state < THREAD_STATES; state++)
            all += meter->sampled[kind][state];
    if (!meter->samples_cpu || all <= 0)
        return;
    for (int kind = 0; kind < THREAD_KINDS; kind++)
        for (int state = 0; state < THREAD_STATES; state++)
            meter->numbers.cpu_seconds[kind][state] += since * meter->sampled[kind][state] / all;
    memset(meter->sampled, 0, sizeof(meter->sampled));
    meter->shared_ns = meter->cpu_ns;
}

/* ---- quick ---- */

static void read_counters(struct node_meter *meter)
{
    double *of = meter->numbers.of;
    struct vm_work works[VM_COUNTERS];
    unsigned int known =
        vm_works(meter->vm, 1u << VM_EXECUTED | 1u << VM_SWITCHES | 1u << VM_COLLECTIONS, works);

    if (known >> VM_EXECUTED & 1)
        of[NUMBER_REDUCTIONS] = (double)works[VM_EXECUTED].count;
    if (known >> VM_SWITCHES & 1)
        of[NUMBER_SWITCHES] = (double)works[VM_SWITCHES].count;
    if (known >> VM_COLLECTIONS & 1) {
        of[NUMBER_COLLECTIONS] = (double)works[VM_COLLECTIONS].count;
        of[NUMBER_RECLAIMED] = (double)works[VM_COLLECTIONS].amount * sizeof(uint64_t);
    }
}

static void read_quick(struct node_meter *meter)
{
    double *of = meter->numbers.of;
    int64_t length = vm_run_queue_length(meter->vm);
    uint64_t ns;

    of[NUMBER_RUN_QUEUE] = length < 0 ? NAN : (double)length;
    of[NUMBER_PROCESSES] = vm_process_count(meter->vm);
    for (int type = 0; type < 3; type++)
        of[NUMBER_SCHEDULERS + type] = meter->vm->scheduler_counts[type];
    read_counters(meter);
    if (process_cpu_time(meter->vm->pid, &ns) && ns > meter->cpu_ns) {
        meter->cpu_ns = ns;
        divide_cpu_time(meter);
    }
    of[NUMBER_CPU_SECONDS] = (double)meter->cpu_ns / 1e9;
}

/* ---- slow ---- */

static void read_memory(struct node_meter *meter)
{
    struct node_numbers *numbers = &meter->numbers;
    struct memory_use use;
    const struct {
        enum node_number count, limit;
        const struct table_use *use;
    } tables[] = {
        {NUMBER_PROCESSES, NUMBER_PROCESS_LIMIT, &use.processes},
        {NUMBER_PORTS, NUMBER_PORT_LIMIT, &use.ports},
        {NUMBER_ATOMS, NUMBER_ATOM_LIMIT, &use.atoms},
    };

    node_memory_read(meter->vm, &use);
    numbers->of[NUMBER_RESIDENT] = use.resident ? (double)use.resident : NAN;
    for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++) {
        if (!tables[i].use->limit)
            continue;
        numbers->of[tables[i].count] = (double)tables[i].use->count;
        numbers->of[tables[i].limit] = (double)tables[i].use->limit;
    }
    for (size_t i = 0; i < use.allocators.count; i++) {
        struct number_allocator *allocator = &numbers->allocators[i];

        memcpy(allocator->name, use.allocators.of[i].name, sizeof(allocator->name));
        allocator->carriers = (double)dump_allocator_carriers(&use.allocators.of[i]);
        allocator->blocks = (double)use.allocators.of[i].blocks;
    }
    numbers->allocator_count = use.allocators.count;
}

struct table_sums {
    double count, bytes, objects;
    bool is_counted;
};

static void add_table(void *context, const struct ets_table *table)
{
    struct table_sums *sums = context;

    sums->count++;
    sums->bytes += (double)table->facts.bytes;
    sums->objects += (double)table->facts.objects;
    sums->is_counted &= table->facts.is_counted;
}

/* If the list of tables changes while it is read, the numbers stay as they are. */
static void read_tables(struct node_meter *meter)
{
    struct table_sums sums = {.is_counted = true};
    struct ets_counts counts = {0};
    double *of = meter->numbers.of;

    if (!ets_tables_each(meter->vm, add_table, &sums, &counts) || counts.lost)
        return;
    of[NUMBER_TABLES] = sums.count;
    if (!sums.is_counted)
        return;
    of[NUMBER_TABLE_BYTES] = sums.bytes;
    of[NUMBER_TABLE_OBJECTS] = sums.objects;
}

struct port_sums {
    double queued, busy, busy_distribution;
};

static bool add_port(void *context, const struct port_info *port)
{
    struct port_sums *sums = context;
    bool is_busy = port->tasks & (ERTS_PTS_FLG_BUSY_PORT | ERTS_PTS_FLG_BUSY_PORT_Q);

    sums->queued += (double)port->queue;
    sums->busy += is_busy;
    sums->busy_distribution += is_busy && port->state & ERTS_PORT_SFLG_DISTRIBUTION;
    return true;
}

static void read_ports(struct node_meter *meter)
{
    struct port_sums sums = {0};
    struct port_counts counts = {0};
    struct error unknown;
    double *of = meter->numbers.of;

    if (ports_each(meter->vm, add_port, &sums, &counts, &unknown) || counts.lost)
        return;
    of[NUMBER_PORT_QUEUES] = sums.queued;
    of[NUMBER_BUSY_PORTS] = sums.busy;
    of[NUMBER_BUSY_DISTRIBUTION_PORTS] = sums.busy_distribution;
}

/* Take the readings that change only while the VM runs. */
static void read_vm(const struct target *target, const struct segment *segment)
{
    struct node_meter *meter = target->meter;

    read_memory(meter);
    read_tables(meter);
    read_ports(meter);
    if (meter->sweep)
        queue_meter_read(meter->sweep, meter->vm, target->symbolizer, segment->profile,
                         clock_ns(CLOCK_MONOTONIC), &meter->numbers);
}

static void read_slow(struct target *target, const struct segment *segment)
{
    struct node_meter *meter = target->meter;

    if (!target_has_rested(target, READER_SLOW_METER) && target_is_readable(target))
        read_vm(target, segment);
    event_meter_read(meter->events, target->probes, false, &meter->numbers);
    meter->numbers.of[NUMBER_READ_AT] = (double)time(NULL);
}

/* ---- steps ---- */

void node_meter_end_segment(const struct target *target)
{
    if (target->meter)
        event_meter_read(target->meter->events, target->probes, true, &target->meter->numbers);
}

/* Set the time of the next reading after one that began at `now`, when this thread had used
 * `used` ns of CPU time. */
static void set_due(struct pace *pace, uint64_t now, uint64_t used, size_t targets)
{
    uint64_t took = clock_ns(CLOCK_THREAD_CPUTIME_ID) - used, wait = pace->factor * took * targets;

    pace->due = now + (wait > pace->least ? wait : pace->least);
}

/* Read what is due; the slow numbers only if `may_be_slow`. True if they were read. */
static bool step(struct target *target, const struct segment *segment, size_t targets,
                 bool may_be_slow)
{
    struct node_meter *meter = target->meter;
    uint64_t now = clock_ns(CLOCK_MONOTONIC), used = clock_ns(CLOCK_THREAD_CPUTIME_ID);

    if (!target_has_rested(target, READER_METER) && target_is_readable(target))
        read_quick(meter);
    set_due(&meter->quick, now, used, targets);
    if (now < meter->slow.due || !may_be_slow)
        return false;
    used = clock_ns(CLOCK_THREAD_CPUTIME_ID);
    read_slow(target, segment);
    if (!meter->slow.due)
        log_detail("node metrics", "all numbers of process %d are read in %.1f ms of CPU time",
                   (int)meter->vm->pid, (double)(clock_ns(CLOCK_THREAD_CPUTIME_ID) - used) / 1e6);
    set_due(&meter->slow, now, used, targets);
    return true;
}

void node_meters_step(const struct targets *targets, const struct segment *segment)
{
    /* One slow reading a step, because samples wait meanwhile. */
    bool was_slow = false;

    for (size_t i = 0; i < targets->count; i++) {
        struct target *target = targets->of[i];

        if (target->meter && !target->ended &&
            clock_ns(CLOCK_MONOTONIC) >= target->meter->quick.due)
            was_slow |= step(target, segment, targets->count, !was_slow);
    }
}
