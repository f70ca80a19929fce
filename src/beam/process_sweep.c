// SPDX-License-Identifier: Apache-2.0
#include "beam/process_sweep.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "beam/gdb_jit.h"
#include "beam/process_info.h"
#include "beam/process_table.h"
#include "beam/term.h"
#include "util/alloc.h"
#include "util/random.h"
#include "wire.h"

enum {
    BATCH = 256,
    TRIES = 4, /* to read a process and its stack, until it counts as torn */
    STACK_ROOM = WIRE_ERLANG_LEAF_BYTES + WIRE_ERLANG_ROOT_BYTES,
    STACK_SPANS = 3, /* leaf part, root part, and the struct again */
    CODE_SPANS = 1,  /* after those of all stacks: the head of the JIT's list of code */
};

/* For a share of the processes below this, only single cache lines of the table are read. The
 * table has up to a million slots (+P), most of them empty, and reading all of it would fill the
 * caches. */
static const double LINES_SHARE = 1.0 / 32;

struct swept_slot {
    uint64_t index, address;
    const uint8_t *bytes; /* NULL: not read */
};

struct sweep_room {
    struct swept_slot entries[BATCH]; /* in the order of the table */
    struct swept_slot *by_address[BATCH];
    struct memory_span spans[BATCH * STACK_SPANS + CODE_SPANS];
    struct swept_process swept[BATCH]; /* the processes to visit */
    bool is_torn[BATCH];
    size_t size;      /* of a struct, the largest of all VMs */
    uint8_t *structs; /* 2 * BATCH structs: a gap between neighbours is smaller than one */
    uint8_t *again;   /* BATCH structs, read after the stacks */
    uint8_t *stacks;  /* BATCH times STACK_ROOM */
};

struct process_sweep {
    struct vm *vm;
    struct pid_encoding encoding;
    struct live_slots *live;
    size_t size; /* of a struct */
    struct sweep_room *room;
    /* of the current run */
    size_t count;             /* entries of the room */
    uint64_t code_generation; /* after the stacks were read */
    const struct sweep_request *request;
    struct sweep_counts *counts;
    uint64_t chance; /* state of a xorshift generator (Marsaglia, 2003) */
    uint64_t bound;  /* random numbers up to it choose a process */
};

struct sweep_room *sweep_room_new(void)
{
    struct sweep_room *room = xcalloc(1, sizeof(*room));

    room->stacks = xmalloc((size_t)BATCH * STACK_ROOM);
    return room;
}

void sweep_room_free(struct sweep_room *room)
{
    if (!room)
        return;
    free(room->structs);
    free(room->again);
    free(room->stacks);
    free(room);
}

static void make_room(struct sweep_room *room, size_t size)
{
    if (size <= room->size)
        return;
    room->size = size;
    room->structs = xrealloc(room->structs, 2 * size * BATCH);
    room->again = xrealloc(room->again, size * BATCH);
}

struct process_sweep *process_sweep_new(struct vm *vm, struct sweep_room *room, struct error *error)
{
    struct process_sweep *sweep = xcalloc(1, sizeof(*sweep));

    sweep->vm = vm;
    sweep->chance = random_word() | 1; /* 0 stays 0 */
    sweep->size = (size_t)vm->layout.sizeof_process;
    sweep->room = room;
    if (pid_encoding_read(vm, &sweep->encoding, error)) {
        free(sweep);
        return NULL;
    }
    make_room(room, sweep->size);
    sweep->live = live_slots_new(vm, &sweep->encoding);
    return sweep;
}

void process_sweep_free(struct process_sweep *sweep)
{
    if (!sweep)
        return;
    live_slots_free(sweep->live);
    free(sweep);
}

static bool is_running(const struct process_sweep *sweep, const uint8_t *bytes)
{
    return process_info_is_running(process_info_state(sweep->vm, bytes));
}

static void visit_process(struct process_sweep *sweep, const struct swept_process *process)
{
    sweep->counts->processes++;
    sweep->request->visit(sweep->request->context, process);
}

uint64_t swept_process_id(const struct vm *vm, const struct swept_process *process)
{
    return layout_word(process->bytes, vm->layout.process_id);
}

enum process_status swept_process_status(const struct vm *vm, const struct swept_process *process)
{
    return process_info_status(vm, process_info_state(vm, process->bytes));
}

/* ---- structs ---- */

static int compare_addresses(const void *a, const void *b)
{
    const struct swept_slot *const *x = a, *const *y = b;

    return ((*x)->address > (*y)->address) - ((*x)->address < (*y)->address);
}

static void sort_by_address(struct process_sweep *sweep)
{
    for (size_t i = 0; i < sweep->count; i++)
        sweep->room->by_address[i] = &sweep->room->entries[i];
    qsort(sweep->room->by_address, sweep->count, sizeof(*sweep->room->by_address),
          compare_addresses);
}

/* Make one span of the entries that are neighbours in memory. Returns their number. */
static size_t span_neighbours(const struct process_sweep *sweep, size_t first,
                              struct memory_span *span)
{
    struct swept_slot *const *entries = sweep->room->by_address;
    size_t last = first;

    while (last + 1 < sweep->count &&
           entries[last + 1]->address - entries[last]->address <= 2 * sweep->size)
        last++;
    span->address = entries[first]->address;
    span->size = entries[last]->address - span->address + sweep->size;
    return last + 1 - first;
}

/* If a span of neighbours can't be read, some of its structs still can. */
static void read_singly(struct process_sweep *sweep, struct swept_slot *const *entries,
                        size_t count, uint8_t *buffer)
{
    for (size_t i = 0; i < count; i++, buffer += sweep->size)
        if (memory_read(sweep->vm->memory, entries[i]->address, buffer, sweep->size))
            entries[i]->bytes = buffer;
}

/* True if the struct is the process at this index, and not another process in the same memory. */
static bool is_of_index(const struct process_sweep *sweep, const uint8_t *bytes, uint64_t index)
{
    uint64_t id = layout_word(bytes, sweep->vm->layout.process_id);

    return term_is_pid(id) && pid_encoding_index(&sweep->encoding, id) == index;
}

static void read_structs(struct process_sweep *sweep)
{
    uint8_t *buffer = sweep->room->structs;
    size_t spans = 0, counts[BATCH];

    sort_by_address(sweep);
    for (size_t at = 0; at < sweep->count; at += counts[spans++]) {
        counts[spans] = span_neighbours(sweep, at, &sweep->room->spans[spans]);
        sweep->room->spans[spans].buffer = buffer;
        buffer += sweep->room->spans[spans].size;
    }
    memory_read_spans(sweep->vm->memory, sweep->room->spans, spans);
    for (size_t span = 0, at = 0; span < spans; at += counts[span++]) {
        const struct memory_span *read = &sweep->room->spans[span];

        if (!read->is_read)
            read_singly(sweep, sweep->room->by_address + at, counts[span], read->buffer);
        for (size_t i = at; read->is_read && i < at + counts[span]; i++)
            sweep->room->by_address[i]->bytes =
                (uint8_t *)read->buffer + (sweep->room->by_address[i]->address - read->address);
    }
}

/* ---- stacks ---- */

static uint64_t process_stop(const struct process_sweep *sweep, const uint8_t *bytes)
{
    return layout_word(bytes, sweep->vm->layout.process_stop);
}

/* Make the spans to read after the struct of a process: its stack from `top` up, and its struct
 * again. Returns the number of spans. */
static size_t span_stack(const struct process_sweep *sweep, const struct swept_process *process,
                         uint64_t top, uint8_t *stack, uint8_t *again, struct memory_span *spans)
{
    uint64_t hend = layout_word(process->bytes, sweep->vm->layout.process_hend);
    size_t size = hend > top && !(top & 7) && !(hend & 7) ? hend - top : 0, count = 0;

    if (size > STACK_ROOM) {
        spans[count++] = (struct memory_span){top, stack, WIRE_ERLANG_LEAF_BYTES, false};
        top = hend - WIRE_ERLANG_ROOT_BYTES;
        stack += WIRE_ERLANG_LEAF_BYTES;
        size = WIRE_ERLANG_ROOT_BYTES;
    }
    if (size)
        spans[count++] = (struct memory_span){top, stack, size, false};
    spans[count++] = (struct memory_span){process->address, again, sweep->size, false};
    return count;
}

/* Read the stacks, and then the code's generation: it is the old one only if no code was loaded
 * before the last stack was read. `spans` has room for one more. */
static void read_stacks(struct process_sweep *sweep, struct memory_span *spans, size_t count)
{
    sweep->code_generation = 0;
    spans[count] = (struct memory_span){
        .address = sweep->vm->roots.jit_descriptor + GDB_JIT_FIRST_ENTRY,
        .buffer = &sweep->code_generation,
        .size = sizeof(sweep->code_generation),
    };
    memory_read_spans(sweep->vm->memory, spans, count + CODE_SPANS);
}

/* Accept the stack if the struct has not changed since it was read. */
static bool take_stack(const struct process_sweep *sweep, const struct memory_span *spans,
                       size_t count, struct swept_process *process)
{
    const struct memory_span *again = &spans[count - 1];

    process->stack_count = 0;
    process->code_generation = sweep->code_generation;
    if (!again->is_read || process_info_has_run(sweep->vm, process->bytes, again->buffer))
        return false;
    for (size_t i = 0; i < count - 1; i++)
        if (spans[i].is_read)
            process->stacks[process->stack_count++] =
                (struct swept_stack){spans[i].address, spans[i].buffer, spans[i].size};
    return true;
}

bool process_sweep_stack(struct process_sweep *sweep, struct swept_process *process, uint64_t top)
{
    struct memory_span spans[STACK_SPANS + CODE_SPANS];
    size_t count = span_stack(sweep, process, top, sweep->room->stacks,
                              sweep->room->again + sweep->size, spans);

    read_stacks(sweep, spans, count);
    return take_stack(sweep, spans, count, process);
}

enum swept process_sweep_again(struct process_sweep *sweep, uint64_t address, uint64_t id,
                               struct swept_process *process)
{
    uint8_t *bytes = sweep->room->again;

    *process = (struct swept_process){.address = address, .bytes = bytes};
    for (int i = 0; i < TRIES; i++) {
        if (!memory_read(sweep->vm->memory, address, bytes, sweep->size) ||
            swept_process_id(sweep->vm, process) != id)
            return SWEPT_GONE;
        process->is_running = is_running(sweep, bytes);
        if (process->is_running)
            return SWEPT_RUNNING;
        if (process_sweep_stack(sweep, process, process_stop(sweep, bytes)))
            return SWEPT_AT_REST;
    }
    return SWEPT_RUNNING;
}

static void visit_again(struct process_sweep *sweep, const struct swept_process *torn)
{
    struct swept_process process;

    switch (
        process_sweep_again(sweep, torn->address, swept_process_id(sweep->vm, torn), &process)) {
    case SWEPT_AT_REST:
        visit_process(sweep, &process);
        break;
    case SWEPT_RUNNING:
        if (process.is_running)
            visit_process(sweep, &process);
        else
            sweep->counts->torn++;
        break;
    case SWEPT_GONE:
        sweep->counts->gone++;
        break;
    }
}

/* A process that has run meanwhile is read again after the others are visited, because its reading
 * overwrites their buffers. */
static void visit_with_stacks(struct process_sweep *sweep, size_t count)
{
    size_t spans = 0, at = 0, counts[BATCH];

    for (size_t i = 0; i < count; spans += counts[i++])
        counts[i] =
            sweep->room->swept[i].is_running || sweep->room->swept[i].is_known
                ? 0
                : span_stack(sweep, &sweep->room->swept[i],
                             process_stop(sweep, sweep->room->swept[i].bytes),
                             sweep->room->stacks + i * STACK_ROOM,
                             sweep->room->again + i * sweep->size, sweep->room->spans + spans);
    read_stacks(sweep, sweep->room->spans, spans);
    for (size_t i = 0; i < count; at += counts[i++]) {
        sweep->room->is_torn[i] = counts[i] && !take_stack(sweep, sweep->room->spans + at,
                                                           counts[i], &sweep->room->swept[i]);
        if (!sweep->room->is_torn[i])
            visit_process(sweep, &sweep->room->swept[i]);
    }
    for (size_t i = 0; i < count; i++)
        if (sweep->room->is_torn[i])
            visit_again(sweep, &sweep->room->swept[i]);
}

/* ---- the run ---- */

static void set_known(const struct process_sweep *sweep, struct swept_process *process)
{
    const struct sweep_request *request = sweep->request;

    process->is_known =
        request->is_known && !process->is_running && request->is_known(request->context, process);
}

static void visit_batch(struct process_sweep *sweep)
{
    const struct sweep_request *request = sweep->request;
    size_t wanted = 0;

    read_structs(sweep);
    for (size_t i = 0; i < sweep->count; i++) {
        const struct swept_slot *entry = &sweep->room->entries[i];

        if (!entry->bytes || !is_of_index(sweep, entry->bytes, entry->index)) {
            sweep->counts->gone++;
            continue;
        }
        sweep->room->swept[wanted++] = (struct swept_process){
            .index = entry->index,
            .address = entry->address,
            .bytes = entry->bytes,
            .is_running = is_running(sweep, entry->bytes),
        };
        set_known(sweep, &sweep->room->swept[wanted - 1]);
    }
    if (request->with_stacks)
        visit_with_stacks(sweep, wanted);
    for (size_t i = 0; i < wanted && !request->with_stacks; i++)
        visit_process(sweep, &sweep->room->swept[i]);
    sweep->count = 0;
}

static uint64_t by_chance(struct process_sweep *sweep)
{
    sweep->chance ^= sweep->chance << 13;
    sweep->chance ^= sweep->chance >> 7;
    sweep->chance ^= sweep->chance << 17;
    return sweep->chance;
}

/* The number of table lines to skip before the next line to read, if each line is read with the
 * requested chance of a process: the geometric distribution (Knuth, volume 2, 3.4.1 F). */
static uint64_t skip_lines(void *context)
{
    struct process_sweep *sweep = context;
    double uniform = ((double)(by_chance(sweep) >> 11) + 0.5) * 0x1p-53;

    return (uint64_t)(log(uniform) / log1p(-sweep->request->share));
}

static bool add_entry(void *context, uint64_t index, uint64_t address)
{
    struct process_sweep *sweep = context;

    if (by_chance(sweep) > sweep->bound)
        return true;
    sweep->room->entries[sweep->count++] = (struct swept_slot){index, address, NULL};
    if (sweep->count == BATCH)
        visit_batch(sweep);
    return true;
}

int process_sweep_run(struct process_sweep *sweep, const struct sweep_request *request,
                      struct sweep_counts *counts, struct error *error)
{
    bool all = request->share <= 0 || request->share >= 1;
    bool by_lines = !all && !request->indices && request->share < LINES_SHARE;
    int result;

    sweep->request = request;
    sweep->counts = counts;
    sweep->count = 0;
    sweep->bound = all || by_lines ? UINT64_MAX : (uint64_t)(request->share * (double)UINT64_MAX);
    if (request->indices)
        result = process_table_some(sweep->vm, request->indices, request->index_count, add_entry,
                                    sweep, error);
    else if (by_lines)
        result = process_table_lines(sweep->vm, skip_lines, add_entry, sweep, error);
    else
        result = live_slots_each(sweep->live, add_entry, sweep, error);
    visit_batch(sweep);
    return result;
}
