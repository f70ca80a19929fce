// SPDX-License-Identifier: Apache-2.0
#include "calls/call_watch.h"

#include <stdlib.h>
#include <time.h>

#include "os/process.h"
#include "util/alloc.h"
#include "util/clock.h"
#include "util/log.h"
#include "util/stop.h"

#define SECOND_NS ((uint64_t)1000000000)

enum {
    STEP_NS = 50000000,    /* between two looks at the VM's code */
    COST_NS = 250000000,   /* over which the cost is compared with the budget */
    NAMES_NS = 1000000000, /* between two looks at processes: some end soon */
};

/* The cost on a node that does nearly nothing is compared with this share of a CPU. */
static const double IDLE_SHARE = 0.1;

struct call_watch {
    struct vm *vm;
    struct code *code;
    struct atoms *atoms;
    struct call_functions functions;
    struct call_names *names;
    struct call_counter *counter;
    struct call_entry armed[WIRE_CALL_FUNCTIONS];
    size_t armed_count;
    uint32_t code_number; /* wire_call_key.code */
    uint64_t epoch;       /* of the code map when entries were armed */
    uint64_t began, ended;
    uint64_t looked;              /* at the VM's code, the last time */
    uint64_t cpu_began, cpu_last; /* CPU time of the VM, ns: at the start, when last read */
    struct call_facts facts;
};

struct call_watch *call_watch_new(struct vm *vm, const struct call_name *names, size_t count,
                                  struct error *error)
{
    struct call_watch *watch = xcalloc(1, sizeof(*watch));

    watch->vm = vm;
    watch->atoms = atoms_new(vm);
    watch->code = code_new(vm, error);
    if (watch->code &&
        call_functions_find(vm, watch->code, names, count, &watch->functions, error) == 0) {
        watch->names = call_names_new(vm, watch->code, watch->atoms, error);
        if (watch->names)
            return watch;
    }
    call_watch_free(watch);
    return NULL;
}

void call_watch_free(struct call_watch *watch)
{
    if (!watch)
        return;
    call_counter_free(watch->counter);
    call_names_free(watch->names);
    call_functions_free(&watch->functions);
    code_free(watch->code);
    atoms_free(watch->atoms);
    free(watch);
}

const struct call_functions *call_watch_functions(const struct call_watch *watch)
{
    return &watch->functions;
}

/* ---- entries ---- */

/* The entries to arm: all newest versions first, then older ones as far as breakpoints suffice. */
struct wanted_entries {
    struct call_entry of[WIRE_CALL_FUNCTIONS];
    size_t count;
    size_t newest;  /* the first so many are of newest versions */
    bool some_left; /* there are more */
};

static void want_entries(const struct call_watch *watch, struct wanted_entries *wanted)
{
    struct call_entry entries[WIRE_CALL_FUNCTIONS][CALL_VERSIONS];
    size_t counts[WIRE_CALL_FUNCTIONS];

    for (uint32_t i = 0; i < watch->functions.count; i++)
        counts[i] = call_functions_entries(&watch->functions, i, watch->vm, watch->code,
                                           watch->atoms, entries[i]);
    for (size_t version = 0; version < CALL_VERSIONS; version++) {
        for (size_t i = 0; i < watch->functions.count; i++) {
            if (version >= counts[i])
                continue;
            if (wanted->count < WIRE_CALL_FUNCTIONS)
                wanted->of[wanted->count++] = entries[i][version];
            else
                wanted->some_left = true;
        }
        if (version == 0)
            wanted->newest = wanted->count;
    }
}

static bool has_address(const struct call_entry *entries, size_t count, uint64_t address)
{
    for (size_t i = 0; i < count; i++)
        if (entries[i].address == address)
            return true;
    return false;
}

static void disarm_others(struct call_watch *watch, const struct wanted_entries *wanted)
{
    for (size_t i = watch->armed_count; i-- > 0;) {
        uint64_t address = watch->armed[i].address;

        if (has_address(wanted->of, wanted->count, address))
            continue;
        call_counter_disarm(watch->counter, address);
        watch->armed[i] = watch->armed[--watch->armed_count];
    }
}

/* Arm what the VM's code has now. Other programs may leave too few breakpoints for old versions. */
static int arm_entries(struct call_watch *watch, struct error *error)
{
    struct wanted_entries wanted = {0};

    want_entries(watch, &wanted);
    disarm_others(watch, &wanted);
    for (size_t i = 0; i < wanted.count; i++) {
        const struct call_entry *entry = &wanted.of[i];

        if (has_address(watch->armed, watch->armed_count, entry->address))
            continue;
        if (!call_counter_arm(watch->counter, entry->address, &entry->site, error))
            watch->armed[watch->armed_count++] = *entry;
        else if (i < wanted.newest || error->code != ERROR_UNSUPPORTED)
            return -1;
        else
            wanted.some_left = true;
    }
    watch->facts.old_code |= wanted.some_left;
    watch->epoch = code_epoch(watch->code);
    return 0;
}

int call_watch_start(struct call_watch *watch, struct error *error)
{
    watch->counter = call_counter_new(watch->vm, error);
    if (!watch->counter || arm_entries(watch, error))
        return -1;
    if (!watch->armed_count)
        return error_set(error, ERROR_UNSUPPORTED,
                         "the entry of %s can't be found: the VM has no name before it",
                         watch->functions.of[0].symbol);
    watch->began = watch->looked = clock_ns(CLOCK_MONOTONIC);
    process_cpu_time(watch->vm->pid, &watch->cpu_began);
    return 0;
}

/* ---- names ---- */

static void see_caller(void *context, const struct wire_call_key *key, uint64_t calls)
{
    (void)calls;
    call_names_see_caller(context, key);
}

static void see_process(void *context, const struct wire_call_key *key, uint64_t calls)
{
    (void)calls;
    call_names_see_process(context, key);
}

static void see_callers(const struct call_watch *watch)
{
    call_counter_each(watch->counter, CALL_MAP_CALLERS, see_caller, watch->names);
}

static void see_processes(const struct call_watch *watch)
{
    call_counter_each(watch->counter, CALL_MAP_PROCESSES, see_process, watch->names);
}

/* ---- running ---- */

/* The VM's code has changed since `looked`. Callers of before get the names of before. */
static int follow_change(struct call_watch *watch, uint64_t looked, struct error *error)
{
    double seconds;

    see_callers(watch);
    if (code_refresh(watch->code, error))
        return -1;
    if (code_epoch(watch->code) == watch->epoch)
        return 0;
    call_counter_set_code(watch->counter, ++watch->code_number);
    if (arm_entries(watch, error))
        return -1;
    watch->facts.reloads++;
    seconds = (double)(clock_ns(CLOCK_MONOTONIC) - looked) / SECOND_NS;
    if (seconds > watch->facts.blind_seconds)
        watch->facts.blind_seconds = seconds;
    return 0;
}

static int follow_code(struct call_watch *watch, uint64_t now, struct error *error)
{
    uint64_t first, looked = watch->looked;

    watch->looked = now;
    if (!memory_read_u64(watch->vm->memory, code_generation_address(watch->code), &first) ||
        first == code_generation(watch->code))
        return 0;
    return follow_change(watch, looked, error);
}

/* The CPU time of hits and of the VM up to a moment. */
struct cost_mark {
    uint64_t time, cpu, hits;
};

static struct cost_mark mark_cost(struct call_watch *watch)
{
    process_cpu_time(watch->vm->pid, &watch->cpu_last); /* stays if the VM has ended */
    return (struct cost_mark){.time = clock_ns(CLOCK_MONOTONIC),
                              .cpu = watch->cpu_last,
                              .hits = call_counter_hits(watch->counter)};
}

static double cost_between(const struct call_watch *watch, const struct cost_mark *from,
                           const struct cost_mark *to)
{
    double cost = (double)(to->hits - from->hits) * call_counter_hit_ns(watch->counter);
    double used = (double)(to->cpu - from->cpu);
    double idle = IDLE_SHARE * (double)(to->time - from->time);

    return cost / (used > idle ? used : idle);
}

static bool is_due(uint64_t now, uint64_t since, uint64_t interval)
{
    return now - since >= interval;
}

/* Return false when counting ends. */
static bool step(struct call_watch *watch, double budget, struct cost_mark *cost, uint64_t *named)
{
    uint64_t now = clock_ns(CLOCK_MONOTONIC);
    struct error *error = &watch->facts.error;

    if (!process_is(watch->vm->pid, &watch->vm->identity)) {
        watch->facts.end = CALL_END_VM;
        return false;
    }
    if (follow_code(watch, now, error) || call_counter_follow_threads(watch->counter, error)) {
        watch->facts.end = CALL_END_ERROR;
        return false;
    }
    if (is_due(now, *named, NAMES_NS)) {
        see_processes(watch);
        *named = now;
    }
    if (is_due(now, cost->time, COST_NS)) {
        struct cost_mark mark = mark_cost(watch);

        if (budget < 1 && cost_between(watch, cost, &mark) > budget) {
            watch->facts.end = CALL_END_BUDGET;
            return false;
        }
        *cost = mark;
    }
    return true;
}

static void finish(struct call_watch *watch, const struct cost_mark *from)
{
    struct cost_mark to;

    watch->ended = clock_ns(CLOCK_MONOTONIC);
    call_counter_stop(watch->counter);
    to = mark_cost(watch);
    see_callers(watch);
    see_processes(watch);
    watch->facts.seconds = (double)(watch->ended - watch->began) / SECOND_NS;
    watch->facts.hit_ns = call_counter_hit_ns(watch->counter);
    watch->facts.hits = to.hits;
    watch->facts.share = to.cpu > from->cpu ? cost_between(watch, from, &to) : 0;
    if (watch->facts.share > 1)
        watch->facts.share = 1;
    watch->facts.missing_threads = call_counter_missing_threads(watch->counter);
}

void call_watch_run(struct call_watch *watch, double seconds, double budget,
                    struct call_facts *facts)
{
    const struct timespec pause = {.tv_nsec = STEP_NS};
    uint64_t end = seconds > 0 ? watch->began + (uint64_t)(seconds * SECOND_NS) : UINT64_MAX;
    const struct cost_mark start = {.time = watch->began, .cpu = watch->cpu_began};
    struct cost_mark cost = start;
    uint64_t named = watch->began;

    while (!stop_requested && step(watch, budget, &cost, &named)) {
        uint64_t now = clock_ns(CLOCK_MONOTONIC);
        struct timespec rest = pause;

        if (now >= end)
            break;
        if (end - now < STEP_NS)
            rest.tv_nsec = (long)(end - now);
        nanosleep(&rest, NULL);
    }
    finish(watch, &start);
    *facts = watch->facts;
}

void call_watch_report(const struct call_watch *watch, struct call_report *report)
{
    call_report_make(&watch->functions, watch->counter, watch->names, report);
}
