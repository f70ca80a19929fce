// SPDX-License-Identifier: Apache-2.0
#include "beam/process_info.h"

#include <stdio.h>
#include <string.h>

#include "beam/pdict.h"
#include "beam/term.h"
#include "vm_constants.h"

/* erts_process_state2status() (erl_process.c 25:9162, 27:9205, 29:9305) */
enum process_status process_status_of_state(const struct vm *vm, uint32_t state)
{
    (void)vm;
    if (state & ERTS_PSFLG_FREE)
        return STATUS_FREE;
    if (state & ERTS_PSFLG_EXITING)
        return STATUS_EXITING;
    if (state & ERTS_PSFLG_GC)
        return STATUS_GARBAGE_COLLECTING;
    if (state & ERTS_PSFLG_SUSPENDED)
        return STATUS_SUSPENDED;
    if (state & (ERTS_PSFLG_RUNNING | ERTS_PSFLG_RUNNING_SYS | ERTS_PSFLG_DIRTY_RUNNING |
                 ERTS_PSFLG_DIRTY_RUNNING_SYS))
        return STATUS_RUNNING;
    if (state & (ERTS_PSFLG_ACTIVE | ERTS_PSFLG_ACTIVE_SYS | ERTS_PSFLG_DIRTY_ACTIVE_SYS))
        return STATUS_RUNNABLE;
    return STATUS_WAITING;
}

bool process_state_executes(uint32_t state)
{
    return state & ERTS_PSFLG_RUNNING;
}

bool process_state_is_running(uint32_t state)
{
    return state & (ERTS_PSFLG_RUNNING | ERTS_PSFLG_RUNNING_SYS);
}

struct reader {
    struct vm *vm;
    struct atoms *atoms;
    const struct pid_encoding *encoding;
    const uint8_t *bytes;
    struct read_cache cache;
    struct process_info *info;
};

/* A word of the struct; 0 if this release has no such field. */
static uint64_t field(const struct reader *reader, int32_t offset)
{
    uint64_t value;

    if (offset < 0)
        return 0;
    memcpy(&value, reader->bytes + offset, sizeof(value));
    return value;
}

/* common.u.alive.reg points to a RegProc while the process is registered. If the name has passed to
 * another process since the copy was taken, the RegProc no longer points back to this process. */
static void read_name(struct reader *reader, uint64_t process)
{
    const struct layout *layout = &reader->vm->layout;
    uint64_t registered = field(reader, layout->process_reg), owner, name;
    const char *text;

    if (!registered ||
        !memory_read_u64(reader->vm->memory, registered + layout->regproc_process, &owner) ||
        owner != process ||
        !memory_read_u64(reader->vm->memory, registered + layout->regproc_name, &name))
        return;
    text = atom_text(reader->atoms, name);
    if (text)
        snprintf(reader->info->name, sizeof(reader->info->name), "%s", text);
}

static void put_initial_call(struct reader *reader, uint64_t module, uint64_t function,
                             uint64_t arity)
{
    const char *module_text = atom_text(reader->atoms, module);
    const char *function_text = atom_text(reader->atoms, function);

    if (module_text && function_text && arity <= 255)
        mfa_format(module_text, function_text, (uint32_t)arity, reader->info->initial_call,
                   sizeof(reader->info->initial_call));
}

/* The function that the process was spawned with: module and function are terms, the arity is a
 * plain word. */
static void read_initial_call(struct reader *reader)
{
    int32_t at = reader->vm->layout.process_initial;

    put_initial_call(reader, field(reader, at), field(reader, at + 8), field(reader, at + 16));
}

/* `$initial_call` is {Module, Function, Arity} (proc_lib.erl 25:746). */
static void read_proc_lib_call(struct reader *reader, uint64_t value)
{
    const uint64_t triple = 3 << HEADER_ARITY_OFFS | ARITYVAL_SUBTAG;
    uint64_t words[4];

    if (term_is_boxed(value) &&
        read_cache_read(&reader->cache, term_address(value), words, sizeof(words)) &&
        words[0] == triple && term_is_small(words[3]) && term_small(words[3]) >= 0)
        put_initial_call(reader, words[1], words[2], (uint64_t)term_small(words[3]));
}

/* `$ancestors` is a list of names and pids, the parent first (proc_lib.erl 25:708). */
static void read_ancestors(struct reader *reader, uint64_t list)
{
    struct process_info *info = reader->info;
    uint64_t cell[2];

    info->ancestor_count = 0;
    for (; term_is_list(list) && info->ancestor_count < ANCESTORS_MAX; list = cell[1]) {
        if (!read_cache_read(&reader->cache, term_address(list), cell, sizeof(cell)))
            return;
        if (term_is_atom(cell[0]) || term_is_pid(cell[0]))
            info->ancestors[info->ancestor_count++] = cell[0];
    }
}

static bool visit_entry(void *context, uint64_t key, uint64_t value)
{
    struct reader *reader = context;
    struct process_info *info = reader->info;
    const char *name = atom_text(reader->atoms, key);

    if (!name || name[0] != '$')
        return true;
    if (strcmp(name, "$initial_call") == 0)
        read_proc_lib_call(reader, value);
    else if (strcmp(name, "$ancestors") == 0)
        read_ancestors(reader, value);
    else if (strcmp(name, "$process_label") == 0 &&
             !term_format(reader->vm, reader->atoms, reader->encoding, value, info->label,
                          sizeof(info->label)))
        info->label[0] = '\0';
    return true;
}

/* A field that holds a pid; 0 for a pid of another node, which is boxed. */
static uint64_t pid_field(const struct reader *reader, int32_t offset)
{
    uint64_t term = field(reader, offset);

    return term_is_pid(term) ? term : 0;
}

bool process_info_read(struct vm *vm, struct atoms *atoms, const struct pid_encoding *encoding,
                       uint64_t address, const uint8_t *bytes, struct process_info *info)
{
    struct process_info read = {0};
    struct reader reader = {vm, atoms, encoding, bytes, .info = &read};
    uint64_t dictionary = field(&reader, vm->layout.process_dictionary);

    read_cache_init(&reader.cache, vm->memory);
    read.id = field(&reader, vm->layout.process_id);
    if (!pid_format(encoding, read.id, read.pid, sizeof(read.pid)))
        return false;
    read_name(&reader, address);
    read_initial_call(&reader);
    read.parent = pid_field(&reader, vm->layout.process_parent);
    read.group_leader = pid_field(&reader, vm->layout.process_group_leader);
    if (dictionary)
        pdict_each(vm, &reader.cache, dictionary, visit_entry, &reader);
    *info = read;
    return true;
}
