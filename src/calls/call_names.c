// SPDX-License-Identifier: Apache-2.0
#include "calls/call_names.h"

#include <stdlib.h>
#include <string.h>

#include "beam/pid_encoding.h"
#include "beam/process_info.h"
#include "beam/process_table.h"
#include "native/memory.h"
#include "util/alloc.h"
#include "util/intern.h"

static const char UNKNOWN[] = "[unknown]", PROCESS_START[] = "[start of process]";

/* The key comes first: the function of the call is no part of it. */
struct named_entry {
    uint64_t who;
    uint64_t code;
    char *name;
    char *more; /* NULL: of the start of a process */
    uint32_t line;
};
enum { KEY_BYTES = 2 * sizeof(uint64_t) };

struct call_names {
    struct vm *vm;
    struct code *code;
    struct atoms *atoms;
    struct pid_encoding encoding;
    struct intern callers, processes;
};

struct call_names *call_names_new(struct vm *vm, struct code *code, struct atoms *atoms,
                                  struct error *error)
{
    struct call_names *names = xcalloc(1, sizeof(*names));

    *names = (struct call_names){.vm = vm, .code = code, .atoms = atoms};
    intern_init(&names->callers, sizeof(struct named_entry), KEY_BYTES);
    intern_init(&names->processes, sizeof(struct named_entry), KEY_BYTES);
    if (pid_encoding_read(vm, &names->encoding, error) == 0)
        return names;
    call_names_free(names);
    return NULL;
}

static void free_entries(struct intern *table)
{
    for (uint32_t id = 1; id <= table->count; id++) {
        const struct named_entry *entry = intern_get(table, id);

        free(entry->name);
        free(entry->more);
    }
    intern_free(table);
}

void call_names_free(struct call_names *names)
{
    if (!names)
        return;
    free_entries(&names->callers);
    free_entries(&names->processes);
    free(names);
}

static struct named_entry entry_of(const struct wire_call_key *key)
{
    return (struct named_entry){.who = key->who, .code = key->code};
}

void call_names_see_caller(struct call_names *names, const struct wire_call_key *key)
{
    struct named_entry entry = entry_of(key);
    struct code_place place;

    if (intern_find(&names->callers, &entry))
        return;
    if (key->who == code_normal_exit(names->code)) {
        entry.name = xstrdup(PROCESS_START);
    } else if (code_find(names->code, key->who - 1, &place)) {
        entry.name = xstrdup(place.symbol);
        entry.more = xstrdup(place.file);
        entry.line = place.line;
    } else {
        return;
    }
    intern_add(&names->callers, &entry);
}

/* The process of the term, if it is still there. */
static bool read_process(const struct call_names *names, uint64_t term, struct process_info *info)
{
    uint64_t index = pid_encoding_index(&names->encoding, term);
    uint64_t address = process_table_at(names->vm, index);
    size_t size = names->vm->layout.sizeof_process;
    uint8_t *bytes = xmalloc(size);
    bool is_read =
        address && memory_read(names->vm->memory, address, bytes, size) &&
        process_info_read(names->vm, names->atoms, &names->encoding, NULL, address, bytes, info) &&
        info->id == term;

    free(bytes);
    return is_read;
}

void call_names_see_process(struct call_names *names, const struct wire_call_key *key)
{
    struct named_entry entry = entry_of(key);
    struct process_info info;
    char pid[48];

    if (intern_find(&names->processes, &entry) ||
        !pid_encoding_format(&names->encoding, key->who, pid, sizeof(pid)))
        return;
    entry.name = xstrdup(pid);
    if (read_process(names, key->who, &info))
        entry.more = xstrdup(info.name[0]    ? info.name
                             : info.label[0] ? info.label
                                             : info.initial_call);
    intern_add(&names->processes, &entry);
}

static void see_caller(void *context, const struct wire_call_key *key,
                       const struct wire_call_row *row)
{
    (void)row;
    call_names_see_caller(context, key);
}

static void see_process(void *context, const struct wire_call_key *key,
                        const struct wire_call_row *row)
{
    (void)row;
    call_names_see_process(context, key);
}

void call_names_see_callers(struct call_names *names, const struct call_counter *counter)
{
    call_counter_each(counter, CALL_MAP_CALLERS, see_caller, names);
}

void call_names_see_processes(struct call_names *names, const struct call_counter *counter)
{
    call_counter_each(counter, CALL_MAP_PROCESSES, see_process, names);
}

static struct call_named named(const struct intern *table, const struct wire_call_key *key)
{
    const struct named_entry wanted = entry_of(key), *found;
    uint32_t id = intern_find(table, &wanted);

    if (!id)
        return (struct call_named){UNKNOWN, "", 0};
    found = intern_get(table, id);
    return (struct call_named){found->name, found->more ? found->more : "", found->line};
}

enum caller_kind call_names_find_caller(const struct call_names *names,
                                        const struct wire_call_key *key,
                                        struct call_named *ret_caller)
{
    const struct named_entry wanted = entry_of(key), *found;
    uint32_t id = intern_find(&names->callers, &wanted);

    if (!id)
        return CALLER_UNKNOWN;
    found = intern_get(&names->callers, id);
    if (!found->more)
        return CALLER_IS_START;
    *ret_caller = (struct call_named){found->name, found->more, found->line};
    return CALLER_IS_FUNCTION;
}

struct call_named call_names_caller(const struct call_names *names, const struct wire_call_key *key)
{
    return named(&names->callers, key);
}

struct call_named call_names_process(const struct call_names *names,
                                     const struct wire_call_key *key)
{
    return named(&names->processes, key);
}
