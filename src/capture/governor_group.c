// SPDX-License-Identifier: Apache-2.0
#include <math.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "capture/governor_internal.h"
#include "util/alloc.h"
#include "util/clock.h"
#include "util/log.h"
#include "util/number.h"

/* The longest time in ns for reading counts and clock as one moment. */
static const uint64_t AT_ONCE = 50000;

/* The task of a thread that attaches or detaches. */
struct probe_task {
    struct probe_group *group;
    struct probe_links *links;
};

/* ---- windows ---- */

/* Read what has been counted and done until now. Windows are short, and this thread may be
 * suspended for as long between two of these reads. Then they are repeated. */
static struct moment look_at(const struct probe_group *group)
{
    const struct governor_callbacks *callbacks = &group->governor->options.callbacks;
    uint64_t shortest = UINT64_MAX;
    struct moment best = {0};

    for (int i = 0; i < 4 && shortest > AT_ONCE; i++) {
        struct moment now = {.time = clock_ns(CLOCK_MONOTONIC)};
        uint64_t took;

        now.counts = governor_group_counts(group);
        now.work = callbacks->work(callbacks->context, (int)group->number);
        took = clock_ns(CLOCK_MONOTONIC) - now.time;
        if (took < shortest) {
            shortest = took;
            best = now;
        }
    }
    return best;
}

/* Hand out what has been counted since the window began, or since the last call. Return it. */
static struct governor_window put_window(struct probe_group *group, const struct moment *end,
                                         uint64_t represents)
{
    const struct moment *first = &group->first;
    struct governor_window window = {
        .group = group->number,
        .start = first->time,
        .end = end->time,
        .represents = represents,
        .work = {end->work.count - first->work.count, end->work.amount - first->work.amount},
        .hits = end->counts.hits - first->counts.hits,
    };

    for (int i = 0; i < WIRE_VALUES; i++)
        window.values[i] = end->counts.values[i] - first->counts.values[i];
    group->covered += end->time - first->time;
    group->represented += represents;
    group->first = *end;
    buffer_put(&group->governor->windows, &window, sizeof(window));
    return window;
}

/* Call this with no probes that wait to be detached: a message can take a moment. */
static void say_window(const struct probe_group *group, const struct governor_window *window,
                       const char *state)
{
    const struct governor *governor = group->governor;

    log_detail("windows",
               "group %u of process %d %s: its window of %.3f ms stands for %.3f ms and has %llu "
               "hits and %llu of the VM's work; its windows cost %.3f ms so far",
               group->number, (int)governor->options.pid, state,
               (double)(window->end - window->start) / 1e6, (double)window->represents / 1e6,
               (unsigned long long)window->hits, (unsigned long long)window->work.count,
               budget_status(governor->budget, group->number).spent_ns / 1e6);
}

void governor_group_hand_out(struct probe_group *group)
{
    struct moment end = look_at(group);
    struct governor_window window = put_window(group, &end, end.time - group->first.time);

    say_window(group, &window, "stays open");
}

/* ---- opening and closing ---- */

static void set_open(struct probe_group *group, enum wire_open open)
{
    const struct governor_callbacks *callbacks = &group->governor->options.callbacks;

    group->open = open != WIRE_CLOSED;
    callbacks->open(callbacks->context, group->number, open);
}

/* Set the period of samples so that they stay within their part of the budget. The governor does
 * not sleep while the period changes: the next hits would have a period for an earlier rate. */
static void set_period(struct probe_group *group)
{
    const struct governor_options *options = &group->governor->options;
    double stacks = budget_stacks(group->governor->budget, group->number, &options->stacks);
    double period;

    period = stacks > 0 ? fmax(group->size_per_second / stacks, 1) : (double)GROUP_FIRST_PERIOD;
    if (fabs(period - (double)group->period) < 0.1 * (double)group->period)
        return;
    group->period = (uint64_t)period;
    group->governor->stirred = true;
    options->callbacks.period(options->callbacks.context, group->number, group->period);
}

static void opened(struct probe_group *group, struct probe_links *links, uint64_t took, double cost)
{
    struct governor *governor = group->governor;
    struct probe_counts counts = governor_group_counts(group);
    bool continuous;

    group->links = links;
    cost += governor_group_take_cost(group, &counts); /* of hits after the last window */
    budget_opened(governor->budget, group->number, clock_ns(CLOCK_MONOTONIC), took, cost);
    continuous = budget_is_continuous(governor->budget, group->number);
    /* The last window may have been much longer, with fewer stacks a second. */
    if (group->size_per_second > 0)
        set_period(group);
    set_open(group, continuous ? WIRE_OPEN : WIRE_OPEN_FOR_A_WINDOW);
    group->first = look_at(group);
    group->charged_time = group->first.time;
    group->charged_cpu = governor->target_cpu;
    group->ran = group->first.time;
    window_log_open(&group->log, group->first.time, continuous);
}

void governor_group_refuse(struct probe_group *group, const struct error *error)
{
    if (error->code != ERROR_NO_PROCESS)
        group->error = *error;
    budget_retire(group->governor->budget, group->number);
}

static void task_done(struct probe_group *group)
{
    group->tasks--;
    group->tried = true;
    pthread_cond_broadcast(&group->governor->changed);
}

/* To attach or detach probes, the kernel takes the lock of the memory map of each process that has
 * mapped the file. While it waits for one, no process of the host can fork
 * (register_for_each_vma() in kernel/events/uprobes.c v6.18). So this thread waits in its place. */

enum { HELD_PAUSE_US = 500, LONG_PAUSE_US = 10000, SHORT_LOOKS = 20 };

/* Return the process that holds its lock for longer than mapping memory takes, and so delays this
 * thread; 0: none. */
static pid_t held_by(const struct governor *governor, enum probe_change change)
{
    const struct governor_callbacks *callbacks = &governor->options.callbacks;
    pid_t first = 0, now = 0;

    for (int i = 0; i < SHORT_LOOKS; i++) {
        now = callbacks->held_by(callbacks->context, change);
        if (!now || (first && now != first))
            return 0;
        first = now;
        usleep(HELD_PAUSE_US);
    }
    return now;
}

/* The group has no window yet, and nobody needs to wait for one. */
static bool may_continue(struct probe_group *group)
{
    struct governor *governor = group->governor;
    bool result;

    pthread_mutex_lock(&governor->lock);
    result = !governor->stop;
    group->tried = true;
    pthread_cond_broadcast(&governor->changed);
    pthread_mutex_unlock(&governor->lock);
    return result;
}

/* Wait until attaching delays nobody. False if the governor ends before. */
static bool await_locks(struct probe_group *group)
{
    const struct governor_callbacks *callbacks = &group->governor->options.callbacks;
    int looks = 0;

    while (callbacks->held_by(callbacks->context, PROBE_ATTACH)) {
        if (++looks >= SHORT_LOOKS && !may_continue(group))
            return false;
        usleep(looks < SHORT_LOOKS ? HELD_PAUSE_US : LONG_PAUSE_US);
    }
    return true;
}

static void *attach_task(void *argument)
{
    struct probe_task *task = argument;
    struct probe_group *group = task->group;
    struct governor *governor = group->governor;
    struct error error = {.code = ERROR_NO_PROCESS};
    bool is_free = await_locks(group);
    uint64_t start = clock_ns(CLOCK_MONOTONIC), cpu = clock_ns(CLOCK_THREAD_CPUTIME_ID);
    struct probe_links *links = NULL;

    if (is_free)
        links = probe_link_attach(governor->calibration.way, governor->options.pid, group->sites,
                                  group->count, &error);
    pthread_mutex_lock(&governor->lock);
    if (links)
        opened(group, links, clock_ns(CLOCK_MONOTONIC) - start,
               (double)(clock_ns(CLOCK_THREAD_CPUTIME_ID) - cpu + probe_link_attach_ns(links)));
    else
        governor_group_refuse(group, &error);
    task_done(group);
    pthread_mutex_unlock(&governor->lock);
    free(task);
    return NULL;
}

static void *detach_task(void *argument)
{
    struct probe_task *task = argument;
    struct probe_group *group = task->group;
    struct governor *governor = group->governor;
    const struct governor_callbacks *callbacks = &governor->options.callbacks;
    uint64_t cpu = clock_ns(CLOCK_THREAD_CPUTIME_ID), apart;
    double cost;

    if (held_by(governor, PROBE_DETACH))
        callbacks->keep(callbacks->context, task->links);
    apart = probe_link_detach(task->links);

    pthread_mutex_lock(&governor->lock);
    cost = (double)(clock_ns(CLOCK_THREAD_CPUTIME_ID) - cpu + apart);
    if (!group->open) {
        struct probe_counts counts = governor_group_counts(group);

        cost += governor_group_take_cost(group, &counts);
    }
    budget_detached(governor->budget, group->number, cost);
    governor_group_observe(governor);
    task_done(group);
    pthread_mutex_unlock(&governor->lock);
    free(task);
    return NULL;
}

/* Start a task in a thread of its own. Attaching and detaching wait for the kernel, and other
 * groups need attention meanwhile. */
static void start_task(struct probe_group *group, void *(*run)(void *), struct probe_links *links)
{
    struct probe_task *task = xcalloc(1, sizeof(*task));
    pthread_attr_t attributes;
    pthread_t thread;
    int result;

    *task = (struct probe_task){group, links};
    group->tasks++;
    pthread_attr_init(&attributes);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    result = pthread_create(&thread, &attributes, run, task);
    pthread_attr_destroy(&attributes);
    if (result == 0)
        return;
    pthread_mutex_unlock(&group->governor->lock);
    run(task);
    pthread_mutex_lock(&group->governor->lock);
}

void governor_group_open(struct probe_group *group)
{
    governor_group_observe(group->governor);
    log_detail("windows", "group %u of process %d opens: its probes are being attached",
               group->number, (int)group->governor->options.pid);
    start_task(group, attach_task, NULL);
}

void governor_group_close(struct probe_group *group)
{
    struct governor *governor = group->governor;
    bool continuous = budget_is_continuous(governor->budget, group->number);
    struct probe_links *links = group->links;
    struct moment end = look_at(group);
    struct governor_window window;
    uint64_t represents;

    set_open(group, WIRE_CLOSED);
    governor_group_charge(group, end.time, &end.counts);
    represents = budget_closed(governor->budget, group->number, end.time);
    window_log_close(&group->log, end.time, represents);
    window = put_window(group, &end, continuous ? end.time - group->first.time : represents);
    group->links = NULL;
    start_task(group, detach_task, links);
    say_window(group, &window, "is closed");
}

/* How far back rates are averaged, in ns of open time. */
static const double RATE_MEMORY = 50e6;

/* After so many ns of open time without a run, 2 % of the averages are left: they count as 0. So
 * the period of samples settles, and the governor can sleep. A target that runs now and then is
 * forgotten sooner: an alarm reports its next hits. */
static const uint64_t RATE_FORGOTTEN = 200000000;

struct probe_counts governor_group_counts(const struct probe_group *group)
{
    const struct governor_callbacks *callbacks = &group->governor->options.callbacks;
    struct probe_counts counts;

    callbacks->counts(callbacks->context, group->number, &counts);
    return counts;
}

/* Update the average run time of the group's programs since the last call. Other groups can have a
 * part in it, which is assumed to be alike. */
static void update_program_ns(struct probe_group *group)
{
    struct run_time now = bpf_load_run_time(group->sites, group->count);

    if (now.runs > group->run_time.runs)
        group->program_ns =
            (double)(now.ns - group->run_time.ns) / (double)(now.runs - group->run_time.runs);
    group->run_time = now;
}

double governor_group_take_cost(struct probe_group *group, const struct probe_counts *counts)
{
    struct governor *governor = group->governor;
    uint64_t runs = counts->runs - group->charged.runs;
    double estimated;

    if (runs > 0 && governor->stats_fd >= 0)
        update_program_ns(group);
    group->charged = *counts;
    estimated = (double)runs * (group->trap_ns + group->program_ns);
    governor->cost += estimated;
    return estimated * cost_factor_get(&governor->cost_factor);
}

void governor_group_charge(struct probe_group *group, uint64_t now,
                           const struct probe_counts *counts)
{
    double time = (double)(now - group->charged_time);
    double runs = (double)(counts->runs - group->charged.runs);
    double size = (double)(counts->size - group->charged.size);
    uint64_t forgotten =
        group->governor->is_disturbed ? RATE_FORGOTTEN : RATE_FORGOTTEN / QUIET_PART;

    if (now <= group->charged_time)
        return;
    group->runs_per_second =
        moved_average(group->runs_per_second, runs / time * 1e9, time, RATE_MEMORY);
    group->size_per_second =
        moved_average(group->size_per_second, size / time * 1e9, time, RATE_MEMORY);
    if (runs > 0)
        group->ran = now;
    else if (now - group->ran >= forgotten)
        group->runs_per_second = group->size_per_second = 0;
    group->charged_time = now;
    group->charged_cpu = group->governor->target_cpu;
    budget_spend(group->governor->budget, group->number, now,
                 governor_group_take_cost(group, counts));
    set_period(group);
}

bool governor_group_read_target_cpu(struct governor *governor)
{
    struct timespec time;

    if (clock_gettime(governor->target_clock, &time) != 0)
        return false;
    governor->target_cpu = (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
    return true;
}

void governor_group_charge_all(struct governor *governor)
{
    for (unsigned i = 0; i < governor->group_count; i++) {
        struct probe_group *group = governor->groups[i];

        if (group->open) {
            struct probe_counts counts = governor_group_counts(group);

            governor_group_charge(group, clock_ns(CLOCK_MONOTONIC), &counts);
        }
    }
}

void governor_group_observe(struct governor *governor)
{
    const struct governor_callbacks *callbacks = &governor->options.callbacks;
    struct target_effort now, *last = &governor->observed;

    governor_group_charge_all(governor);
    if (!governor_group_read_target_cpu(governor))
        return;
    now = (struct target_effort){governor->target_cpu,
                                 callbacks->work(callbacks->context, WORK_OF_ALL).count,
                                 governor->cost};
    if (last->work && now.work > last->work)
        cost_factor_add(&governor->cost_factor, (double)(now.cpu - last->cpu),
                        (double)(now.work - last->work), now.cost - last->cost);
    *last = now;
}
