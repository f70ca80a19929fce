// SPDX-License-Identifier: Apache-2.0
#include "calls/call_followed.h"

#include <stdlib.h>

#include "beam/pid_encoding.h"
#include "beam/process_table.h"
#include "util/alloc.h"
#include "util/clock.h"
#include "util/intern.h"
#include "util/random.h"

enum {
    LOOK_FIRST_NS = 2000000,   /* between looks until there is a caller, and after a new one */
    LOOK_LAST_NS = 50000000,   /* the time doubles until then */
    STOP_AGE_NS = 1000000000,  /* Process.stop is never older */
    SWEEP_NS = 1000000000,     /* between looks for calls that can't return any more */
    LOOK_COST = 100,           /* looks may take a hundredth of a CPU, */
    LOOK_MOST_NS = 2000000000, /* but the time between two is never longer than this */
    TURN_NS = 500000000,
};

/* The addresses that calls of the function return to. */
struct callers {
    uint64_t *of;
    size_t count, room;
};

struct call_followed {
    struct vm *vm;
    struct code *code;
    struct call_counter *counter;
    struct pid_encoding encoding;
    uint32_t function;
    size_t breakpoints; /* that may be used */
    size_t free;        /* that other programs leave of these */
    uint64_t armed[WIRE_CALL_AT_ONCE];
    size_t armed_count;
    size_t known;     /* callers at the last look */
    bool has_turns;   /* there were more callers than breakpoints */
    uint64_t look_ns; /* between the last look and the next one */
    uint64_t next_look, next_turn, next_sweep;
    struct intern keys;       /* struct wire_call_key */
    struct call_times *times; /* by id of the key */
    size_t times_room;
    struct call_unreturned unreturned[WIRE_CALL_FUNCTIONS];
};

struct call_followed *call_followed_new(struct vm *vm, struct code *code,
                                        struct call_counter *counter, struct error *error)
{
    struct call_followed *followed = xcalloc(1, sizeof(*followed));

    *followed = (struct call_followed){.vm = vm, .code = code, .counter = counter};
    intern_init(&followed->keys, sizeof(struct wire_call_key), sizeof(struct wire_call_key));
    if (pid_encoding_read(vm, &followed->encoding, error) == 0)
        return followed;
    call_followed_free(followed);
    return NULL;
}

void call_followed_free(struct call_followed *followed)
{
    if (!followed)
        return;
    for (uint32_t id = 1; id <= followed->keys.count; id++)
        call_times_free(&followed->times[id]);
    intern_free(&followed->keys);
    free(followed->times);
    free(followed);
}

/* ---- times ---- */

static struct call_times *times_of(struct call_followed *followed, const struct wire_call_key *key)
{
    uint32_t before = followed->keys.count, id = intern_add(&followed->keys, key);

    followed->times = xgrow(followed->times, &followed->times_room, id, sizeof(*followed->times));
    if (id > before)
        followed->times[id] = (struct call_times){0};
    return &followed->times[id];
}

/* Why open calls are visited. */
struct closing {
    struct call_followed *followed;
    uint64_t now;
    bool only_dead; /* leave those that can return */
};

static bool is_alive(const struct call_followed *followed, const struct wire_call_frame *frame,
                     const struct wire_open_call *call)
{
    return process_table_at(followed->vm, pid_encoding_index(&followed->encoding, call->pid)) ==
           frame->process;
}

/* True if the process still has the call on its stack. What Process.stop says is as old as the
 * process has been running, which is some milliseconds. */
static bool is_on_stack(const struct closing *closing, const struct wire_call_frame *frame,
                        const struct wire_open_call *call)
{
    struct memory *memory = closing->followed->vm->memory;
    const struct layout *layout = &closing->followed->vm->layout;
    uint64_t end, stop, word;

    if (!memory_read_u64(memory, frame->process + (uint64_t)layout->process_hend, &end) ||
        !memory_read_u64(memory, frame->process + (uint64_t)layout->process_stop, &stop) ||
        !memory_read_u64(memory, end - frame->depth, &word))
        return true;
    return word == call->caller &&
           (stop <= end - frame->depth || closing->now - call->began < STOP_AGE_NS);
}

static bool close_call(void *context, const struct wire_call_frame *frame,
                       const struct wire_open_call *call)
{
    const struct closing *closing = context;
    struct call_followed *followed = closing->followed;
    const struct wire_call_key key = {
        .function = call->function, .code = call->code, .who = call->caller};

    if (call->function >= WIRE_CALL_FUNCTIONS || closing->now < call->began)
        return !closing->only_dead;
    if (!is_alive(followed, frame, call))
        followed->unreturned[call->function].ended++;
    else if (!is_on_stack(closing, frame, call))
        followed->unreturned[call->function].passed++;
    else if (closing->only_dead)
        return false;
    else
        call_times_add_open(times_of(followed, &key), closing->now - call->began,
                            (double)call->weight);
    return true;
}

void call_followed_close(struct call_followed *followed, uint64_t now)
{
    call_counter_each_open(followed->counter, close_call, &(struct closing){followed, now, false});
}

static void add_returned(void *context, const struct wire_time_key *key,
                         const struct wire_time_row *row)
{
    const struct wire_call_key of = {
        .function = key->function, .code = key->code, .who = key->caller};

    if (key->function < WIRE_CALL_FUNCTIONS)
        call_times_add_returned(times_of(context, &of), key->bucket, row);
}

static void add_part(void *context, const struct wire_part_key *key,
                     const struct wire_part_row *row)
{
    const struct wire_call_key of = {
        .function = key->time.function, .code = key->time.code, .who = key->time.caller};

    if (key->time.function < WIRE_CALL_FUNCTIONS)
        call_times_add_part(times_of(context, &of), key, row);
}

void call_followed_collect(struct call_followed *followed)
{
    call_counter_each_time(followed->counter, add_returned, followed);
    call_counter_each_part(followed->counter, add_part, followed);
}

const struct call_times *call_followed_times(const struct call_followed *followed,
                                             const struct wire_call_key *key)
{
    uint32_t id = intern_find(&followed->keys, key);

    return id ? &followed->times[id] : NULL;
}

struct call_unreturned call_followed_unreturned(const struct call_followed *followed,
                                                uint32_t function)
{
    struct call_unreturned unreturned = followed->unreturned[function];
    struct call_sums sums = call_counter_sums(followed->counter, function);

    unreturned.passed += sums.counts.replaced;
    unreturned.ended += sums.counts.ended;
    unreturned.no_room = sums.counts.no_room;
    unreturned.untimed = sums.counts.untimed;
    unreturned.unsplit = sums.counts.unsplit;
    return unreturned;
}

/* ---- callers ---- */

static bool has(const uint64_t *addresses, size_t count, uint64_t address)
{
    for (size_t i = 0; i < count; i++)
        if (addresses[i] == address)
            return true;
    return false;
}

static void add_address(struct callers *callers, uint64_t address)
{
    callers->of = xgrow(callers->of, &callers->room, callers->count, sizeof(*callers->of));
    callers->of[callers->count++] = address;
}

struct looking {
    struct call_followed *followed;
    uint32_t code;
    struct callers callers;
};

/* The VM's memory can have anything where a return address is expected. */
static bool is_code(const struct call_followed *followed, uint64_t address)
{
    return address == code_normal_exit(followed->code) ||
           code_contains(followed->code, address - 1);
}

static void see_caller(void *context, const struct wire_call_key *key,
                       const struct wire_call_row *row)
{
    struct looking *looking = context;

    (void)row;
    if (key->function == looking->followed->function && key->code == looking->code &&
        is_code(looking->followed, key->who))
        add_address(&looking->callers, key->who);
}

/* Stop following calls. Calls that have not returned are open ones. */
static void disarm(struct call_followed *followed, uint64_t now)
{
    while (followed->armed_count)
        call_counter_forget_return(followed->counter, followed->armed[--followed->armed_count]);
    call_followed_close(followed, now);
}

/* Follow a caller, unless other programs use the remaining breakpoints now. */
static int arm(struct call_followed *followed, uint64_t address, struct error *error)
{
    if (call_counter_arm_return(followed->counter, address, error) == 0) {
        followed->armed[followed->armed_count++] = address;
        return 0;
    }
    if (error->code != ERROR_UNSUPPORTED || !followed->armed_count)
        return -1;
    followed->free = followed->armed_count;
    return 0;
}

/* Follow some callers, chosen at random; those that are followed already stay. */
static int choose(struct call_followed *followed, struct callers *callers, struct error *error)
{
    for (size_t i = 0; i < callers->count; i++) {
        size_t j = i + random_word() % (callers->count - i);
        uint64_t address = callers->of[j];

        callers->of[j] = callers->of[i];
        if (has(followed->armed, followed->armed_count, address))
            continue;
        if (followed->armed_count < followed->free && arm(followed, address, error))
            return -1;
    }
    return 0;
}

/* Let other callers have their turn, if there are more than breakpoints. */
static void begin_turn(struct call_followed *followed, const struct callers *callers, uint64_t now)
{
    if (now < followed->next_turn || callers->count <= followed->free)
        return;
    followed->has_turns = true;
    followed->next_turn = now + TURN_NS;
    disarm(followed, now);
    followed->free = followed->breakpoints;
}

/* Remove calls that can't return any more, so that they don't fill the map. */
static void sweep(struct call_followed *followed, uint64_t now)
{
    if (now < followed->next_sweep)
        return;
    call_counter_each_open(followed->counter, close_call, &(struct closing){followed, now, true});
    followed->next_sweep = now + SWEEP_NS;
}

/* The time to the next look, after one without a new caller. `cpu` is the CPU time of the look. */
static uint64_t next_pause(const struct call_followed *followed, uint64_t cpu)
{
    uint64_t pause = followed->armed_count ? 2 * followed->look_ns : LOOK_FIRST_NS;

    if (pause > LOOK_LAST_NS)
        pause = LOOK_LAST_NS;
    if (pause < LOOK_COST * cpu)
        pause = LOOK_COST * cpu;
    return pause < LOOK_MOST_NS ? pause : LOOK_MOST_NS;
}

int call_followed_look(struct call_followed *followed, uint32_t code, uint64_t now,
                       uint64_t *ret_next, struct error *error)
{
    struct looking looking = {.followed = followed, .code = code};
    uint64_t cpu = clock_ns(CLOCK_THREAD_CPUTIME_ID);
    int result;

    *ret_next = followed->next_look;
    if (now < followed->next_look)
        return 0;
    call_counter_each(followed->counter, CALL_MAP_CALLERS, see_caller, &looking);
    begin_turn(followed, &looking.callers, now);
    result = choose(followed, &looking.callers, error);
    sweep(followed, now);
    cpu = clock_ns(CLOCK_THREAD_CPUTIME_ID) - cpu;
    followed->look_ns =
        looking.callers.count > followed->known ? LOOK_FIRST_NS : next_pause(followed, cpu);
    followed->known = looking.callers.count;
    free(looking.callers.of);
    *ret_next = followed->next_look = now + followed->look_ns;
    return result;
}

/* ---- changes ---- */

void call_followed_stop(struct call_followed *followed, uint64_t now)
{
    disarm(followed, now);
    followed->known = 0;
    followed->look_ns = LOOK_FIRST_NS;
    followed->next_look = followed->next_turn = 0;
}

void call_followed_function(struct call_followed *followed, uint32_t function, size_t breakpoints)
{
    followed->function = function;
    followed->breakpoints = followed->free = breakpoints;
}

uint64_t call_followed_turn(const struct call_followed *followed)
{
    return followed->has_turns ? TURN_NS : 0;
}
