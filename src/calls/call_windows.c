// SPDX-License-Identifier: Apache-2.0
#include "calls/call_windows.h"

#include <stdlib.h>
#include <string.h>

#include "budget/budget.h"
#include "budget/windows.h"
#include "os/process.h"
#include "util/alloc.h"
#include "util/clock.h"
#include "util/log.h"
#include "util/random.h"

enum {
    GROUP = 0, /* the budget's only group: all breakpoints */
    GROUPS_MAX = WIRE_CALL_FUNCTIONS,
};

/* The time between two looks at the VM's CPU time, ns. */
static const uint64_t INCOME_NS = 10000000;

/* The time of each group in turn while the budget pays for all hits, ns. */
static const uint64_t TURN_NS = 50000000;

/* The VM and the calls of the current group at one moment. */
struct call_moment {
    uint64_t time, work;
    uint64_t calls[WIRE_CALL_AT_ONCE];
};

struct call_windows {
    struct call_windows_options options;
    struct budget *budget; /* NULL: no limit */
    enum vm_counter counter_of_work;
    struct call_moment began, opened, ended;
    bool is_open, is_scaled;
    double cost;     /* of hits, when last paid for, ns */
    uint64_t earned; /* the time of the last income */
    uint64_t cpu;    /* of the VM, ns */
    uint64_t count;
    double covered_ns, longest_ns;
    uint32_t group, groups;
    uint32_t order[GROUPS_MAX], at; /* the groups of this round, and the next one's place */
    struct estimate estimates[WIRE_CALL_FUNCTIONS];
};

/* The first function of the group. */
static uint32_t first_of(const struct call_windows *windows)
{
    return windows->group * windows->options.group_size;
}

/* Calls come with reductions more evenly than with time: hits slow the VM down. */
static struct call_moment look(const struct call_windows *windows, uint64_t now)
{
    struct call_moment moment = {.time = now};
    struct vm_work work;

    if (vm_work(windows->options.vm, windows->counter_of_work, &work))
        moment.work = work.count;
    call_counter_calls(windows->options.counter, first_of(windows), moment.calls);
    return moment;
}

static struct estimate_span span_between(const struct call_moment *from,
                                         const struct call_moment *to)
{
    return (struct estimate_span){
        .ns = (double)(to->time - from->time),
        .work = from->work && to->work > from->work ? (double)(to->work - from->work) : 0,
    };
}

/* Begin a round with the groups in random order. */
static void shuffle(struct call_windows *windows)
{
    for (uint32_t i = 0; i < windows->groups; i++) {
        uint32_t j = (uint32_t)(random_word() % (i + 1));

        windows->order[i] = windows->order[j];
        windows->order[j] = i;
    }
    windows->at = 0;
}

struct call_windows *call_windows_new(const struct call_windows_options *options, uint64_t now)
{
    struct call_windows *windows = xcalloc(1, sizeof(*windows));
    uint64_t until;

    windows->options = *options;
    windows->groups = (options->functions + options->group_size - 1) / options->group_size;
    windows->is_scaled = windows->groups > 1;
    windows->counter_of_work = vm_counts(options->vm, VM_EXECUTED) ? VM_EXECUTED : VM_REDUCTIONS;
    process_cpu_time(options->vm->pid, &windows->cpu);
    windows->began = look(windows, now);
    memset(windows->began.calls, 0, sizeof(windows->began.calls)); /* since breakpoints are set */
    windows->opened = windows->began;
    windows->cost = call_counter_cost_ns(options->counter);
    windows->earned = now;
    windows->is_open = true;
    shuffle(windows);
    if (options->budget >= 1)
        return windows;
    windows->budget = budget_new(&(struct budget_options){
        .part = options->budget, .target_cpu = windows->cpu, .groups = 1, .seed = now, .now = now});
    budget_order(windows->budget, GROUP, now, &until);
    budget_opened(windows->budget, GROUP, now, 0, 0);
    return windows;
}

void call_windows_free(struct call_windows *windows)
{
    if (!windows)
        return;
    budget_free(windows->budget);
    free(windows);
}

/* ---- windows ---- */

/* Return what hits have cost since the last call, ns. */
static double take_cost(struct call_windows *windows)
{
    double before = windows->cost;

    windows->cost = call_counter_cost_ns(windows->options.counter);
    return windows->cost - before;
}

/* Set the breakpoints of the next group. */
static int take_turn(struct call_windows *windows, struct error *error)
{
    if (windows->groups == 1)
        return 0;
    if (windows->at == windows->groups)
        shuffle(windows);
    windows->group = windows->order[windows->at++];
    return windows->options.arm(windows->options.context, windows->group, error);
}

/* Open the counter for the next group. Each call stands for `scale` calls of its group. */
static int open_counter(struct call_windows *windows, double scale, struct error *error)
{
    if (take_turn(windows, error))
        return -1;
    call_counter_open(windows->options.counter, scale * windows->groups);
    windows->opened = look(windows, clock_ns(CLOCK_MONOTONIC));
    windows->is_open = true;
    log_detail("calls", "a window of group %u opens, each call stands for %.1f", windows->group,
               scale * windows->groups);
    return 0;
}

static void close_counter(struct call_windows *windows)
{
    call_counter_close(windows->options.counter);
    windows->is_open = false;
    windows->options.closed(windows->options.context, clock_ns(CLOCK_MONOTONIC));
}

/* The window that is closed at `end` stands for `represents` ns. */
static void add_window(struct call_windows *windows, const struct call_moment *end,
                       double represents)
{
    struct estimate_span seen = span_between(&windows->opened, end);
    struct estimate *estimates = &windows->estimates[first_of(windows)];

    windows->count++;
    windows->covered_ns += seen.ns / windows->groups;
    if (windows->longest_ns < seen.ns)
        windows->longest_ns = seen.ns;
    for (uint32_t i = 0; i < windows->options.group_size; i++) {
        double calls = (double)(end->calls[i] - windows->opened.calls[i]);

        estimate_add(&estimates[i], seen, represents * windows->groups, calls, calls);
    }
    log_detail("calls", "a window of %.3f ms closes", seen.ns / 1e6);
}

/* ---- with the budget ---- */

/* Attach the probes that split times. Return the CPU time that it takes, ns. */
static double start_split(const struct call_windows *windows)
{
    struct error why;
    double cost;

    if (!windows->options.splits)
        return 0;
    cost = call_counter_start_split(windows->options.counter, &why);
    if (cost < 0)
        log_decision("calls", "times are not split in this window: %s", why.text);
    return cost < 0 ? 0 : cost;
}

static int open_window(struct call_windows *windows, struct error *error)
{
    uint64_t began = clock_ns(CLOCK_MONOTONIC), cpu;
    double cost = start_split(windows);

    cpu = clock_ns(CLOCK_THREAD_CPUTIME_ID);
    if (open_counter(windows, budget_window_scale(windows->budget, GROUP), error))
        return -1;
    budget_opened(windows->budget, GROUP, windows->opened.time, windows->opened.time - began,
                  cost + (double)(clock_ns(CLOCK_THREAD_CPUTIME_ID) - cpu));
    return 0;
}

/* While the counter stays open, turns are windows of their own. */
static double close_budget(struct call_windows *windows, uint64_t now)
{
    bool is_continuous = budget_is_continuous(windows->budget, GROUP);
    uint64_t represents = budget_closed(windows->budget, GROUP, now);

    return (double)(is_continuous ? now - windows->opened.time : represents);
}

static void close_window(struct call_windows *windows)
{
    uint64_t cpu = clock_ns(CLOCK_THREAD_CPUTIME_ID);
    /* The window ends while all threads still have their breakpoints. */
    struct call_moment end = look(windows, clock_ns(CLOCK_MONOTONIC));
    double cost;

    close_counter(windows);
    windows->is_scaled = true;
    cost = (double)(clock_ns(CLOCK_THREAD_CPUTIME_ID) - cpu);
    add_window(windows, &end, close_budget(windows, end.time));
    if (windows->options.splits)
        cost += call_counter_stop_split(windows->options.counter);
    budget_detached(windows->budget, GROUP, cost + take_cost(windows));
}

static int step_of_budget(struct call_windows *windows, uint64_t now, uint64_t *until,
                          struct error *error)
{
    if (now - windows->earned >= INCOME_NS) {
        /* The time stays if the VM has ended. */
        process_cpu_time(windows->options.vm->pid, &windows->cpu);
        budget_income(windows->budget, now, windows->cpu);
        windows->earned = now;
    }
    if (windows->is_open)
        budget_spend(windows->budget, GROUP, now, take_cost(windows));
    switch (budget_order(windows->budget, GROUP, now, until)) {
    case BUDGET_OPEN:
        return open_window(windows, error);
    case BUDGET_CLOSE:
        close_window(windows);
        break;
    case BUDGET_WAIT:
        break;
    }
    if (*until > now + INCOME_NS)
        *until = now + INCOME_NS;
    return 0;
}

/* ---- without a need for it ---- */

/* The counter stays open, and it is the next group's turn. */
static int change_group(struct call_windows *windows, struct error *error)
{
    uint64_t cpu = clock_ns(CLOCK_THREAD_CPUTIME_ID), now;
    struct call_moment end = look(windows, clock_ns(CLOCK_MONOTONIC));

    close_counter(windows);
    add_window(windows, &end, (double)(end.time - windows->opened.time));
    if (open_counter(windows, 1, error))
        return -1;
    now = clock_ns(CLOCK_MONOTONIC);
    if (windows->budget)
        budget_spend(windows->budget, GROUP, now,
                     take_cost(windows) + (double)(clock_ns(CLOCK_THREAD_CPUTIME_ID) - cpu));
    return 0;
}

static bool stays_open(const struct call_windows *windows)
{
    return windows->is_open && (!windows->budget || budget_is_continuous(windows->budget, GROUP));
}

int call_windows_step(struct call_windows *windows, uint64_t now, uint64_t *until,
                      struct error *error)
{
    uint64_t turn;

    *until = UINT64_MAX;
    if (windows->budget && step_of_budget(windows, now, until, error))
        return -1;
    if (windows->groups == 1 || !stays_open(windows))
        return 0;
    turn = windows->opened.time + TURN_NS;
    if (now >= turn) {
        if (change_group(windows, error))
            return -1;
        turn = windows->opened.time + TURN_NS;
    }
    if (*until > turn)
        *until = turn;
    return 0;
}

void call_windows_end(struct call_windows *windows, uint64_t now)
{
    bool was_open = windows->is_open;
    double represents;

    if (!windows->is_scaled)
        call_counter_close(windows->options.counter); /* exact counts have each call until then */
    windows->ended = look(windows, now);
    close_counter(windows);
    if (windows->options.splits)
        call_counter_stop_split(windows->options.counter);
    if (!was_open)
        return;
    represents =
        windows->budget ? close_budget(windows, now) : (double)(now - windows->opened.time);
    add_window(windows, &windows->ended, represents);
}

/* ---- results ---- */

bool call_windows_scale(const struct call_windows *windows)
{
    return windows->is_scaled;
}

struct call_estimate call_windows_estimate(const struct call_windows *windows, uint32_t function)
{
    const struct estimate *estimate = &windows->estimates[function];
    struct estimate_span all = span_between(&windows->began, &windows->ended);

    if (!windows->is_scaled)
        return (struct call_estimate){(double)windows->ended.calls[function], 0};
    return (struct call_estimate){estimate_total(estimate, all), estimate_error(estimate, all)};
}

uint64_t call_windows_count(const struct call_windows *windows)
{
    return windows->count;
}

double call_windows_longest(const struct call_windows *windows)
{
    return windows->is_scaled ? windows->longest_ns : 0;
}

double call_windows_covered(const struct call_windows *windows)
{
    double all = (double)(windows->ended.time - windows->began.time);

    return windows->is_scaled && all > 0 ? windows->covered_ns / all : 1;
}
