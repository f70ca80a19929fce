// SPDX-License-Identifier: Apache-2.0
#include "beam/process_table.h"

#include <stdlib.h>
#include <string.h>

#include "util/alloc.h"

enum {
    AHEAD_LEAST = 128, /* places of the queue that are read in advance */
    AHEAD_MOST = 2048,
    BATCH = 256,
    /* A complete look misses a process whose data have left the queue and whose slot is not filled
     * yet. The next complete look finds that process. */
    LOOKS = 64, /* from one complete look to the next */
    /* If more than one slot in PART is used, reading the whole table is faster. */
    PART = 256,
    /* Slots that begin at most so many bytes apart are read together. The slots of processes that
     * start one after the other are a cache line apart (erl_ptab.h 25.2.3:280). */
    NEAR = 128,
    SLOT = 8,
};

struct live_slot {
    uint64_t index;
    bool is_new; /* the data of the slot have just left the queue: the slot may still be empty */
};

/* The queue from which the VM takes the data of new processes. Only `last` changes. */
struct data_queue {
    uint64_t data; /* address; 0: not known */
    uint64_t invalid;
    uint64_t cl_mask, cli_mask;
    int32_t cl_shift, cli_shift;
    uint32_t last; /* position of the data that were taken last */
};

struct live_slots {
    struct vm *vm;
    const struct pid_encoding *encoding;
    struct live_slot *slots; /* in the order of the table */
    size_t count, room;
    struct ptab table; /* does not change once the VM has begun */
    struct data_queue queue;
    uint32_t last;  /* position in the queue at the last look */
    uint32_t ahead; /* number of data behind it that were read */
    uint64_t data[AHEAD_MOST];
    unsigned looks; /* left until the next complete look; 0: the next one is complete */
    uint64_t complete_looks;
    /* of the current complete look */
    ptab_visit visit;
    void *context;
    bool has_ended; /* the callback ended it */
};

struct live_slots *live_slots_new(struct vm *vm, const struct pid_encoding *encoding)
{
    struct live_slots *live = xcalloc(1, sizeof(*live));

    live->vm = vm;
    live->encoding = encoding;
    return live;
}

void live_slots_free(struct live_slots *live)
{
    if (!live)
        return;
    free(live->slots);
    free(live);
}

uint64_t live_slots_complete_looks(const struct live_slots *live)
{
    return live->complete_looks;
}

static void add(struct live_slots *live, uint64_t index, bool is_new)
{
    live->slots = xgrow(live->slots, &live->room, live->count, sizeof(*live->slots));
    live->slots[live->count++] = (struct live_slot){index, is_new};
}

/* ---- the queue ---- */

/* False if this VM has no queue (+P legacy), or its fields are not known or can't be read. */
static bool find_queue(struct vm *vm, struct data_queue *queue)
{
    const struct layout *layout = &vm->layout;
    uint64_t root = vm->roots.proc_table;

    return layout->ptab_aid_ix >= 0 && layout->ptab_free_id_data >= 0 &&
           layout->ptab_invalid_data >= 0 && layout->ptab_dix_cl_mask >= 0 &&
           layout->ptab_dix_cl_shift >= 0 && layout->ptab_dix_cli_mask >= 0 &&
           layout->ptab_dix_cli_shift >= 0 &&
           memory_read_u64(vm->memory, root + (uint64_t)layout->ptab_invalid_data,
                           &queue->invalid) &&
           ptab_read_mask(vm, root, layout->ptab_dix_cl_mask, &queue->cl_mask) &&
           ptab_read_mask(vm, root, layout->ptab_dix_cli_mask, &queue->cli_mask) &&
           ptab_read_shift(vm, root, layout->ptab_dix_cl_shift, &queue->cl_shift) &&
           ptab_read_shift(vm, root, layout->ptab_dix_cli_shift, &queue->cli_shift) &&
           memory_read_u64(vm->memory, root + (uint64_t)layout->ptab_free_id_data, &queue->data) &&
           queue->data;
}

/* Read where the queue is now. False if there is none. */
static bool look_at_queue(struct live_slots *live)
{
    struct vm *vm = live->vm;
    struct data_queue *queue = &live->queue;

    return (queue->data || find_queue(vm, queue)) &&
           memory_read_u32(vm->memory, vm->roots.proc_table + (uint64_t)vm->layout.ptab_aid_ix,
                           &queue->last);
}

/* The index of a position in the array of data (ix_to_free_id_data_ix(), erl_ptab.c). */
static uint64_t place_of(const struct data_queue *queue, uint32_t position)
{
    return ((position & queue->cl_mask) << queue->cl_shift) +
           (position >> queue->cli_shift & queue->cli_mask);
}

/* Return the number of data to read in advance: twice as many as processes were started since the
 * last look. */
static uint32_t plan_ahead(uint32_t started)
{
    uint64_t wanted = 2 * (uint64_t)started;

    return wanted < AHEAD_LEAST ? AHEAD_LEAST : wanted > AHEAD_MOST ? AHEAD_MOST : (uint32_t)wanted;
}

/* Read data of the queue that were not read yet. Data that can't be read count as invalid. */
static void read_data(struct live_slots *live, const uint32_t *places, size_t count)
{
    const struct data_queue *queue = &live->queue;
    size_t size = live->encoding->wide ? sizeof(uint64_t) : sizeof(uint32_t);
    struct memory_span spans[BATCH];

    for (size_t i = 0; i < count; i++) {
        live->data[places[i]] = 0;
        spans[i] = (struct memory_span){
            .address = queue->data + place_of(queue, queue->last + 1 + places[i]) * size,
            .buffer = &live->data[places[i]],
            .size = size,
        };
    }
    memory_read_spans(live->vm->memory, spans, count);
    for (size_t i = 0; i < count; i++)
        if (!spans[i].is_read)
            live->data[places[i]] = queue->invalid;
}

/* Know the data that the next processes will get. Valid data stay in their place of the queue until
 * a process takes them, so only the others are read. */
static void read_ahead(struct live_slots *live)
{
    const struct data_queue *queue = &live->queue;
    uint32_t started = queue->last - live->last, places[BATCH];
    uint32_t kept = started < live->ahead ? live->ahead - started : 0;
    size_t count = 0;

    if (kept)
        memmove(live->data, live->data + started, kept * sizeof(*live->data));
    live->last = queue->last;
    live->ahead = plan_ahead(started);
    for (uint32_t i = 0; i < live->ahead; i++) {
        if (i < kept && live->data[i] != queue->invalid)
            continue;
        places[count++] = i;
        if (count == BATCH) {
            read_data(live, places, count);
            count = 0;
        }
    }
    read_data(live, places, count);
}

/* Add the slots of the data that have left the queue since the last look. False if not all of these
 * data were read in advance. */
static bool add_started(struct live_slots *live)
{
    uint32_t started = live->queue.last - live->last;

    if (started > live->ahead)
        return false;
    for (uint32_t i = 0; i < started; i++) {
        if (live->data[i] == live->queue.invalid)
            return false;
        add(live, pid_encoding_index_of_data(live->encoding, live->data[i]), true);
    }
    return true;
}

/* ---- looks ---- */

static bool note(void *context, uint64_t index, uint64_t address)
{
    struct live_slots *live = context;

    add(live, index, false);
    live->has_ended = !live->visit(live->context, index, address);
    return !live->has_ended;
}

static int look_at_all(struct live_slots *live, bool has_queue, ptab_visit visit, void *context,
                       struct error *error)
{
    bool is_complete;
    int result;

    live->complete_looks++;
    live->count = 0;
    live->visit = visit;
    live->context = context;
    live->has_ended = false;
    result = process_table_each(live->vm, note, live, error);
    is_complete = !result && !live->has_ended &&
                  ptab_read(live->vm, live->vm->roots.proc_table, &live->table) &&
                  live->count < live->table.max / PART;
    live->looks = has_queue && is_complete ? LOOKS : 0;
    return result;
}

static int compare(const void *a, const void *b)
{
    const struct live_slot *x = a, *y = b;

    return (x->index > y->index) - (x->index < y->index);
}

/* Sort the slots, and keep one of those that were added twice. */
static void sort(struct live_slots *live)
{
    size_t kept = 0;

    if (live->count)
        qsort(live->slots, live->count, sizeof(*live->slots), compare);
    for (size_t i = 0; i < live->count; i++) {
        if (kept && live->slots[kept - 1].index == live->slots[i].index)
            live->slots[kept - 1].is_new |= live->slots[i].is_new;
        else
            live->slots[kept++] = live->slots[i];
    }
    live->count = kept;
}

/* The values of known slots. */
struct slot_values {
    uint8_t bytes[BATCH * NEAR];
    struct memory_span spans[BATCH]; /* of neighbours */
    size_t span_of[BATCH];           /* by slot */
    size_t offset[BATCH];            /* in the span */
};

/* Read `count` slots, at most BATCH. */
static void read_slots(const struct live_slots *live, const struct live_slot *slots, size_t count,
                       struct slot_values *values)
{
    uint8_t *room = values->bytes;
    struct memory_span *span = NULL;
    size_t spans = 0;

    for (size_t i = 0; i < count; i++) {
        uint64_t address = live->table.slots + slots[i].index * SLOT;

        if (!span || (slots[i].index - slots[i - 1].index) * SLOT > NEAR) {
            span = &values->spans[spans++];
            *span = (struct memory_span){.address = address, .buffer = room};
        }
        values->span_of[i] = spans - 1;
        values->offset[i] = address - span->address;
        room += values->offset[i] + SLOT - span->size;
        span->size = values->offset[i] + SLOT;
    }
    memory_read_spans(live->vm->memory, values->spans, spans);
}

/* Return the address of a process, or what else is in the slot. False if it could not be read. */
static bool slot_value(const struct slot_values *values, size_t slot, uint64_t *value)
{
    const struct memory_span *span = &values->spans[values->span_of[slot]];

    if (!span->is_read)
        return false;
    memcpy(value, (const uint8_t *)span->buffer + values->offset[slot], SLOT);
    return true;
}

/* Visit the processes in the known slots; forget the slots that are empty. */
static void look_at_known(struct live_slots *live, ptab_visit visit, void *context)
{
    const struct ptab *table = &live->table;
    struct slot_values values;
    size_t kept = 0;
    bool more = true;

    for (size_t at = 0; at < live->count; at += BATCH) {
        size_t some = live->count - at < BATCH ? live->count - at : BATCH;

        read_slots(live, live->slots + at, some, &values);
        for (size_t i = 0; i < some; i++) {
            struct live_slot slot = live->slots[at + i];
            uint64_t value;
            bool is_read = slot_value(&values, i, &value);
            bool is_used = slot.index < table->max && is_read && value && value != table->invalid;

            if (is_used && more)
                more = visit(context, slot.index, value);
            if (is_used || slot.is_new || !is_read)
                live->slots[kept++] = (struct live_slot){slot.index, false};
        }
    }
    live->count = kept;
}

int live_slots_each(struct live_slots *live, ptab_visit visit, void *context, struct error *error)
{
    bool has_queue = look_at_queue(live);
    bool is_known = has_queue && live->looks && add_started(live);

    if (has_queue)
        read_ahead(live);
    if (!is_known)
        return look_at_all(live, has_queue, visit, context, error);
    live->looks--;
    sort(live);
    look_at_known(live, visit, context);
    return 0;
}
