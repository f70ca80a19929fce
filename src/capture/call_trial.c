// SPDX-License-Identifier: Apache-2.0
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "arch/jit_call.h"
#include "capture/call_counter_internal.h"
#include "util/alloc.h"
#include "util/clock.h"
#include "util/log.h"
#include "vm_constants.h"

enum { TRIAL_ARGUMENTS = 2, BATCHES = 9, BATCH = 100, CALLS = BATCHES * BATCH, BUCKETS = 1 << 12 };

/* A function whose entry can have a breakpoint. The words before the entry take the place of those
 * of an Erlang function. */
static __attribute__((noinline)) void called(void)
{
    __asm__ volatile("");
}

static struct wire_call_site site_of(uint64_t entry)
{
    struct wire_call_site site = {.function = WIRE_CALL_TRIAL, .arity = TRIAL_ARGUMENTS};

    memcpy(site.mfa, (const void *)(entry - sizeof(site.mfa)), sizeof(site.mfa));
    return site;
}

static int compare(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return (x > y) - (x < y);
}

/* What a call of the trial has: the process, and its arguments {1, []} and []. */
struct trial_call {
    const void *process;
    uint64_t tuple[3];
    uint64_t arguments[TRIAL_ARGUMENTS];
};

static void make_arguments(struct trial_call *call)
{
    call->tuple[0] = 2 << HEADER_ARITY_OFFS | ARITYVAL_SUBTAG;
    call->tuple[1] = 1 << TAG_IMMED1_SIZE | TAG_IMMED1_SMALL;
    call->tuple[2] = TAG_IMMED2_NIL;
    call->arguments[0] = (uintptr_t)call->tuple | TAG_PRIMARY_BOXED;
    call->arguments[1] = TAG_IMMED2_NIL;
}

static uint64_t call_once(const struct trial_call *call)
{
    return jit_call(called, call->process, call->arguments);
}

/* The median CPU time of a call of `called`, by JIT code of this process, ns. */
static double call_ns(const struct trial_call *call)
{
    uint64_t batches[BATCHES];

    for (int batch = 0; batch < BATCHES; batch++) {
        uint64_t began = clock_ns(CLOCK_THREAD_CPUTIME_ID);

        for (int i = 0; i < BATCH; i++)
            call_once(call);
        batches[batch] = clock_ns(CLOCK_THREAD_CPUTIME_ID) - began;
    }
    qsort(batches, BATCHES, sizeof(*batches), compare);
    enum { MIDDLE = BATCHES / 2 };

    return (double)batches[MIDDLE] / BATCH;
}

static int try_entry(struct call_counter *counter, const struct trial_call *call,
                     struct error *error)
{
    volatile uint64_t entry = (uintptr_t)called; /* not a function for the compiler, but bytes */
    const struct wire_call_site site = site_of(entry);
    struct call_sums sums;

    if (call_counter_arm(counter, entry, &site, error))
        return -1;
    counter->hit_ns = call_ns(call);
    call_counter_disarm(counter, entry);
    sums = call_counter_sums(counter, WIRE_CALL_TRIAL);
    if (sums.counts.calls != CALLS || sums.missed)
        return breakpoint_missed(CALLS, sums.counts.calls, "hits", error);
    return 0;
}

/* ---- times ---- */

struct trial_times {
    struct wire_time_row buckets[BUCKETS];
    uint64_t calls;
};

static void add_time(void *context, const struct wire_time_key *key,
                     const struct wire_time_row *row)
{
    struct trial_times *times = context;

    if (key->function != WIRE_CALL_TRIAL || key->bucket >= BUCKETS)
        return;
    times->buckets[key->bucket] = *row;
    times->calls += row->calls;
}

static uint64_t median(const struct trial_times *times)
{
    uint64_t calls = 0;

    for (size_t i = 0; i < BUCKETS; i++) {
        calls += times->buckets[i].calls;
        if (calls && calls >= times->calls / 2)
            return times->buckets[i].ns / times->buckets[i].calls;
    }
    return 0;
}

/* What breakpoints add to the time of a call, ns: the time of one that does nothing. */
static int take_own_time(struct call_counter *counter, struct error *error)
{
    struct trial_times *times = xcalloc(1, sizeof(*times));
    uint64_t calls, own;

    call_counter_each_time(counter, add_time, times);
    calls = times->calls;
    own = median(times);
    free(times);
    if (calls != CALLS)
        return breakpoint_missed(CALLS, calls, "returns", error);
    counter->skeleton->bss->own_time = own;
    log_decision("calls", "breakpoints add %llu ns to a call", (unsigned long long)own);
    return 0;
}

/* A call has two hits. */
static int try_return(struct call_counter *counter, const struct trial_call *call,
                      struct error *error)
{
    volatile uint64_t entry = (uintptr_t)called;
    const struct wire_call_site site = site_of(entry);
    uint64_t returned = call_once(call);
    int result;

    if (call_counter_arm(counter, entry, &site, error))
        return -1;
    result = call_counter_arm_return(counter, returned, error);
    if (!result)
        counter->hit_ns = call_ns(call) / 2;
    call_counter_forget_return(counter, returned);
    call_counter_disarm(counter, entry);
    return result ? -1 : take_own_time(counter, error);
}

/* A pattern that the calls of the trial match: ({1, _}, []). */
static int set_pattern(struct call_counter *counter, const struct trial_call *call,
                       struct error *error)
{
    const struct wire_match match = {
        .count = 3,
        .steps = {{.kind = WIRE_MATCH_TUPLE, .slot = 0, .to = TRIAL_ARGUMENTS, .size = 2},
                  {.kind = WIRE_MATCH_EQUAL, .slot = TRIAL_ARGUMENTS, .value = call->tuple[1]},
                  {.kind = WIRE_MATCH_EQUAL, .slot = 1, .value = call->arguments[1]}}};

    return call_counter_match(counter, WIRE_CALL_TRIAL, &match, error);
}

int call_counter_try(struct call_counter *counter, const struct call_counter_options *options,
                     struct error *error)
{
    const struct layout *layout = &counter->vm->layout;
    uint8_t *process = xcalloc(1, (size_t)layout->sizeof_process);
    struct trial_call call = {.process = process};
    int result;

    make_arguments(&call);
    /* The end of its stack is above this one, anywhere. */
    memset(process + layout->process_hend, 0x7f, sizeof(uint64_t));
    counter->tids = xgrow(counter->tids, &counter->tid_room, 0, sizeof(*counter->tids));
    counter->tids[counter->tid_count++] = gettid();
    result = options->matches ? set_pattern(counter, &call, error) : 0;
    if (!result)
        result = try_entry(counter, &call, error);
    if (!result && options->times)
        result = try_return(counter, &call, error);
    counter->tid_count = 0;
    counter->trial_hits = call_counter_hits(counter);
    free(process);
    log_decision("calls", "a hit of a hardware breakpoint costs %.0f ns", counter->hit_ns);
    return result;
}
