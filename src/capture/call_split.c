// SPDX-License-Identifier: Apache-2.0
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "capture/calibration.h"
#include "capture/call_counter_internal.h"
#include "capture/event_sites.h"
#include "capture/memory_lock.h"
#include "capture/probe_safety.h"
#include "capture/programs.h"
#include "hooks/hooks.h"
#include "util/alloc.h"
#include "util/clock.h"
#include "util/log.h"

/* The run time of a program, ns (docs/measurements.md); less for processes without a call. */
static const double PROGRAM_NS = 300;

/* How long to wait for a process that maps memory. */
enum { LOOKS = 20, LOOK_PAUSE_US = 500 };

/* All places are needed: without one of them, a sum has time that belongs to another. */
static const struct event_kind split_kind = {
    .name = "split", /* bpf/call_split.h */
    .sites =
        {
            {PLACE_BY_HOOK, HOOK_SCHEDULE_OUT, "split_out", 2},
            {PLACE_BY_HOOK, HOOK_ENQUEUE, "split_enqueue", 3},
            {PLACE_BY_HOOK, HOOK_SCHEDULE_IN, "split_in"},
            {PLACE_BY_HOOK, HOOK_DIRTY_NIF, "split_in_dirty", 2},
            {PLACE_BY_HOOK, HOOK_DIRTY_BIF, "split_in_dirty", 2},
            {PLACE_BY_HOOK, HOOK_GC, "split_collect", 1},
            {PLACE_BY_HOOK, HOOK_GC, "split_collected", .is_return = true},
            {PLACE_BY_HOOK, HOOK_GC_HIBERNATE, "split_collect", 1},
            {PLACE_BY_HOOK, HOOK_GC_HIBERNATE, "split_collected", .is_return = true},
        },
    .site_count = 9,
};

struct call_split {
    const struct vm *vm;
    struct programs *programs; /* those that look at locks */
    struct memory_locks *locks;
    struct calibration calibration;
    struct event_places places;
    struct probe_site sites[EVENT_SITES_MAX];
    double hit_ns;
    struct probe_links *links; /* NULL: they are not attached */
};

static struct bpf_program *program_of(const struct call_counter *counter, const char *name)
{
    return bpf_object__find_program_by_name(counter->skeleton->obj, name);
}

void call_split_omit(struct call_counter *counter)
{
    for (int i = 0; i < split_kind.site_count; i++)
        bpf_program__set_autoload(program_of(counter, split_kind.sites[i].program), false);
}

/* ---- finding the places ---- */

/* True if the kernel counts how long threads wait for a CPU: for this one, which has had one. */
static bool kernel_counts_delays(void)
{
    FILE *file = fopen("/proc/thread-self/schedstat", "re");
    unsigned long long ran = 0;
    bool found = file && fscanf(file, "%llu", &ran) == 1 && ran > 0;

    if (file)
        fclose(file);
    return found;
}

static void make_sites(struct call_counter *counter)
{
    struct call_split *split = counter->split;

    for (int i = 0; i < split->places.count; i++) {
        const struct event_place *place = &split->places.of[i];
        struct bpf_program *program = program_of(counter, place->site->program);

        probe_link_prepare(program, split->calibration.way);
        split->sites[i] = (struct probe_site){
            .program = program,
            .path = place->point.path,
            .file_offset = place->point.file_offset,
            .is_return = place->site->is_return,
            .trap = place->point.trap,
        };
    }
    split->hit_ns =
        PROGRAM_NS + calibration_hit_ns(&split->calibration, split->sites, split->places.count);
}

static int find_places(struct call_split *split, struct vm *vm, struct code *code,
                       struct error *error)
{
    const struct event_request request = {.name = split_kind.name, .kind = &split_kind};
    struct hooks *hooks;
    int result;

    if (!kernel_counts_delays())
        return error_set(error, ERROR_UNSUPPORTED,
                         "this kernel does not count how long threads wait for a CPU "
                         "(CONFIG_SCHED_INFO)");
    if (calibrate(&split->calibration, error))
        return -1;
    hooks = hooks_new(vm, code, error);
    if (!hooks)
        return -1;
    result = event_sites_find(
        &(struct event_target){.vm = vm, .hooks = hooks, .way = split->calibration.way}, &request,
        &split->places, error);
    hooks_free(hooks);
    return result;
}

/* Attaching must not wait for a process that maps memory: no process could fork meanwhile. */
static int watch_locks(struct call_split *split, struct error *error)
{
    const struct programs_options options = {
        .clock = sample_clock_default(), .frequency = 1, .slots = 1, .histograms = 1};

    split->programs = programs_new(&options);
    if (programs_open(split->programs, error))
        return -1;
    split->locks = memory_locks_new(split->programs);
    if (programs_load(split->programs, error))
        return -1;
    memory_locks_watch(split->locks, split->vm);
    return 0;
}

int call_split_new(struct call_counter *counter, struct vm *vm, struct code *code,
                   struct error *error)
{
    const struct layout *layout = &vm->layout;
    struct call_split *split = xcalloc(1, sizeof(*split));

    counter->split = split;
    split->vm = vm;
    if (find_places(split, vm, code, error) || watch_locks(split, error))
        return error_prefix(error, "times can't be split");
    make_sites(counter);
    counter->skeleton->rodata->split_fields = (struct wire_split_fields){
        .vm_pid = (uint32_t)vm->pid,
        .state = (uint32_t)layout->process_state,
        .current = (uint32_t)layout->sched_current_process,
    };
    return probe_safety_check_returns(split->calibration.way, vm->pid, split->sites,
                                      split->places.count, error);
}

int call_split_loaded(const struct call_counter *counter, struct error *error)
{
    int map = bpf_map__fd(counter->skeleton->maps.split_schedulers);

    for (uint32_t i = 0; i < counter->vm->scheduler_count; i++) {
        const struct vm_scheduler *scheduler = &counter->vm->schedulers[i];

        if (bpf_map_update_elem(map, &scheduler->tid, &scheduler->data, BPF_ANY))
            return error_set(error, ERROR_FAILED, "a BPF map can't be filled: %s", strerror(errno));
    }
    return 0;
}

/* ---- attaching ---- */

/* Return a process that has its lock for longer than mapping memory takes; 0: there is none. */
static pid_t lock_holder(const struct call_split *split)
{
    pid_t pid = 0;

    for (int i = 0; i < LOOKS; i++) {
        pid = memory_locks_taken(split->locks);
        if (!pid)
            break;
        usleep(LOOK_PAUSE_US);
    }
    return pid;
}

double call_counter_start_split(struct call_counter *counter, struct error *error)
{
    uint64_t cpu = clock_ns(CLOCK_THREAD_CPUTIME_ID);
    struct call_split *split = counter->split;
    pid_t holder = lock_holder(split);

    if (!holder)
        holder = memory_locks_keeper(split->locks);
    if (holder)
        return error_set(error, ERROR_FAILED,
                         "process %d holds the lock of its memory map: no process of this host "
                         "could start while probes are attached; try again later",
                         (int)holder);
    split->links = probe_link_attach(split->calibration.way, counter->vm->pid, split->sites,
                                     split->places.count, error);
    if (!split->links)
        return -1;
    counter->skeleton->bss->split_since = clock_ns(CLOCK_MONOTONIC);
    return (double)(clock_ns(CLOCK_THREAD_CPUTIME_ID) - cpu + probe_link_attach_ns(split->links));
}

static double detach(struct call_split *split)
{
    uint64_t cpu = clock_ns(CLOCK_THREAD_CPUTIME_ID), apart;

    if (!split->links)
        return 0;
    if (lock_holder(split)) {
        int count, *fds = probe_links_fds(split->links, &count);

        memory_locks_keep(split->locks, fds, count);
        free(fds);
    }
    apart = probe_link_detach(split->links);
    split->links = NULL;
    return (double)(clock_ns(CLOCK_THREAD_CPUTIME_ID) - cpu + apart);
}

double call_counter_stop_split(struct call_counter *counter)
{
    counter->skeleton->bss->split_since = 0;
    return detach(counter->split);
}

double call_counter_split_ns(const struct call_counter *counter)
{
    return counter->split ? counter->split->hit_ns : 0;
}

void call_split_free(struct call_split *split)
{
    if (!split)
        return;
    detach(split);
    memory_watch_lock(split->vm->memory, NULL, NULL, 0);
    memory_locks_free(split->locks);
    programs_free(split->programs);
    free(split);
}
