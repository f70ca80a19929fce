// SPDX-License-Identifier: Apache-2.0
#include "capture/calibration.h"

#include <bpf/libbpf.h>
#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "calibration.skel.h"
#include "capture/bpf_load.h"
#include "native/mappings.h"
#include "native/memory.h"
#include "os/privileges.h"
#include "util/alloc.h"
#include "util/clock.h"
#include "util/log.h"

enum {
    BATCHES = 5,
    HITS = 100,
    STEPPED_HITS = 20, /* each can cost 15 us */
    WARM_UP = 10,      /* the kernel sets up its page for stepping, and rewrites nops */
};

/* ---- cost of a group ---- */

/* In a loop, the kernel's code and data are in the caches. On a node that works, a hit costs 10 to
 * 14 % more (measured: OTP 27, erts_schedule, at entry and at return). */
static const double COLD = 1.15;

static bool same_place(const struct probe_site *a, const struct probe_site *b)
{
    return a->file_offset == b->file_offset && strcmp(a->path, b->path) == 0;
}

/* The average cost in ns of a hit of the probes at the place of `site`. */
static double place_hit_ns(const struct calibration *calibration, const struct probe_site *site,
                           const struct probe_site *sites, int count)
{
    double cost = calibration->trap_ns[site->trap];
    bool returns = false;
    int hits = 0;

    for (int i = 0; i < count; i++) {
        if (!same_place(&sites[i], site))
            continue;
        hits++;
        returns |= sites[i].is_return;
    }
    return COLD * (returns ? cost + calibration->return_ns : cost) / hits;
}

double calibration_hit_ns(const struct calibration *calibration, const struct probe_site *sites,
                          int count)
{
    double highest = 0;

    for (int i = 0; i < count; i++) {
        double cost = place_hit_ns(calibration, &sites[i], sites, count);

        if (cost > highest)
            highest = cost;
    }
    return highest;
}

/* ---- measuring ---- */

/* The trial of one way of attaching. */
struct trial {
    struct calibration calibration;
    struct probe_point points[TRAPS];
    struct calibration_bpf *skeleton;
    struct probe_links *entries, *returns;
    uint64_t hits, cookies; /* what the program should have counted */
    int result;
    struct error error;
};

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

/* The cookie of a probe identifies its function, or the return. */
static uint64_t cookie_of(enum trap trap, bool is_return)
{
    return is_return ? 100 : 1 + (uint64_t)trap;
}

/* The median time of a call, in ns. */
static double call_ns(struct trial *trial, enum trap trap, int hits)
{
    int calls = WARM_UP + BATCHES * hits;

    double batches[BATCHES];

    for (int i = 0; i < WARM_UP; i++)
        trap_functions[trap]();
    for (int batch = 0; batch < BATCHES; batch++) {
        uint64_t start = clock_ns(CLOCK_THREAD_CPUTIME_ID);

        for (int i = 0; i < hits; i++)
            trap_functions[trap]();
        batches[batch] = (double)(clock_ns(CLOCK_THREAD_CPUTIME_ID) - start) / hits;
    }
    trial->hits += (uint64_t)calls;
    trial->cookies += (uint64_t)calls * cookie_of(trap, false);
    if (trial->returns) {
        trial->hits += (uint64_t)calls;
        trial->cookies += (uint64_t)calls * cookie_of(trap, true);
    }
    qsort(batches, BATCHES, sizeof(*batches), compare);
    return batches[BATCHES / 2];
}

static struct probe_links *attach(struct trial *trial, int count, bool is_return)
{
    struct probe_site sites[TRAPS];

    for (int i = 0; i < count; i++) {
        sites[i] = (struct probe_site){
            .program = trial->skeleton->progs.count_hit,
            .path = trial->points[i].path,
            .file_offset = trial->points[i].file_offset,
            .cookie = cookie_of((enum trap)i, is_return),
            .is_return = is_return,
            .trap = trial->points[i].trap,
        };
    }
    return probe_link_attach(trial->calibration.way, getpid(), sites, count, &trial->error);
}

static int check_counts(struct trial *trial)
{
    uint64_t hits = trial->skeleton->bss->hits;

    if (hits == trial->hits && trial->skeleton->bss->cookies == trial->cookies)
        return 0;
    return error_set(&trial->error, ERROR_UNSUPPORTED,
                     "probes don't work on this kernel: a test made %llu hits, and %llu were "
                     "counted, or counted wrongly",
                     (unsigned long long)trial->hits, (unsigned long long)hits);
}

static int measure(struct trial *trial)
{
    double *trap_ns = trial->calibration.trap_ns;

    trial->entries = attach(trial, TRAPS, false);
    if (!trial->entries)
        return -1;
    for (enum trap trap = 0; trap < TRAPS; trap++) {
        bool fast = trap == TRAP_EMULATED || trap == TRAP_NOP5;

        trap_ns[trap] = call_ns(trial, trap, fast ? HITS : STEPPED_HITS);
    }
    trial->returns = attach(trial, TRAP_EMULATED + 1, true);
    if (!trial->returns)
        return -1;
    trial->calibration.return_ns =
        fmax(call_ns(trial, TRAP_EMULATED, HITS) - trap_ns[TRAP_EMULATED], 0);
    return check_counts(trial);
}

/* Runs on a thread that is not the first of its process: the first kernels with uprobe_multi let
 * only hits of the first thread through (fixed in 6.10, "bpf: fix multi-uprobe PID filtering
 * logic"). */
static void *run_trial(void *argument)
{
    struct trial *trial = argument;

    trial->result = measure(trial);
    return NULL;
}

/* ---- the two ways ---- */

static void *end_trial(void *argument)
{
    struct trial *trial = argument;

    probe_link_detach(trial->returns);
    probe_link_detach(trial->entries);
    calibration_bpf__destroy(trial->skeleton);
    free(trial);
    return NULL;
}

/* Closing descriptors takes no right. */
static void *end_trial_apart(void *argument)
{
    privileges_give_up();
    return end_trial(argument);
}

/* Detach in the background. Detaching takes as long as all the rest, and nothing has to wait for
 * it. */
static void end_in_background(struct trial *trial)
{
    pthread_attr_t attributes;
    pthread_t thread;

    pthread_attr_init(&attributes);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    if (pthread_create(&thread, &attributes, end_trial_apart, trial) != 0)
        end_trial(trial);
    pthread_attr_destroy(&attributes);
}

static int load(struct trial *trial)
{
    trial->skeleton = calibration_bpf__open();
    if (!trial->skeleton)
        return error_set(&trial->error, ERROR_FAILED, "a BPF program can't be opened: %s",
                         strerror(errno));
    probe_link_prepare(trial->skeleton->progs.count_hit, trial->calibration.way);
    return bpf_load(trial->skeleton->skeleton, &trial->error);
}

static int try_way(enum probe_way way, const struct probe_point *points,
                   struct calibration *calibration, struct error *error)
{
    struct trial *trial = xcalloc(1, sizeof(*trial));
    pthread_t thread;
    int result;

    trial->calibration.way = way;
    memcpy(trial->points, points, sizeof(trial->points));
    trial->result = load(trial);
    if (trial->result == 0) {
        if (pthread_create(&thread, NULL, run_trial, trial) == 0)
            pthread_join(thread, NULL);
        else
            trial->result = error_set(&trial->error, ERROR_FAILED, "a thread can't be started");
    }
    result = trial->result;
    *error = trial->error;
    if (result == 0)
        *calibration = trial->calibration;
    end_in_background(trial);
    return result;
}

static int find_points(struct probe_point *points, struct mappings *mappings, struct error *error)
{
    for (enum trap trap = 0; trap < TRAPS; trap++) {
        if (probe_link_point(mappings, (uintptr_t)trap_functions[trap], &points[trap], error))
            return -1;
    }
    return 0;
}

static void say_costs(const struct calibration *calibration)
{
    const double *ns = calibration->trap_ns;

    log_write(
        "calibration",
        "probes are attached by %s; a hit costs %.0f ns on an emulated instruction, %.0f on a "
        "nop of five bytes, %.0f on endbr64, %.0f on one that is stepped over; a return %.0f "
        "more",
        probe_link_way_name(calibration->way), ns[TRAP_EMULATED], ns[TRAP_NOP5], ns[TRAP_ENDBR],
        ns[TRAP_STEPPED], calibration->return_ns);
}

int calibrate(struct calibration *calibration, struct error *error)
{
    struct memory *memory = memory_of_process(getpid());
    struct mappings *mappings = mappings_new(getpid(), memory, error);
    struct probe_point points[TRAPS];
    int result = -1;

    bpf_load_log_messages();
    if (mappings && find_points(points, mappings, error) == 0) {
        result = try_way(PROBE_MULTI, points, calibration, error);
        if (result != 0 && error->code != ERROR_PERMISSION) {
            log_decision("calibration", "uprobe_multi can't be used: %s", error->text);
            result = try_way(PROBE_PERF, points, calibration, error);
        }
    }
    if (result == 0 && log_wants(LOG_DECISION))
        say_costs(calibration);
    mappings_free(mappings);
    memory_free(memory);
    return result;
}
