// SPDX-License-Identifier: Apache-2.0
#include "calls/call_windows_internal.h"

#include <stdlib.h>
#include <string.h>

#include "os/process.h"
#include "util/alloc.h"
#include "util/clock.h"
#include "util/log.h"
#include "util/random.h"

/* The time between two looks at the VM's CPU time, ns. */
static const uint64_t INCOME_NS = 10000000;

/* The time of each group in turn while the budget pays for all hits, ns. */
static const uint64_t TURN_NS = 50000000;

/* The functions of a group. */
static const uint32_t *members_of(const struct call_windows *windows, uint32_t group,
                                  size_t *ret_count)
{
    size_t size = windows->options.group_size, first = group * size;
    size_t left = windows->listed_count - first;

    *ret_count = left < size ? left : size;
    return &windows->listed[first];
}

struct call_moment call_windows_look(const struct call_windows *windows, uint64_t now)
{
    struct call_moment moment = {.time = now};
    struct vm_work work;

    if (vm_work(windows->options.vm, windows->counter_of_work, &work))
        moment.work = work.count;
    return moment;
}

struct call_moment call_windows_look_at_group(struct call_windows *windows, uint64_t now)
{
    struct call_moment moment = call_windows_look(windows, now);
    size_t count;
    const uint32_t *members = members_of(windows, windows->group, &count);

    for (size_t i = 0; i < count; i++)
        windows->functions[members[i]].calls =
            call_counter_calls(windows->options.counter, members[i]);
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

void call_windows_list(struct call_windows *windows, const uint32_t *functions, size_t count)
{
    size_t size = windows->options.group_size;

    memcpy(windows->listed, functions, count * sizeof(*functions));
    windows->listed_count = count;
    windows->groups = (uint32_t)((count + size - 1) / size);
    windows->group = 0;
    shuffle(windows);
}

void call_windows_scale_all(struct call_windows *windows)
{
    windows->is_scaled = true;
    for (size_t i = 0; i < windows->listed_count; i++)
        windows->functions[windows->listed[i]].is_scaled = true;
}

void call_windows_begin_function(struct call_windows *windows, uint32_t function,
                                 struct call_moment now)
{
    windows->functions[function].began = windows->functions[function].opened = now;
}

struct call_windows *call_windows_new(const struct call_windows_options *options,
                                      uint32_t functions, uint64_t now)
{
    struct call_windows *windows = xcalloc(1, sizeof(*windows));
    uint32_t numbers[WIRE_CALL_FUNCTIONS] = {0};
    uint64_t until;

    windows->options = *options;
    for (uint32_t i = 0; i < functions; i++)
        numbers[i] = i;
    call_windows_list(windows, numbers, functions);
    if (windows->groups > 1)
        call_windows_scale_all(windows);
    windows->counter_of_work = vm_counts(options->vm, VM_EXECUTED) ? VM_EXECUTED : VM_REDUCTIONS;
    process_cpu_time(options->vm->pid, &windows->cpu);
    windows->began = windows->opened = call_windows_look(windows, now);
    for (uint32_t i = 0; i < functions; i++) /* since breakpoints are set, opened_calls is 0 */
        call_windows_begin_function(windows, i, windows->began);
    windows->cost = call_counter_cost_ns(options->counter);
    windows->earned = now;
    windows->is_open = true;
    if (options->budget >= 1)
        return windows;
    windows->budget = budget_new(&(struct budget_options){
        .part = options->budget, .target_cpu = windows->cpu, .groups = 1, .seed = now, .now = now});
    budget_order(windows->budget, CALL_WINDOWS_GROUP, now, &until);
    budget_opened(windows->budget, CALL_WINDOWS_GROUP, now, 0, 0);
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

int call_windows_arm(struct call_windows *windows, uint32_t group, struct error *error)
{
    size_t count;
    const uint32_t *members = members_of(windows, group, &count);

    windows->group = group;
    return windows->options.arm(windows->options.context, members, count, error);
}

/* Set the breakpoints of the next group. */
static int take_turn(struct call_windows *windows, struct error *error)
{
    if (windows->groups == 1)
        return 0;
    if (windows->at == windows->groups)
        shuffle(windows);
    return call_windows_arm(windows, windows->order[windows->at++], error);
}

int call_windows_open(struct call_windows *windows, double scale, struct error *error)
{
    const uint32_t *members;
    size_t count;

    if (take_turn(windows, error))
        return -1;
    call_counter_open(windows->options.counter, scale * windows->groups);
    windows->opened = call_windows_look_at_group(windows, clock_ns(CLOCK_MONOTONIC));
    windows->is_open = true;
    members = members_of(windows, windows->group, &count);
    for (size_t i = 0; i < count; i++) {
        struct windowed_function *function = &windows->functions[members[i]];

        function->opened = windows->opened;
        function->opened_calls = function->calls;
    }
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

void call_windows_end_window(const struct call_windows *windows, struct windowed_function *function,
                             const struct call_moment *end, double unseen)
{
    struct estimate_span seen = span_between(&function->opened, end);
    double calls = (double)(function->calls - function->opened_calls);

    estimate_add(&function->estimate, seen, (seen.ns + unseen) * windows->groups, calls, calls);
}

/* The window that has been looked at, at `end`, stands for itself and for `unseen` ns. */
static void add_window(struct call_windows *windows, const struct call_moment *end, double unseen)
{
    double seen = (double)(end->time - windows->opened.time);
    size_t count;
    const uint32_t *members = members_of(windows, windows->group, &count);

    windows->count++;
    windows->covered_ns += seen / windows->groups;
    if (windows->longest_ns < seen)
        windows->longest_ns = seen;
    for (size_t i = 0; i < count; i++)
        call_windows_end_window(windows, &windows->functions[members[i]], end, unseen);
    log_detail("calls", "a window of %.3f ms closes", seen / 1e6);
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
    if (call_windows_open(windows, budget_window_scale(windows->budget, CALL_WINDOWS_GROUP), error))
        return -1;
    budget_opened(windows->budget, CALL_WINDOWS_GROUP, windows->opened.time,
                  windows->opened.time - began,
                  cost + (double)(clock_ns(CLOCK_THREAD_CPUTIME_ID) - cpu));
    return 0;
}

/* Return the time besides the window that the window stands for, ns. While the counter stays open,
 * turns are windows of their own. */
static double close_budget(struct call_windows *windows, uint64_t now)
{
    bool is_continuous = budget_is_continuous(windows->budget, CALL_WINDOWS_GROUP);
    uint64_t represents = budget_closed(windows->budget, CALL_WINDOWS_GROUP, now);

    return is_continuous ? 0 : (double)represents - (double)(now - windows->opened.time);
}

void call_windows_close(struct call_windows *windows)
{
    uint64_t cpu = clock_ns(CLOCK_THREAD_CPUTIME_ID);
    /* The window ends while all threads still have their breakpoints. */
    struct call_moment end = call_windows_look_at_group(windows, clock_ns(CLOCK_MONOTONIC));
    double cost;

    close_counter(windows);
    call_windows_scale_all(windows);
    cost = (double)(clock_ns(CLOCK_THREAD_CPUTIME_ID) - cpu);
    add_window(windows, &end, close_budget(windows, end.time));
    if (windows->options.splits)
        cost += call_counter_stop_split(windows->options.counter);
    budget_detached(windows->budget, CALL_WINDOWS_GROUP, cost + take_cost(windows));
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
        budget_spend(windows->budget, CALL_WINDOWS_GROUP, now, take_cost(windows));
    switch (budget_order(windows->budget, CALL_WINDOWS_GROUP, now, until)) {
    case BUDGET_OPEN:
        return open_window(windows, error);
    case BUDGET_CLOSE:
        call_windows_close(windows);
        break;
    case BUDGET_WAIT:
        break;
    }
    if (*until > now + INCOME_NS)
        *until = now + INCOME_NS;
    return 0;
}

/* ---- without a need for it ---- */

void call_windows_end_turn(struct call_windows *windows)
{
    struct call_moment end = call_windows_look_at_group(windows, clock_ns(CLOCK_MONOTONIC));

    close_counter(windows);
    add_window(windows, &end, 0);
}

void call_windows_pay(struct call_windows *windows, uint64_t cpu)
{
    uint64_t now = clock_ns(CLOCK_MONOTONIC);

    if (windows->budget)
        budget_spend(windows->budget, CALL_WINDOWS_GROUP, now,
                     take_cost(windows) + (double)(clock_ns(CLOCK_THREAD_CPUTIME_ID) - cpu));
}

/* The counter stays open, and it is the next group's turn. */
static int change_group(struct call_windows *windows, struct error *error)
{
    uint64_t cpu = clock_ns(CLOCK_THREAD_CPUTIME_ID);

    call_windows_end_turn(windows);
    if (call_windows_open(windows, 1, error))
        return -1;
    call_windows_pay(windows, cpu);
    return 0;
}

bool call_windows_stay_open(const struct call_windows *windows)
{
    return windows->is_open &&
           (!windows->budget || budget_is_continuous(windows->budget, CALL_WINDOWS_GROUP));
}

int call_windows_step(struct call_windows *windows, uint64_t now, uint64_t *until,
                      struct error *error)
{
    uint64_t turn;

    *until = UINT64_MAX;
    if (windows->budget && step_of_budget(windows, now, until, error))
        return -1;
    if (windows->groups == 1 || !call_windows_stay_open(windows))
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

    windows->ended = call_windows_look_at_group(windows, now);
    close_counter(windows);
    for (size_t i = 0; i < windows->listed_count; i++)
        windows->functions[windows->listed[i]].ended = windows->ended;
    if (windows->options.splits)
        call_counter_stop_split(windows->options.counter);
    if (was_open)
        add_window(windows, &windows->ended, windows->budget ? close_budget(windows, now) : 0);
}

/* ---- results ---- */

bool call_windows_scale(const struct call_windows *windows)
{
    return windows->is_scaled;
}

struct call_estimate call_windows_estimate(const struct call_windows *windows, uint32_t number)
{
    const struct windowed_function *function = &windows->functions[number];
    struct estimate_span all = span_between(&function->began, &function->ended);

    if (!function->is_scaled)
        return (struct call_estimate){(double)call_counter_calls(windows->options.counter, number),
                                      0};
    return (struct call_estimate){estimate_total(&function->estimate, all),
                                  estimate_error(&function->estimate, all)};
}

struct call_span call_windows_span(const struct call_windows *windows, uint32_t number)
{
    const struct windowed_function *function = &windows->functions[number];

    if (!function->began.time)
        return (struct call_span){0};
    return (struct call_span){function->began.time - windows->began.time,
                              function->ended.time - windows->began.time};
}

uint64_t call_windows_count(const struct call_windows *windows)
{
    return windows->count;
}

double call_windows_covered_ns(const struct call_windows *windows)
{
    return windows->covered_ns;
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
