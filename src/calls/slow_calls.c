// SPDX-License-Identifier: Apache-2.0
#include "calls/slow_calls.h"

#include <stdlib.h>

#include "util/alloc.h"
#include "util/clock.h"

enum {
    CALLS_MAX = 10000, /* that are kept: the longest */
    ROOM = 2 * CALLS_MAX,
    TAG_BITS = 3, /* of a term; a return address has none of them (erl_term.h 29.1.1, is_CP) */
};

struct slow_calls {
    struct call_counter *counter;
    struct code *code;
    struct call_names *names;
    const struct call_arguments *arguments; /* NULL: they are not copied */
    struct slow_call *of;
    size_t count, room;
    uint64_t unlisted;
};

struct slow_calls *slow_calls_new(struct call_counter *counter, struct code *code,
                                  struct call_names *names, const struct call_arguments *arguments)
{
    struct slow_calls *slow = xcalloc(1, sizeof(*slow));

    *slow = (struct slow_calls){
        .counter = counter, .code = code, .names = names, .arguments = arguments};
    return slow;
}

static void free_call(struct slow_call *call)
{
    free(call->arguments);
    free(call->stack);
}

void slow_calls_free(struct slow_calls *slow)
{
    if (!slow)
        return;
    for (size_t i = 0; i < slow->count; i++)
        free_call(&slow->of[i]);
    free(slow->of);
    free(slow);
}

static struct call_named name_caller(const struct slow_calls *slow, uint64_t address, uint32_t code)
{
    const struct wire_call_key key = {.code = code, .who = address};

    call_names_see_caller(slow->names, &key);
    return call_names_caller(slow->names, &key);
}

static struct call_named name_process(const struct slow_calls *slow, uint64_t pid)
{
    const struct wire_call_key key = {.who = pid};

    call_names_see_process(slow->names, &key);
    return call_names_process(slow->names, &key);
}

static void name_stack(const struct slow_calls *slow, const struct wire_slow_call *from,
                       struct slow_call *call)
{
    uint64_t end = code_normal_exit(slow->code);

    call->stack = xcalloc(1 + from->words, sizeof(*call->stack));
    call->stack[call->depth++] = name_caller(slow, from->caller, from->code);
    for (uint32_t i = 0; i < from->words; i++) {
        uint64_t word = from->stack[i];

        if (!(word & TAG_BITS) && word != end && code_contains(slow->code, word - 1))
            call->stack[call->depth++] = name_caller(slow, word, from->code);
    }
}

static int compare(const void *a, const void *b)
{
    const struct slow_call *x = a, *y = b;

    return x->took == y->took ? (x->ended > y->ended) - (x->ended < y->ended)
                              : (x->took < y->took) - (x->took > y->took);
}

/* Keep the longest calls. */
static void sort(struct slow_calls *slow)
{
    if (slow->count)
        qsort(slow->of, slow->count, sizeof(*slow->of), compare);
    for (; slow->count > CALLS_MAX; slow->unlisted++)
        free_call(&slow->of[--slow->count]);
}

static void add(void *context, const struct wire_slow_call *from)
{
    struct slow_calls *slow = context;
    uint64_t age = clock_ns(CLOCK_MONOTONIC) - from->ended;
    struct slow_call *call;

    if (slow->count == ROOM)
        sort(slow);
    slow->of = xgrow(slow->of, &slow->room, slow->count, sizeof(*slow->of));
    call = &slow->of[slow->count++];
    *call = (struct slow_call){.ended = clock_ns(CLOCK_REALTIME) - age,
                               .took = from->took,
                               .function = from->function,
                               .is_split = from->is_split,
                               .split = call_split_sums(&from->split),
                               .process = name_process(slow, from->pid)};
    if (slow->arguments && from->has_arguments)
        call->arguments = call_arguments_text(slow->arguments, &from->arguments, &call->is_cut);
    name_stack(slow, from, call);
}

void slow_calls_read(struct slow_calls *slow)
{
    call_counter_each_slow(slow->counter, add, slow);
}

const struct slow_call *slow_calls_list(struct slow_calls *slow, size_t *ret_count)
{
    sort(slow);
    *ret_count = slow->count;
    return slow->of;
}

uint64_t slow_calls_unlisted(const struct slow_calls *slow)
{
    return slow->unlisted;
}
