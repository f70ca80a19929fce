// SPDX-License-Identifier: Apache-2.0
#include "beam/process_table.h"

enum {
    SOME = 512,
    LINE = 8, /* slots per cache line */
    LINES = 128,
};

int process_table_each(struct vm *vm, ptab_visit visit, void *context, struct error *error)
{
    return ptab_each(vm, vm->roots.proc_table, "process", visit, context, error);
}

int process_table_some(struct vm *vm, const uint64_t *indices, size_t count, ptab_visit visit,
                       void *context, struct error *error)
{
    struct memory_span spans[SOME];
    uint64_t values[SOME];
    struct ptab table;
    bool more = true;

    if (!ptab_read(vm, vm->roots.proc_table, &table))
        return ptab_unreadable(vm, "process", error);
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
static bool visit_lines(struct vm *vm, const struct ptab *table, const uint64_t *lines,
                        size_t count, ptab_visit visit, void *context)
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
            more =
                ptab_visit_slots(values[i], LINE, lines[i] * LINE, table->invalid, visit, context);
    return more;
}

int process_table_lines(struct vm *vm, uint64_t (*skip)(void *context), ptab_visit visit,
                        void *context, struct error *error)
{
    uint64_t lines[LINES], next;
    size_t count = 0;
    struct ptab table;
    bool more = true;

    if (!ptab_read(vm, vm->roots.proc_table, &table))
        return ptab_unreadable(vm, "process", error);
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

uint64_t process_table_at(struct vm *vm, uint64_t index)
{
    struct ptab table;
    uint64_t process;

    if (!ptab_read(vm, vm->roots.proc_table, &table) || index >= table.max ||
        !memory_read_u64(vm->memory, table.slots + index * sizeof(process), &process))
        return 0;
    return process == table.invalid ? 0 : process;
}
