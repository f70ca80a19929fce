// SPDX-License-Identifier: Apache-2.0
#include "beam/process_table.h"

#include <stdlib.h>

#include "util/alloc.h"
#include "vm_constants.h"

enum {
    CHUNK = 32768,
    SOME = 512,
    LINE = 8, /* slots per cache line */
    LINES = 128,
};

/* The needed fields of an ErtsPTab. */
struct slot_table {
    uint64_t slots, invalid; /* address; value of a slot that is reserved */
    uint32_t max;            /* number of slots */
};

static bool read_table(struct vm *vm, uint64_t root, struct slot_table *table)
{
    const struct layout *layout = &vm->layout;

    return root && memory_read_u64(vm->memory, root + layout->ptab_tab, &table->slots) &&
           memory_read_u64(vm->memory, root + layout->ptab_invalid_element, &table->invalid) &&
           memory_read_u32(vm->memory, root + layout->ptab_max, &table->max) &&
           table->max <= ERTS_PTAB_MAX_SIZE;
}

static int unreadable(const struct vm *vm, const char *what, struct error *error)
{
    return error_set(error, ERROR_UNSUPPORTED, "the %s table of process %d can't be read", what,
                     vm->pid);
}

/* Visit the entries of a chunk of slots; false if a callback ended the visit. */
static bool visit_slots(const uint64_t *slots, uint32_t count, uint64_t first, uint64_t invalid,
                        table_visit visit, void *context)
{
    for (uint32_t i = 0; i < count; i++) {
        if (slots[i] && slots[i] != invalid && !visit(context, first + i, slots[i]))
            return false;
    }
    return true;
}

static int table_each(struct vm *vm, uint64_t root, const char *what, table_visit visit,
                      void *context, struct error *error)
{
    uint64_t *chunk = xmalloc(CHUNK * sizeof(*chunk));
    struct slot_table table;
    bool readable = read_table(vm, root, &table), more = true;

    for (uint32_t at = 0; readable && more && at < table.max; at += CHUNK) {
        uint32_t count = table.max - at < CHUNK ? table.max - at : CHUNK;

        readable = memory_read(vm->memory, table.slots + at * sizeof(*chunk), chunk,
                               count * sizeof(*chunk));
        more = readable && visit_slots(chunk, count, at, table.invalid, visit, context);
    }
    free(chunk);
    return readable ? 0 : unreadable(vm, what, error);
}

int process_table_each(struct vm *vm, table_visit visit, void *context, struct error *error)
{
    return table_each(vm, vm->roots.proc_table, "process", visit, context, error);
}

int process_table_some(struct vm *vm, const uint64_t *indices, size_t count, table_visit visit,
                       void *context, struct error *error)
{
    struct memory_span spans[SOME];
    uint64_t values[SOME];
    struct slot_table table;
    bool more = true;

    if (!read_table(vm, vm->roots.proc_table, &table))
        return unreadable(vm, "process", error);
    for (size_t at = 0; more && at < count; at += SOME) {
        size_t some = count - at < SOME ? count - at : SOME;

        for (size_t i = 0; i < some; i++)
            spans[i] = (struct memory_span){table.slots + indices[at + i] * sizeof(values[0]),
                                            &values[i], sizeof(values[0]), false};
        memory_read_spans(vm->memory, spans, some);
        for (size_t i = 0; more && i < some; i++)
            if (spans[i].is_read && values[i] && values[i] != table.invalid)
                more = visit(context, indices[at + i], values[i]);
    }
    return 0;
}

/* Visit the entries of these lines; false if a callback ended the visit. */
static bool visit_lines(struct vm *vm, const struct slot_table *table, const uint64_t *lines,
                        size_t count, table_visit visit, void *context)
{
    uint64_t values[LINES][LINE];
    struct memory_span spans[LINES];
    bool more = true;

    for (size_t i = 0; i < count; i++)
        spans[i] = (struct memory_span){table->slots + lines[i] * sizeof(values[0]), &values[i],
                                        sizeof(values[0]), false};
    memory_read_spans(vm->memory, spans, count);
    for (size_t i = 0; more && i < count; i++)
        if (spans[i].is_read)
            more = visit_slots(values[i], LINE, lines[i] * LINE, table->invalid, visit, context);
    return more;
}

int process_table_lines(struct vm *vm, uint64_t (*skip)(void *context), table_visit visit,
                        void *context, struct error *error)
{
    uint64_t lines[LINES], next;
    size_t count = 0;
    struct slot_table table;
    bool more = true;

    if (!read_table(vm, vm->roots.proc_table, &table))
        return unreadable(vm, "process", error);
    for (next = skip(context); more && next < table.max / LINE; next += 1 + skip(context)) {
        lines[count++] = next;
        if (count < LINES)
            continue;
        more = visit_lines(vm, &table, lines, count, visit, context);
        count = 0;
    }
    if (more)
        visit_lines(vm, &table, lines, count, visit, context);
    return 0;
}

int port_table_each(struct vm *vm, table_visit visit, void *context, struct error *error)
{
    return table_each(vm, vm->roots.port_table, "port", visit, context, error);
}

uint64_t process_table_at(struct vm *vm, uint64_t index)
{
    struct slot_table table;
    uint64_t process;

    if (!read_table(vm, vm->roots.proc_table, &table) || index >= table.max ||
        !memory_read_u64(vm->memory, table.slots + index * sizeof(process), &process))
        return 0;
    return process == table.invalid ? 0 : process;
}
