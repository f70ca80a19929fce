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

enum { GROUP = 0 }; /* the budget's only group: all breakpoints */

/* The time between two looks at the VM's CPU time, ns. */
static const uint64_t INCOME_NS = 10000000;

/* The VM and its calls at one moment. */
struct call_moment {
    uint64_t time, work;
    uint64_t calls[WIRE_CALL_FUNCTIONS];
};

struct call_windows {
    struct vm *vm;
    struct call_counter *counter;
    struct budget *budget; /* NULL: no limit */
    struct call_moment began, opened, ended;
    enum vm_counter counter_of_work;
    bool is_open, is_scaled;
    uint64_t hits;   /* when last paid for */
    uint64_t earned; /* the time of the last income */
    uint64_t cpu;    /* of the VM, ns */
    uint64_t count;
    double covered_ns;
    struct estimate estimates[WIRE_CALL_FUNCTIONS];
};

/* Calls come with reductions more evenly than with time: hits slow the VM down. */
static struct call_moment look(const struct call_windows *windows, uint64_t now)
{
    struct call_moment moment = {.time = now};
    struct vm_work work;

    if (vm_work(windows->vm, windows->counter_of_work, &work))
        moment.work = work.count;
    call_counter_calls(windows->counter, moment.calls);
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

struct call_windows *call_windows_new(struct vm *vm, struct call_counter *counter, double budget,
                                      uint64_t now)
{
    struct call_windows *windows = xcalloc(1, sizeof(*windows));
    uint64_t until;

    windows->vm = vm;
    windows->counter = counter;
    windows->counter_of_work = vm_counts(vm, VM_EXECUTED) ? VM_EXECUTED : VM_REDUCTIONS;
    process_cpu_time(vm->pid, &windows->cpu);
    windows->began = look(windows, now);
    memset(windows->began.calls, 0, sizeof(windows->began.calls)); /* since breakpoints are set */
    windows->opened = windows->began;
    windows->hits = call_counter_hits(counter);
    windows->earned = now;
    windows->is_open = true;
    if (budget >= 1)
        return windows;
    windows->budget = budget_new(&(struct budget_options){
        .part = budget, .target_cpu = windows->cpu, .groups = 1, .seed = now, .now = now});
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

/* ---- steps ---- */

/* Return what hits have cost since the last call, ns. */
static double take_cost(struct call_windows *windows)
{
    uint64_t hits = call_counter_hits(windows->counter), before = windows->hits;

    windows->hits = hits;
    return (double)(hits - before) * call_counter_hit_ns(windows->counter);
}

static void open_window(struct call_windows *windows)
{
    uint64_t began = clock_ns(CLOCK_MONOTONIC), cpu = clock_ns(CLOCK_THREAD_CPUTIME_ID), now;

    call_counter_open(windows->counter, budget_window_scale(windows->budget, GROUP));
    now = clock_ns(CLOCK_MONOTONIC);
    windows->opened = look(windows, now);
    windows->is_open = true;
    budget_opened(windows->budget, GROUP, now, now - began,
                  (double)(clock_ns(CLOCK_THREAD_CPUTIME_ID) - cpu));
    log_detail("calls", "a window opens, each call stands for %.1f",
               budget_window_scale(windows->budget, GROUP));
}

/* The window that is closed at `end` stands for `represents` ns. */
static void add_window(struct call_windows *windows, const struct call_moment *end,
                       uint64_t represents)
{
    struct estimate_span seen = span_between(&windows->opened, end);

    windows->count++;
    windows->covered_ns += seen.ns;
    for (int i = 0; i < WIRE_CALL_FUNCTIONS; i++) {
        double calls = (double)(end->calls[i] - windows->opened.calls[i]);

        estimate_add(&windows->estimates[i], seen, (double)represents, calls, calls);
    }
}

static void close_window(struct call_windows *windows)
{
    uint64_t cpu = clock_ns(CLOCK_THREAD_CPUTIME_ID);
    /* The window ends while all threads still have their breakpoints. */
    struct call_moment end = look(windows, clock_ns(CLOCK_MONOTONIC));
    double cost;

    call_counter_close(windows->counter);
    windows->is_open = false;
    windows->is_scaled = true;
    cost = (double)(clock_ns(CLOCK_THREAD_CPUTIME_ID) - cpu);
    add_window(windows, &end, budget_closed(windows->budget, GROUP, end.time));
    budget_detached(windows->budget, GROUP, cost + take_cost(windows));
    log_detail("calls", "a window of %.3f ms closes",
               (double)(end.time - windows->opened.time) / 1e6);
}

uint64_t call_windows_step(struct call_windows *windows, uint64_t now)
{
    uint64_t until;

    if (!windows->budget)
        return UINT64_MAX;
    if (now - windows->earned >= INCOME_NS) {
        process_cpu_time(windows->vm->pid, &windows->cpu); /* stays if the VM has ended */
        budget_income(windows->budget, now, windows->cpu);
        windows->earned = now;
    }
    if (windows->is_open)
        budget_spend(windows->budget, GROUP, now, take_cost(windows));
    switch (budget_order(windows->budget, GROUP, now, &until)) {
    case BUDGET_OPEN:
        open_window(windows);
        break;
    case BUDGET_CLOSE:
        close_window(windows);
        break;
    case BUDGET_WAIT:
        break;
    }
    return until < now + INCOME_NS ? until : now + INCOME_NS;
}

void call_windows_end(struct call_windows *windows, uint64_t now)
{
    bool was_open = windows->is_open;

    if (!windows->is_scaled)
        call_counter_close(windows->counter); /* exact counts have each call until then */
    windows->ended = look(windows, now);
    call_counter_close(windows->counter);
    windows->is_open = false;
    if (!was_open)
        return;
    add_window(windows, &windows->ended,
               windows->budget ? budget_closed(windows->budget, GROUP, now)
                               : now - windows->opened.time);
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

double call_windows_covered(const struct call_windows *windows)
{
    double all = (double)(windows->ended.time - windows->began.time);

    return windows->is_scaled && all > 0 ? windows->covered_ns / all : 1;
}
