// SPDX-License-Identifier: Apache-2.0
#include "capture/governor.h"

#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "capture/budget.h"
#include "capture/cost_factor.h"
#include "capture/return_probes.h"
#include "capture/run_time.h"
#include "os/process.h"
#include "util/alloc.h"
#include "util/average.h"
#include "util/buffer.h"
#include "util/clock.h"

static const uint64_t SECOND = 1000000000;
static const uint64_t INCOME_TICK = 100000000; /* while all is closed */

/* Wakes for other groups that come sooner than this are no time to look at an open one. */
static const uint64_t CHARGE_TICK = 1500000;

/* How far back rates are averaged, of open time. */
static const double RATE_MEMORY = 50e6;

/* Run time of a program where the kernel does not say. */
static const double PROGRAM_NS = 1000;

/* No stacks but of the largest, until it is known how many hits there are. */
static const uint64_t FIRST_PERIOD = 1 << 20;

/* Of counts and the clock read together, with nothing between that took time. */
static const uint64_t AT_ONCE = 50000;

/* A close can take a second on a busy machine, so a group may be open again meanwhile. */
enum { TASKS_MAX = 4 };

struct moment {
    uint64_t time, work;
    struct probe_counts counts;
};

struct group {
    struct governor *governor;
    unsigned number;
    struct probe_site *sites;
    int count;
    double trap_ns;
    bool tried; /* to attach */
    struct error error;
    int tasks; /* threads that attach or detach */
    struct probe_links *links;
    /* while open */
    bool open;
    struct moment first; /* of the part of the window that is not handed out yet */
    /* what it costs */
    struct probe_counts charged; /* until here */
    uint64_t charged_time;
    struct run_time run_time;
    double program_ns;
    double runs_per_second, size_per_second; /* while open */
    uint64_t period;
    /* what came of it */
    struct window_log log;
    uint64_t covered, represented;
};

/* Of the target, and of probes in it. */
struct effort {
    uint64_t cpu, work;
    double cost; /* of hits, as they are reckoned */
};

/* What a thread that attaches or detaches works on. */
struct task {
    struct group *group;
    struct probe_links *links;
};

struct governor {
    struct governor_options options;
    struct calibration calibration;
    pthread_mutex_t lock; /* of all below */
    pthread_cond_t changed;
    pthread_t thread;
    bool started, stop;
    uint64_t start_time, stop_time;
    int stats_fd;
    clockid_t target_clock;
    uint64_t target_cpu_start, target_cpu; /* until now; until it ended, if it has */
    struct budget *budget;
    double cost;            /* of all hits, as it is reckoned */
    struct effort observed; /* when observe() was last called */
    struct cost_factor cost_factor;
    struct group **groups;
    unsigned group_count;
    struct buffer windows; /* struct governor_window, closed */
    size_t windows_taken;  /* bytes */
};

/* ---- set up ---- */

struct governor *governor_new(const struct governor_options *options)
{
    struct governor *governor = xcalloc(1, sizeof(*governor));
    pthread_condattr_t attributes;

    governor->options = *options;
    governor->calibration = *options->calibration;
    governor->stats_fd = -1;
    pthread_mutex_init(&governor->lock, NULL);
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&governor->changed, &attributes);
    pthread_condattr_destroy(&attributes);
    return governor;
}

void governor_free(struct governor *governor)
{
    if (!governor)
        return;
    governor_stop(governor);
    for (unsigned i = 0; i < governor->group_count; i++) {
        free(governor->groups[i]->sites);
        free(governor->groups[i]);
    }
    free(governor->groups);
    buffer_free(&governor->windows);
    budget_free(governor->budget);
    pthread_cond_destroy(&governor->changed);
    pthread_mutex_destroy(&governor->lock);
    free(governor);
}

unsigned governor_add(struct governor *governor, const struct probe_site *sites, int count)
{
    struct group *group = xcalloc(1, sizeof(*group));

    group->governor = governor;
    group->number = governor->group_count;
    group->sites = xreallocarray(NULL, (size_t)count, sizeof(*sites));
    memcpy(group->sites, sites, (size_t)count * sizeof(*sites));
    group->count = count;
    group->trap_ns = calibration_hit_ns(&governor->calibration, sites, count);
    group->program_ns = PROGRAM_NS;
    governor->groups =
        xreallocarray(governor->groups, governor->group_count + 1, sizeof(struct group *));
    governor->groups[governor->group_count++] = group;
    return group->number;
}

/* ---- costs ---- */

static struct probe_counts counts_of(const struct group *group)
{
    const struct governor_callbacks *callbacks = &group->governor->options.callbacks;
    struct probe_counts counts;

    callbacks->counts(callbacks->context, group->number, &counts);
    return counts;
}

/* Run time of the group's programs since this was last called; other groups can have a part in it,
 * which is taken to be alike. */
static void update_program_ns(struct group *group)
{
    struct run_time now = run_time_of(group->sites, group->count);

    if (now.runs > group->run_time.runs)
        group->program_ns =
            (double)(now.ns - group->run_time.ns) / (double)(now.runs - group->run_time.runs);
    group->run_time = now;
}

/* What hits cost since this was last called, in ns. */
static double take_cost(struct group *group, const struct probe_counts *counts)
{
    struct governor *governor = group->governor;
    uint64_t runs = counts->runs - group->charged.runs;
    double reckoned;

    if (runs > 0 && governor->stats_fd >= 0)
        update_program_ns(group);
    group->charged = *counts;
    reckoned = (double)runs * (group->trap_ns + group->program_ns);
    governor->cost += reckoned;
    return reckoned * cost_factor_get(&governor->cost_factor);
}

/* Take stacks at a period that keeps them within their part. */
static void set_period(struct group *group)
{
    const struct governor_options *options = &group->governor->options;
    double stacks = budget_stacks(group->governor->budget, group->number, options->stack_ns);
    double period;

    stacks = fmin(stacks, options->stacks_per_second);
    period = stacks > 0 ? fmax(group->size_per_second / stacks, 1) : (double)FIRST_PERIOD;
    if (fabs(period - (double)group->period) < 0.1 * (double)group->period)
        return;
    group->period = (uint64_t)period;
    options->callbacks.period(options->callbacks.context, group->number, group->period);
}

/* Say what an open group cost. */
static void charge(struct group *group, uint64_t now, const struct probe_counts *counts)
{
    double time = (double)(now - group->charged_time);
    double runs = (double)(counts->runs - group->charged.runs);
    double size = (double)(counts->size - group->charged.size);

    if (now <= group->charged_time)
        return;
    group->runs_per_second =
        moved_average(group->runs_per_second, runs / time * 1e9, time, RATE_MEMORY);
    group->size_per_second =
        moved_average(group->size_per_second, size / time * 1e9, time, RATE_MEMORY);
    group->charged_time = now;
    budget_spend(group->governor->budget, group->number, now, take_cost(group, counts));
    set_period(group);
}

static bool read_target_cpu(struct governor *governor)
{
    struct timespec time;

    if (clock_gettime(governor->target_clock, &time) != 0)
        return false;
    governor->target_cpu = (uint64_t)time.tv_sec * SECOND + (uint64_t)time.tv_nsec;
    return true;
}

/* What the target did since this was last called, against what its hits cost. Called before probes
 * are attached and after they are detached, so that what these two cost the target is in intervals
 * that have hits. */
static void observe(struct governor *governor)
{
    const struct governor_callbacks *callbacks = &governor->options.callbacks;
    struct effort now, *last = &governor->observed;

    for (unsigned i = 0; i < governor->group_count; i++) {
        struct group *group = governor->groups[i];

        if (group->open) {
            struct probe_counts counts = counts_of(group);

            charge(group, clock_ns(CLOCK_MONOTONIC), &counts);
        }
    }
    if (!read_target_cpu(governor))
        return;
    now =
        (struct effort){governor->target_cpu, callbacks->work(callbacks->context), governor->cost};
    if (last->work && now.work > last->work)
        cost_factor_add(&governor->cost_factor, (double)(now.cpu - last->cpu),
                        (double)(now.work - last->work), now.cost - last->cost);
    *last = now;
}

/* ---- windows ---- */

/* What was counted and done until now. A window is short, and this thread may be put off for as
 * long between one reading and the next: then they are read anew. */
static struct moment look_at(const struct group *group)
{
    const struct governor_callbacks *callbacks = &group->governor->options.callbacks;
    uint64_t shortest = UINT64_MAX;
    struct moment best = {0};

    for (int i = 0; i < 4 && shortest > AT_ONCE; i++) {
        struct moment now = {.time = clock_ns(CLOCK_MONOTONIC)};
        uint64_t took;

        now.counts = counts_of(group);
        now.work = callbacks->work(callbacks->context);
        took = clock_ns(CLOCK_MONOTONIC) - now.time;
        if (took < shortest) {
            shortest = took;
            best = now;
        }
    }
    return best;
}

/* Hand out what was counted since the window began, or since this was last called. */
static void hand_out(struct group *group, const struct moment *end, uint64_t represents)
{
    const struct moment *first = &group->first;
    struct governor_window window = {
        .group = group->number,
        .start = first->time,
        .end = end->time,
        .represents = represents,
        .work = end->work - first->work,
        .hits = end->counts.hits - first->counts.hits,
    };

    for (int i = 0; i < WIRE_VALUES; i++)
        window.values[i] = end->counts.values[i] - first->counts.values[i];
    group->covered += end->time - first->time;
    group->represented += represents;
    group->first = *end;
    buffer_put(&group->governor->windows, &window, sizeof(window));
}

/* The same of a group that stays open. */
static void hand_out_continuous(struct group *group)
{
    struct moment end = look_at(group);

    hand_out(group, &end, end.time - group->first.time);
}

/* ---- opening and closing ---- */

static void set_open(struct group *group, enum wire_open open)
{
    const struct governor_callbacks *callbacks = &group->governor->options.callbacks;

    group->open = open != WIRE_CLOSED;
    callbacks->open(callbacks->context, group->number, open);
}

static void opened(struct group *group, struct probe_links *links, uint64_t took, double cost)
{
    struct governor *governor = group->governor;
    struct probe_counts counts = counts_of(group);
    bool continuous;

    group->links = links;
    cost += take_cost(group, &counts); /* of hits after the last window */
    budget_opened(governor->budget, group->number, clock_ns(CLOCK_MONOTONIC), took, cost);
    continuous = budget_is_continuous(governor->budget, group->number);
    set_open(group, continuous ? WIRE_OPEN : WIRE_OPEN_FOR_A_WINDOW);
    group->first = look_at(group);
    group->charged_time = group->first.time;
    window_log_open(&group->log, group->first.time, continuous);
}

static void refused(struct group *group, const struct error *error)
{
    if (error->code != ERROR_NO_PROCESS)
        group->error = *error;
    budget_retire(group->governor->budget, group->number);
}

static void task_done(struct group *group)
{
    group->tasks--;
    group->tried = true;
    pthread_cond_broadcast(&group->governor->changed);
}

static void *attach_task(void *argument)
{
    struct task *task = argument;
    struct group *group = task->group;
    struct governor *governor = group->governor;
    uint64_t start = clock_ns(CLOCK_MONOTONIC), cpu = clock_ns(CLOCK_THREAD_CPUTIME_ID);
    struct error error = {0};
    struct probe_links *links = probe_attach(governor->calibration.way, governor->options.pid,
                                             group->sites, group->count, &error);

    pthread_mutex_lock(&governor->lock);
    if (links)
        opened(group, links, clock_ns(CLOCK_MONOTONIC) - start,
               (double)(clock_ns(CLOCK_THREAD_CPUTIME_ID) - cpu));
    else
        refused(group, &error);
    task_done(group);
    pthread_mutex_unlock(&governor->lock);
    free(task);
    return NULL;
}

static void *detach_task(void *argument)
{
    struct task *task = argument;
    struct group *group = task->group;
    struct governor *governor = group->governor;
    uint64_t cpu = clock_ns(CLOCK_THREAD_CPUTIME_ID);
    double cost;

    probe_detach(task->links);
    pthread_mutex_lock(&governor->lock);
    cost = (double)(clock_ns(CLOCK_THREAD_CPUTIME_ID) - cpu);
    if (!group->open) {
        struct probe_counts counts = counts_of(group);

        cost += take_cost(group, &counts);
    }
    budget_detached(governor->budget, group->number, cost);
    observe(governor);
    task_done(group);
    pthread_mutex_unlock(&governor->lock);
    free(task);
    return NULL;
}

/* Both attaching and detaching wait for the kernel, while other groups have to be looked after. */
static void start_task(struct group *group, void *(*run)(void *), struct probe_links *links)
{
    struct task *task = xcalloc(1, sizeof(*task));
    pthread_attr_t attributes;
    pthread_t thread;
    int result;

    *task = (struct task){group, links};
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

static void close_group(struct group *group)
{
    struct governor *governor = group->governor;
    bool continuous = budget_is_continuous(governor->budget, group->number);
    struct probe_links *links = group->links;
    struct moment end = look_at(group);
    uint64_t represents;

    set_open(group, WIRE_CLOSED);
    charge(group, end.time, &end.counts);
    represents = budget_closed(governor->budget, group->number, end.time);
    window_log_close(&group->log, end.time, represents);
    hand_out(group, &end, continuous ? end.time - group->first.time : represents);
    group->links = NULL;
    start_task(group, detach_task, links);
}

/* ---- the thread ---- */

/* Look after a group. `*next`: when to do so again at the latest. */
static void govern_group(struct group *group, uint64_t *next)
{
    struct governor *governor = group->governor;
    uint64_t now = clock_ns(CLOCK_MONOTONIC), until;

    if (group->open && now - group->charged_time >= CHARGE_TICK) {
        struct probe_counts counts = counts_of(group);

        charge(group, now, &counts);
        if (now - group->first.time >= SECOND &&
            budget_is_continuous(governor->budget, group->number))
            hand_out_continuous(group);
    }
    if (!group->open && group->tasks >= TASKS_MAX)
        return;
    switch (budget_order(governor->budget, group->number, now, &until)) {
    case BUDGET_OPEN:
        observe(governor);
        start_task(group, attach_task, NULL);
        break;
    case BUDGET_CLOSE:
        close_group(group);
        *next = now;
        break;
    case BUDGET_WAIT:
        if (until < *next)
            *next = until;
    }
}

static void wait_until(struct governor *governor, uint64_t time)
{
    struct timespec until = {.tv_sec = (time_t)(time / SECOND), .tv_nsec = (long)(time % SECOND)};

    pthread_cond_timedwait(&governor->changed, &governor->lock, &until);
}

/* Close what is open, and what threads still open, until all have ended. */
static void close_all(struct governor *governor)
{
    bool busy = true;

    while (busy) {
        busy = false;
        for (unsigned i = 0; i < governor->group_count; i++) {
            struct group *group = governor->groups[i];

            if (group->open)
                close_group(group);
            busy |= group->tasks > 0;
        }
        if (busy)
            pthread_cond_wait(&governor->changed, &governor->lock);
    }
}

static void take_income(struct governor *governor, uint64_t now)
{
    if (read_target_cpu(governor))
        budget_income(governor->budget, now, governor->target_cpu);
}

static void *govern(void *argument)
{
    struct governor *governor = argument;

    /* A window of 2 ms has to end in time where the target uses all CPUs. */
    setpriority(PRIO_PROCESS, (id_t)gettid(), -20);
    pthread_mutex_lock(&governor->lock);
    while (!governor->stop) {
        uint64_t now = clock_ns(CLOCK_MONOTONIC), next = now + INCOME_TICK;

        take_income(governor, now);
        for (unsigned i = 0; i < governor->group_count; i++)
            govern_group(governor->groups[i], &next);
        wait_until(governor, next);
    }
    close_all(governor);
    take_income(governor, clock_ns(CLOCK_MONOTONIC));
    pthread_mutex_unlock(&governor->lock);
    return NULL;
}

static bool all_tried(const struct governor *governor)
{
    for (unsigned i = 0; i < governor->group_count; i++) {
        if (!governor->groups[i]->tried)
            return false;
    }
    return true;
}

/* Signals are for the threads that were there before. */
static int start_thread(struct governor *governor)
{
    sigset_t all, before;
    int result;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    result = pthread_create(&governor->thread, NULL, govern, governor);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return result;
}

static void start_group(struct group *group)
{
    const struct governor_options *options = &group->governor->options;
    struct error error;

    group->charged = counts_of(group);
    group->period = FIRST_PERIOD;
    options->callbacks.period(options->callbacks.context, group->number, FIRST_PERIOD);
    if (return_probes_check(group->governor->calibration.way, options->pid, group->sites,
                            group->count, &error)) {
        group->tried = true;
        refused(group, &error);
    }
}

int governor_start(struct governor *governor, struct error *error)
{
    uint64_t now = clock_ns(CLOCK_MONOTONIC);
    int code;

    if (clock_getcpuclockid(governor->options.pid, &governor->target_clock) != 0)
        return error_set(error, ERROR_NO_PROCESS, "process %d has ended",
                         (int)governor->options.pid);
    governor->start_time = now;
    governor->target_cpu_start = governor->target_cpu = clock_ns(governor->target_clock);
    governor->stats_fd = run_time_account();
    governor->budget = budget_new(&(struct budget_options){
        .part = governor->options.part,
        .target_cpu = governor->target_cpu_start,
        .groups = governor->group_count,
        .seed = now,
        .now = now,
    });
    for (unsigned i = 0; i < governor->group_count; i++)
        start_group(governor->groups[i]);
    code = start_thread(governor);
    if (code)
        return error_set(error, ERROR_FAILED, "a thread can't be started: %s", strerror(code));
    pthread_mutex_lock(&governor->lock);
    governor->started = true;
    while (!all_tried(governor))
        pthread_cond_wait(&governor->changed, &governor->lock);
    pthread_mutex_unlock(&governor->lock);
    return 0;
}

void governor_stop(struct governor *governor)
{
    if (!governor->started)
        return;
    pthread_mutex_lock(&governor->lock);
    governor->stop = true;
    governor->stop_time = clock_ns(CLOCK_MONOTONIC);
    pthread_cond_broadcast(&governor->changed);
    pthread_mutex_unlock(&governor->lock);
    pthread_join(governor->thread, NULL);
    governor->started = false;
    if (governor->stats_fd >= 0)
        close(governor->stats_fd);
    governor->stats_fd = -1;
}

/* ---- what others ask ---- */

int governor_error(struct governor *governor, unsigned group, struct error *error)
{
    int result = 0;

    pthread_mutex_lock(&governor->lock);
    if (governor->groups[group]->error.code != ERROR_NONE) {
        *error = governor->groups[group]->error;
        result = -1;
    }
    pthread_mutex_unlock(&governor->lock);
    return result;
}

void governor_cut(struct governor *governor)
{
    pthread_mutex_lock(&governor->lock);
    for (unsigned i = 0; i < governor->group_count; i++) {
        struct group *group = governor->groups[i];

        if (group->open && budget_is_continuous(governor->budget, group->number))
            hand_out_continuous(group);
    }
    pthread_mutex_unlock(&governor->lock);
}

bool governor_window(struct governor *governor, struct governor_window *window)
{
    bool found;

    pthread_mutex_lock(&governor->lock);
    found = governor->windows_taken < governor->windows.size;
    if (found) {
        memcpy(window, governor->windows.data + governor->windows_taken, sizeof(*window));
        governor->windows_taken += sizeof(*window);
    } else {
        governor->windows_taken = governor->windows.size = 0;
    }
    pthread_mutex_unlock(&governor->lock);
    return found;
}

enum window_answer governor_scale(struct governor *governor, unsigned group, uint64_t time,
                                  uint64_t duration, double *scale)
{
    enum window_answer answer;

    pthread_mutex_lock(&governor->lock);
    answer = window_log_scale(&governor->groups[group]->log, time, duration, scale);
    pthread_mutex_unlock(&governor->lock);
    return answer;
}

struct governor_status governor_status(struct governor *governor, unsigned number)
{
    const struct group *group = governor->groups[number];
    struct governor_status status;
    struct budget_status budget;
    uint64_t now;

    pthread_mutex_lock(&governor->lock);
    now = governor->stop ? governor->stop_time : clock_ns(CLOCK_MONOTONIC);
    budget = budget_status(governor->budget, number);
    status = (struct governor_status){
        .continuous = budget_is_continuous(governor->budget, number),
        .runs_per_second = group->runs_per_second,
        .run_ns = group->trap_ns + group->program_ns,
        .share = budget.share,
        .spent_ns = budget.spent_ns,
        .target_cpu_ns = governor->target_cpu - governor->target_cpu_start,
        .elapsed_ns = now - governor->start_time,
        .covered_ns = group->covered,
        .represented_ns = group->represented,
        .windows = budget.windows,
        .cut = budget.cut,
    };
    pthread_mutex_unlock(&governor->lock);
    return status;
}
