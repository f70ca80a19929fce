// SPDX-License-Identifier: Apache-2.0
#include "calls/call_watch_internal.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "calls/call_loop.h"
#include "calls/call_match.h"
#include "calls/call_steering.h"
#include "capture/governor.h"
#include "os/process.h"
#include "util/alloc.h"
#include "util/clock.h"
#include "util/log.h"
#include "util/stop.h"

#define SECOND_NS ((uint64_t)1000000000)

enum {
    STEP_NS = 50000000,    /* between two looks at the VM's code */
    NAMES_NS = 1000000000, /* between two looks at processes: some end soon */
};

struct call_watch *call_watch_new(struct vm *vm, struct error *error)
{
    struct call_watch *watch = xcalloc(1, sizeof(*watch));

    watch->vm = vm;
    watch->atoms = atoms_new(vm);
    watch->code = code_new(vm, error);
    if (watch->code)
        watch->names = call_names_new(vm, watch->code, watch->atoms, error);
    if (watch->names)
        return watch;
    call_watch_free(watch);
    return NULL;
}

void call_watch_free(struct call_watch *watch)
{
    if (!watch)
        return;
    call_windows_free(watch->windows);
    call_rates_free(watch->rates);
    call_followed_free(watch->followed);
    slow_calls_free(watch->slow);
    call_arguments_free(watch->arguments);
    call_counter_free(watch->counter);
    call_names_free(watch->names);
    call_functions_free(&watch->functions);
    code_free(watch->code);
    atoms_free(watch->atoms);
    free(watch);
}

/* ---- functions ---- */

static bool code_has_changed(const struct call_watch *watch)
{
    uint64_t now;

    return memory_read_u64(watch->vm->memory, code_generation_address(watch->code), &now) &&
           now != code_generation(watch->code);
}

const char *call_watch_missing(const struct call_watch *watch, const struct function_name *names,
                               size_t count)
{
    return call_functions_missing(watch->code, names, count);
}

int call_watch_await(struct call_watch *watch, const struct function_name *names, size_t count,
                     struct error *error)
{
    const struct timespec pause = {.tv_nsec = STEP_NS};

    while (call_watch_missing(watch, names, count)) {
        nanosleep(&pause, NULL);
        if (stop_requested)
            return stop_error(error);
        if (!process_is(watch->vm->pid, &watch->vm->identity))
            return error_set(error, ERROR_NO_PROCESS, "the VM has ended");
        if (code_has_changed(watch) && code_refresh(watch->code, error))
            return -1;
    }
    return 0;
}

int call_watch_find(struct call_watch *watch, const struct function_name *names, size_t count,
                    struct error *error)
{
    return call_functions_find(watch->vm, watch->code, names, count, &watch->functions, error);
}

const struct call_functions *call_watch_functions(const struct call_watch *watch)
{
    return &watch->functions;
}

/* ---- entries ---- */

static void find_loops(struct call_watch *watch, uint32_t function)
{
    for (size_t i = 0; i < watch->entry_counts[function]; i++) {
        struct call_entry *entry = &watch->entries[function][i];

        entry->site.loops = call_loop_is(watch->vm, watch->code, entry->address);
    }
}

void call_watch_find_entries(struct call_watch *watch, uint32_t function)
{
    watch->entry_counts[function] =
        call_functions_entries(&watch->functions, function, watch->vm, watch->code, watch->atoms,
                               watch->entries[function]);
    if (watch->followed)
        find_loops(watch, function);
}

static void find_entries(struct call_watch *watch)
{
    for (uint32_t i = 0; i < watch->functions.count; i++)
        call_watch_find_entries(watch, i);
    watch->epoch = code_epoch(watch->code);
}

/* The entries to arm: all newest versions first, then older ones as far as breakpoints
 * suffice. */
struct wanted_entries {
    struct call_entry of[WIRE_CALL_AT_ONCE];
    size_t count;
    size_t newest;  /* the first so many are of newest versions */
    bool some_left; /* there are more */
};

static void want_entries(const struct call_watch *watch, struct wanted_entries *wanted)
{
    for (size_t version = 0; version < CALL_VERSIONS; version++) {
        for (size_t i = 0; i < watch->turn_count; i++) {
            uint32_t function = watch->turn[i];

            if (version >= watch->entry_counts[function])
                continue;
            if (wanted->count < WIRE_CALL_AT_ONCE)
                wanted->of[wanted->count++] = watch->entries[function][version];
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

/* Arm the entries of the turn. Other programs may leave too few breakpoints for old versions. */
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
    return 0;
}

/* The turn has one function. Use the free breakpoints to follow its calls to their end. */
static int follow_calls(struct call_watch *watch, uint64_t now, struct error *error)
{
    uint64_t next;

    call_followed_function(watch->followed, watch->turn[0], WIRE_CALL_AT_ONCE - watch->armed_count);
    return call_followed_look(watch->followed, watch->code_number, now, &next, error);
}

static int arm_turn(struct call_watch *watch, struct error *error)
{
    uint64_t now = clock_ns(CLOCK_MONOTONIC);

    if (watch->followed)
        call_followed_stop(watch->followed, now); /* entries need its breakpoints */
    if (arm_entries(watch, error))
        return -1;
    return watch->followed ? follow_calls(watch, now, error) : 0;
}

static int arm_functions(void *context, const uint32_t *functions, size_t count,
                         struct error *error)
{
    struct call_watch *watch = context;

    memcpy(watch->turn, functions, count * sizeof(*functions));
    watch->turn_count = count;
    return arm_turn(watch, error);
}

/* The first functions, as many as are counted at once. */
static int arm_first(struct call_watch *watch, struct error *error)
{
    for (uint32_t i = 0; i < watch->functions.count && i < watch->group_size; i++)
        watch->turn[watch->turn_count++] = i;
    return arm_turn(watch, error);
}

static void close_calls(void *context, uint64_t now)
{
    struct call_watch *watch = context;

    if (watch->followed)
        call_followed_close(watch->followed, now);
}

static bool has_entries(const struct call_watch *watch)
{
    size_t count = 0;

    for (size_t i = 0; i < watch->functions.count; i++)
        count += watch->entry_counts[i];
    return count > 0;
}

static int set_patterns(struct call_watch *watch, const struct call_watch_options *options,
                        struct error *error)
{
    struct pid_encoding encoding;
    const struct argument_names names = {watch->atoms, &encoding};

    if (!options->pattern_count)
        return 0;
    if (pid_encoding_read(watch->vm, &encoding, error))
        return -1;
    return call_match_set(watch->counter, &watch->functions, &names, options->patterns,
                          options->pattern_count, watch->has_pattern, error);
}

/* Try breakpoints. */
static int make_counter(struct call_watch *watch, const struct call_watch_options *options,
                        struct error *error)
{
    watch->counter = call_counter_new(
        watch->vm,
        &(struct call_counter_options){.times = options->times,
                                       .words = options->words,
                                       .slow_ns = options->slow_ns,
                                       .argument_levels = options->argument_levels,
                                       .shapes_only = options->shapes_only,
                                       .matches = options->pattern_count > 0,
                                       .by_caller = options->by_caller,
                                       .frame_pointers = code_frame_pointers(watch->code),
                                       .split = options->splits ? watch->code : NULL},
        error);
    if (!watch->counter || set_patterns(watch, options, error))
        return -1;
    if (options->argument_levels) {
        watch->arguments = call_arguments_new(watch->vm, watch->atoms, watch->counter,
                                              options->shapes_only, error);
        if (!watch->arguments)
            return -1;
    }
    watch->by_caller = options->by_caller;
    watch->words = options->words;
    watch->splits = options->splits;
    watch->matches = options->pattern_count > 0;
    watch->group_size = options->times ? 1 : WIRE_CALL_AT_ONCE;
    if (options->times)
        watch->followed = call_followed_new(watch->vm, watch->code, watch->counter, error);
    if (options->slow_ns)
        watch->slow = slow_calls_new(watch->counter, watch->code, watch->names, watch->arguments);
    return options->times && !watch->followed ? -1 : 0;
}

int call_watch_start(struct call_watch *watch, const struct call_watch_options *options,
                     struct error *error)
{
    if ((options->times && call_functions_check_returns(&watch->functions, error)) ||
        make_counter(watch, options, error))
        return -1;
    find_entries(watch);
    if (!has_entries(watch))
        return error_set(error, ERROR_UNSUPPORTED,
                         "the entry of %s can't be found: the VM has no name before it",
                         watch->functions.of[0].symbol);
    if (options->splits && call_counter_start_split(watch->counter, error) < 0)
        return -1;
    if (arm_first(watch, error))
        return -1;
    watch->began = watch->looked = watch->named = clock_ns(CLOCK_MONOTONIC);
    process_cpu_time(watch->vm->pid, &watch->cpu_began);
    watch->windows =
        call_windows_new(&(struct call_windows_options){.vm = watch->vm,
                                                        .counter = watch->counter,
                                                        .splits = options->splits,
                                                        .budget = options->budget,
                                                        .group_size = watch->group_size,
                                                        .arm = arm_functions,
                                                        .closed = close_calls,
                                                        .context = watch},
                         (uint32_t)watch->functions.count, watch->began);
    watch->rates = call_rates_new(watch->counter, (uint32_t)watch->functions.count, watch->began);
    watch->steering = options->steering;
    governor_take_precedence();
    return 0;
}

/* ---- names ---- */

static void see_who_and_what(const struct call_watch *watch)
{
    if (!watch->by_caller)
        call_names_see_processes(watch->names, watch->counter);
    if (watch->arguments)
        call_arguments_see(watch->arguments);
}

/* ---- running ---- */

/* The VM's code has changed since `looked`. Callers of before get the names of before. */
static int follow_change(struct call_watch *watch, uint64_t looked, struct error *error)
{
    double seconds;

    call_names_see_callers(watch->names, watch->counter);
    if (watch->slow)
        slow_calls_read(watch->slow);
    if (code_refresh(watch->code, error))
        return -1;
    if (code_epoch(watch->code) == watch->epoch)
        return 0;
    call_counter_set_code(watch->counter, ++watch->code_number);
    find_entries(watch);
    if (arm_turn(watch, error))
        return -1;
    watch->facts.reloads++;
    seconds = (double)(clock_ns(CLOCK_MONOTONIC) - looked) / SECOND_NS;
    if (seconds > watch->facts.blind_seconds)
        watch->facts.blind_seconds = seconds;
    return 0;
}

static int follow_code(struct call_watch *watch, uint64_t now, struct error *error)
{
    uint64_t looked = watch->looked;

    watch->looked = now;
    return code_has_changed(watch) ? follow_change(watch, looked, error) : 0;
}

/* Return false when counting ends. */
static bool follow_requests(struct call_watch *watch)
{
    int result = call_steering_step(watch->steering, watch, &watch->facts.error);

    if (result < 0)
        watch->facts.end = CALL_END_ERROR;
    return result == 0;
}

/* Look at the VM and its code. Return false when counting ends. */
static bool follow(struct call_watch *watch, uint64_t now)
{
    struct error *error = &watch->facts.error;

    if (!process_is(watch->vm->pid, &watch->vm->identity)) {
        watch->facts.end = CALL_END_VM;
        return false;
    }
    if (follow_code(watch, now, error) || call_counter_follow_threads(watch->counter, error)) {
        watch->facts.end = CALL_END_ERROR;
        return false;
    }
    if (!follow_requests(watch))
        return false;
    call_rates_step(watch->rates, now);
    if (watch->slow)
        slow_calls_read(watch->slow);
    if (now - watch->named >= NAMES_NS) {
        see_who_and_what(watch);
        watch->named = now;
    }
    return true;
}

/* The time that a call may take, if its return shall be seen, ns; 0: any. */
static double longest_followed(const struct call_watch *watch)
{
    double window = call_windows_longest(watch->windows), turn = 0;

    if (watch->followed)
        turn = (double)call_followed_turn(watch->followed);
    return turn > 0 && (window == 0 || turn < window) ? turn : window;
}

void call_watch_end(struct call_watch *watch, struct call_facts *ret_facts)
{
    struct call_facts *facts = &watch->facts;
    uint64_t now = clock_ns(CLOCK_MONOTONIC), cpu = watch->cpu_began;

    call_windows_end(watch->windows, now);
    call_rates_end(watch->rates, now);
    if (watch->followed)
        call_followed_collect(watch->followed);
    if (watch->slow)
        slow_calls_read(watch->slow);
    process_cpu_time(watch->vm->pid, &cpu); /* stays if the VM has ended */
    call_names_see_callers(watch->names, watch->counter);
    see_who_and_what(watch);
    facts->seconds = (double)(now - watch->began) / SECOND_NS;
    facts->hit_ns = call_counter_hit_ns(watch->counter);
    facts->own_ns = call_counter_own_ns(watch->counter);
    facts->hits = call_counter_hits(watch->counter);
    facts->split_ns = call_counter_split_ns(watch->counter);
    facts->split_hits = call_counter_split_hits(watch->counter);
    if (cpu > watch->cpu_began)
        facts->share = call_counter_cost_ns(watch->counter) / (double)(cpu - watch->cpu_began);
    if (facts->share > 1)
        facts->share = 1;
    facts->is_scaled = call_windows_scale(watch->windows);
    facts->windows = call_windows_count(watch->windows);
    facts->covered = call_windows_covered(watch->windows);
    facts->followed_ns = longest_followed(watch);
    facts->missing_threads = call_counter_missing_threads(watch->counter);
    *ret_facts = *facts;
}

/* `*until` is set to the time of the next look if that is earlier. */
static int look_for_callers(struct call_watch *watch, uint64_t *until)
{
    uint64_t next;

    if (!watch->followed)
        return 0;
    if (call_followed_look(watch->followed, watch->code_number, clock_ns(CLOCK_MONOTONIC), &next,
                           &watch->facts.error)) {
        watch->facts.end = CALL_END_ERROR;
        return -1;
    }
    if (*until > next)
        *until = next;
    return 0;
}

bool call_watch_step(struct call_watch *watch, uint64_t *until)
{
    uint64_t now = clock_ns(CLOCK_MONOTONIC);

    if (now >= watch->look_due) {
        if (!follow(watch, now))
            return false;
        watch->look_due = now + STEP_NS;
    }
    if (call_windows_step(watch->windows, clock_ns(CLOCK_MONOTONIC), until, &watch->facts.error)) {
        watch->facts.end = CALL_END_ERROR;
        return false;
    }
    if (look_for_callers(watch, until))
        return false;
    if (*until > watch->look_due)
        *until = watch->look_due;
    return true;
}
