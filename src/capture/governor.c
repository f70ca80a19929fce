// SPDX-License-Identifier: Apache-2.0
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "capture/governor_internal.h"
#include "capture/probe_safety.h"
#include "os/precedence.h"
#include "os/privileges.h"
#include "os/thread_start.h"
#include "util/alloc.h"
#include "util/clock.h"
#include "util/log.h"

static const uint64_t SECOND = 1000000000;
static const uint64_t INCOME_TICK = 100000000; /* ns, while all groups are closed */

/* An open group is charged at intervals of this many ns at least. The thread may wake more often,
 * for other groups. */
static const uint64_t CHARGE_TICK = 1500000;

/* A target that has used less CPU time than this can't have had hits that cost more: charging can
 * wait. Reading the counts costs more than a look at the clock, and most VMs of a host are idle. It
 * waits for IDLE_TICK at most: the clock lacks what a thread has used since its last tick, and some
 * CPUs have no ticks. */
static const uint64_t IDLE_CPU = 300000;    /* ns */
static const uint64_t IDLE_TICK = 50000000; /* ns */

/* While no window is open, the groups that stay open cost little, and the periods of samples do not
 * change, the thread sleeps, for SLEEP at most. An alarm wakes it after hits that cost ALARM_COST
 * on all CPUs together, or ALARM_SHARE of what the group may cost a second. It then checks the
 * groups for at least CALM, or for a part of it if no other alarm came in the second before. */
static const uint64_t SLEEP = 5000000000; /* ns */
static const uint64_t CALM = 100000000;   /* ns */
static const double ALARM_COST = 125e3;   /* ns */
static const double ALARM_SHARE = 0.01;
enum { ALARM_RUNS_MIN = 8, ALARM_RUNS_MAX = 4096 };

/* The run time of a program, in ns, where the kernel does not account it. */
static const double PROGRAM_NS = 1000;

/* The most tasks of a group. Closing can take a second on a busy machine, so a group may be open
 * again meanwhile. */
enum { TASKS_MAX = 4 };

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
    struct probe_group *group = xcalloc(1, sizeof(*group));

    group->governor = governor;
    group->number = governor->group_count;
    group->sites = xreallocarray(NULL, (size_t)count, sizeof(*sites));
    memcpy(group->sites, sites, (size_t)count * sizeof(*sites));
    group->count = count;
    group->trap_ns = calibration_hit_ns(&governor->calibration, sites, count);
    group->program_ns = PROGRAM_NS;
    governor->groups =
        xreallocarray(governor->groups, governor->group_count + 1, sizeof(struct probe_group *));
    governor->groups[governor->group_count++] = group;
    return group->number;
}

/* ---- the thread ---- */

static bool is_worth_charging(const struct probe_group *group, uint64_t now)
{
    uint64_t time = now - group->charged_time;

    return time >= IDLE_TICK ||
           (time >= CHARGE_TICK && group->governor->target_cpu - group->charged_cpu >= IDLE_CPU);
}

static bool stays_open(const struct probe_group *group)
{
    return group->open && budget_is_continuous(group->governor->budget, group->number);
}

/* Look after a group. Set `*next` to the time of the next call, if that is earlier. */
static void govern_group(struct probe_group *group, uint64_t *next)
{
    struct governor *governor = group->governor;
    uint64_t now = clock_ns(CLOCK_MONOTONIC), until;

    if (group->open && is_worth_charging(group, now)) {
        struct probe_counts counts = governor_group_counts(group);

        governor_group_charge(group, now, &counts);
        if (counts.hits != group->first.counts.hits && now - group->first.time >= SECOND &&
            stays_open(group))
            governor_group_hand_out(group);
    }
    if (!group->open && group->tasks >= TASKS_MAX)
        return;
    switch (budget_order(governor->budget, group->number, now, &until)) {
    case BUDGET_OPEN:
        governor_group_open(group);
        break;
    case BUDGET_CLOSE:
        governor_group_close(group);
        *next = now;
        break;
    case BUDGET_WAIT:
        if (until < *next && !(governor->has_alarms && stays_open(group)))
            *next = until;
    }
}

void governor_wait_until(struct governor *governor, uint64_t time)
{
    struct timespec until = {.tv_sec = (time_t)(time / SECOND), .tv_nsec = (long)(time % SECOND)};

    pthread_cond_timedwait(&governor->changed, &governor->lock, &until);
}

/* Close the open groups, and those that threads are still opening, until all tasks have ended. */
static void close_all(struct governor *governor)
{
    while (governor_close_open(governor))
        pthread_cond_wait(&governor->changed, &governor->lock);
}

static void take_income(struct governor *governor, uint64_t now)
{
    struct budget *budget = governor->budget;

    if (!governor_group_read_target_cpu(governor))
        return;
    budget_income(budget, now, governor->target_cpu);
    if (governor->options.host)
        budget_scale(budget, host_limit_scale(governor->options.host, governor->member,
                                              budget_allowed(budget)));
}

/* Say each second what each group may cost, and does. */
static void say_shares(struct governor *governor, uint64_t now)
{
    if (now - governor->said < SECOND)
        return;
    governor->said = now;
    for (unsigned i = 0; i < governor->group_count; i++) {
        const struct probe_group *group = governor->groups[i];
        struct budget_status status = budget_status(governor->budget, i);

        log_write(
            "budget",
            "group %u of process %d: %.3f of %.3f ms a second are its share; it costs %.3f "
            "ms a second while open (%.0f runs of %.0f ns) and %s; %.3f ms in %llu windows so "
            "far, %llu of them cut",
            i, (int)governor->options.pid, status.share / 1e6, status.income / 1e6,
            status.demand / 1e6, group->runs_per_second, group->trap_ns + group->program_ns,
            budget_is_continuous(governor->budget, i) ? "stays open" : "is open in windows",
            status.spent_ns / 1e6, (unsigned long long)status.windows,
            (unsigned long long)status.cut);
    }
}

void governor_take_precedence(void)
{
    int code = precedence_take(-20);

    if (code)
        log_decision("windows", "the thread that ends them has no precedence: %s", strerror(code));
}

/* ---- sleep ---- */

/* True if a window is open, or opens or closes. */
static bool has_window(const struct governor *governor)
{
    for (unsigned i = 0; i < governor->group_count; i++) {
        const struct probe_group *group = governor->groups[i];

        if (group->tasks || (group->open && !stays_open(group)))
            return true;
    }
    return false;
}

/* True if the thread may sleep until an alarm. The periods of samples are then those for the hits
 * so far. */
static bool is_calm(struct governor *governor, uint64_t now)
{
    if (!governor->options.callbacks.alarm || governor->stirred || has_window(governor))
        governor->calm_since = 0;
    else if (!governor->calm_since)
        governor->calm_since = now;
    governor->stirred = false;
    if (!governor->calm_since ||
        now - governor->calm_since < (governor->is_disturbed ? CALM : CALM / QUIET_PART))
        return false;
    if (!governor->has_alarms)
        governor_group_charge_all(governor);
    return !governor->stirred;
}

/* The runs of the group's programs on a CPU after which an alarm is due. */
static uint32_t alarm_runs(const struct probe_group *group)
{
    double share = budget_status(group->governor->budget, group->number).share;
    double cost = fmax(ALARM_COST, ALARM_SHARE * share);
    double most =
        cost / (group->trap_ns + group->program_ns) / (double)sysconf(_SC_NPROCESSORS_ONLN);
    uint32_t runs = ALARM_RUNS_MIN;

    while (2 * runs <= most && runs < ALARM_RUNS_MAX)
        runs *= 2;
    return runs;
}

static void set_alarms(struct governor *governor, bool on)
{
    const struct governor_callbacks *callbacks = &governor->options.callbacks;

    if (on == governor->has_alarms)
        return;
    governor->has_alarms = on;
    for (unsigned i = 0; i < governor->group_count; i++)
        callbacks->alarm(callbacks->context, i, on ? alarm_runs(governor->groups[i]) : 0);
}

static void *govern(void *argument)
{
    struct governor *governor = argument;

    governor_take_precedence();
    privileges_attach(); /* also of the threads that this one starts */
    pthread_mutex_lock(&governor->lock);
    while (!governor->stop) {
        uint64_t now = clock_ns(CLOCK_MONOTONIC), next;

        if (governor->paused) {
            governor->is_closed = !governor_close_open(governor);
            pthread_cond_broadcast(&governor->changed);
            governor_wait_until(governor, now + INCOME_TICK);
            continue;
        }
        take_income(governor, now);
        set_alarms(governor, is_calm(governor, now));
        next = now + (governor->has_alarms ? SLEEP : INCOME_TICK);
        for (unsigned i = 0; i < governor->group_count; i++)
            govern_group(governor->groups[i], &next);
        if (governor->is_closed)
            pthread_cond_broadcast(&governor->changed);
        governor->is_closed = false;
        if (log_wants(LOG_DETAIL))
            say_shares(governor, now);
        governor_wait_until(governor, next);
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

static void start_group(struct probe_group *group)
{
    const struct governor_options *options = &group->governor->options;
    struct error error;

    group->charged = governor_group_counts(group);
    group->period = GROUP_FIRST_PERIOD;
    options->callbacks.period(options->callbacks.context, group->number, GROUP_FIRST_PERIOD);
    if (probe_safety_check_returns(group->governor->calibration.way, options->pid, group->sites,
                                   group->count, &error)) {
        group->tried = true;
        governor_group_refuse(group, &error);
    }
}

static void leave_host(const struct governor *governor)
{
    if (governor->options.host)
        host_limit_leave(governor->options.host, governor->member);
}

int governor_start(struct governor *governor, struct error *error)
{
    uint64_t now = clock_ns(CLOCK_MONOTONIC);
    int code;

    if (clock_getcpuclockid(governor->options.pid, &governor->target_clock) != 0)
        return error_set(error, ERROR_NO_PROCESS, "process %d has ended",
                         (int)governor->options.pid);
    governor->start_time = governor->said = now;
    governor->target_cpu_start = governor->target_cpu = clock_ns(governor->target_clock);
    governor->stats_fd = bpf_load_account();
    governor->budget = budget_new(&(struct budget_options){
        .part = governor->options.part,
        .target_cpu = governor->target_cpu_start,
        .groups = governor->group_count,
        .seed = now,
        .now = now,
    });
    for (unsigned i = 0; i < governor->group_count; i++)
        start_group(governor->groups[i]);
    if (governor->options.host)
        governor->member = host_limit_join(governor->options.host);
    code = thread_start(&governor->thread, NULL, govern, governor);
    if (code) {
        leave_host(governor);
        return error_set(error, ERROR_FAILED, "a thread can't be started: %s", strerror(code));
    }
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
    leave_host(governor);
    governor->started = false;
    if (governor->stats_fd >= 0)
        close(governor->stats_fd);
    governor->stats_fd = -1;
}

/* ---- public functions ---- */

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

void governor_wake(struct governor *governor)
{
    uint64_t now = clock_ns(CLOCK_MONOTONIC);

    pthread_mutex_lock(&governor->lock);
    governor->is_disturbed = now - governor->woken < SECOND;
    governor->woken = now;
    governor->stirred = true;
    pthread_cond_broadcast(&governor->changed);
    pthread_mutex_unlock(&governor->lock);
}

void governor_cut(struct governor *governor)
{
    pthread_mutex_lock(&governor->lock);
    governor_group_read_target_cpu(governor);
    for (unsigned i = 0; i < governor->group_count; i++) {
        struct probe_group *group = governor->groups[i];

        if (stays_open(group))
            governor_group_hand_out(group);
    }
    pthread_mutex_unlock(&governor->lock);
}

bool governor_stays_open(struct governor *governor)
{
    bool result = true;

    pthread_mutex_lock(&governor->lock);
    for (unsigned i = 0; i < governor->group_count; i++)
        result &= budget_is_continuous(governor->budget, i);
    pthread_mutex_unlock(&governor->lock);
    return result;
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
    const struct probe_group *group = governor->groups[number];
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
