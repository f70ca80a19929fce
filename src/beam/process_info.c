// SPDX-License-Identifier: Apache-2.0
#include "beam/process_info.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "beam/process_table.h"
#include "beam/term.h"
#include "beam/vm.h"
#include "native/memory.h"
#include "vm_constants.h"

/* Read a process dictionary. */

/*
 * A linear hash table (erl_process_dict.h 25.2.3:25):
 *
 *   ProcDict   ... | usedSlots | ... | data[0] | data[1] | ...
 *
 * A slot is NIL, one entry, or a list of entries with equal hash; an entry is a tuple {Key, Value}.
 */

/* Called with one entry. Returns false to end the visit. */
typedef bool (*pdict_visit)(void *context, uint64_t key, uint64_t value);

enum { SLOTS_MAX = 4096, ENTRIES_MAX = 8192, CHUNK = 64 };

struct pdict_walk {
    struct read_cache *cache;
    pdict_visit visit;
    void *context;
    unsigned int entries;
};

/* False ends the walk. */
static bool visit_pair(struct pdict_walk *walk, uint64_t entry)
{
    const uint64_t pair = 2 << HEADER_ARITY_OFFS | ARITYVAL_SUBTAG;
    uint64_t words[3];

    if (walk->entries++ >= ENTRIES_MAX)
        return false;
    if (!term_is_boxed(entry) ||
        !memory_read_cached(walk->cache, term_address(entry), words, sizeof(words)) ||
        words[0] != pair)
        return true;
    return walk->visit(walk->context, words[1], words[2]);
}

static bool visit_slot(struct pdict_walk *walk, uint64_t slot)
{
    uint64_t cell[2];

    for (; term_is_list(slot); slot = cell[1]) {
        if (!memory_read_cached(walk->cache, term_address(slot), cell, sizeof(cell)))
            return true;
        if (!visit_pair(walk, cell[0]))
            return false;
    }
    return !term_is_boxed(slot) || visit_pair(walk, slot);
}

/* Visit the entries of the ProcDict at `address` that `cache` can read; only a part if the
 * dictionary is very large. */
static void pdict_each(struct vm *vm, struct read_cache *cache, uint64_t address, pdict_visit visit,
                       void *context)
{
    struct pdict_walk walk = {.cache = cache, .visit = visit, .context = context};
    uint64_t data = address + (uint64_t)vm->layout.procdict_data, slots[CHUNK];
    uint32_t used;

    if (!memory_read_cached(cache, address + (uint64_t)vm->layout.procdict_used, &used,
                            sizeof(used)))
        return;
    if (used > SLOTS_MAX)
        used = SLOTS_MAX;
    for (uint32_t at = 0; at < used; at += CHUNK) {
        uint32_t count = used - at < CHUNK ? used - at : CHUNK;

        if (!memory_read_cached(cache, data + at * sizeof(slots[0]), slots,
                                count * sizeof(slots[0])))
            return;
        for (uint32_t i = 0; i < count; i++) {
            if (!visit_slot(&walk, slots[i]))
                return;
        }
    }
}

/* erts_process_state2status() (erl_process.c 25.2.3:9162, 27.3.4.1:9205, 29.1.1:9305) */
enum process_status process_info_status(const struct vm *vm, uint32_t state)
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

bool process_info_executes(uint32_t state)
{
    return state & ERTS_PSFLG_RUNNING;
}

bool process_info_is_running(uint32_t state)
{
    return state & (ERTS_PSFLG_RUNNING | ERTS_PSFLG_RUNNING_SYS);
}

uint32_t process_info_state(const struct vm *vm, const uint8_t *bytes)
{
    uint32_t state;

    memcpy(&state, bytes + vm->layout.process_state, sizeof(state));
    return state;
}

/* Process.reds grows with each run (erts_schedule(), erl_process.c 29.1.1:9700). */
bool process_info_has_run(const struct vm *vm, const uint8_t *before, const uint8_t *after)
{
    const struct layout *layout = &vm->layout;
    const int32_t fields[] = {layout->process_id,   layout->process_i,    layout->process_stop,
                              layout->process_heap, layout->process_hend, layout->process_reds};

    for (size_t i = 0; i < sizeof(fields) / sizeof(*fields); i++)
        if (layout_word(before, fields[i]) != layout_word(after, fields[i]))
            return true;
    return process_info_is_running(process_info_state(vm, before)) !=
           process_info_is_running(process_info_state(vm, after));
}

struct info_reader {
    struct vm *vm;
    struct atoms *atoms;
    const struct pid_encoding *encoding;
    const uint8_t *bytes;
    struct read_cache cache;
    struct process_info *info;
    unsigned int keys; /* bits of enum pdict_key: read already */
    struct dictionary_names names;
};

/* A word of the struct; 0 if this release has no such field. */
static uint64_t field(const struct info_reader *reader, int32_t offset)
{
    uint64_t value;

    if (offset < 0)
        return 0;
    memcpy(&value, reader->bytes + offset, sizeof(value));
    return value;
}

/* common.u.alive.reg points to a RegProc while the process is registered. If the name has passed to
 * another process since the copy was taken, the RegProc no longer points back to this process. */
static void read_name(struct info_reader *reader, uint64_t process)
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
        snprintf(reader->info->name, sizeof(reader->info->name), "%s", atom_shown(text));
}

static void put_initial_call(struct info_reader *reader, uint64_t module, uint64_t function,
                             uint64_t arity)
{
    const char *module_text = atom_text(reader->atoms, module);
    const char *function_text = atom_text(reader->atoms, function);

    if (module_text && function_text && arity <= 255)
        atom_mfa_format(module_text, function_text, (uint32_t)arity, reader->info->initial_call,
                        sizeof(reader->info->initial_call));
}

/* The function that the process was spawned with: module and function are terms, the arity is a
 * plain word. */
static void read_initial_call(struct info_reader *reader)
{
    int32_t at = reader->vm->layout.process_initial;

    put_initial_call(reader, field(reader, at), field(reader, at + 8), field(reader, at + 16));
}

/* `$initial_call` is {Module, Function, Arity} (proc_lib.erl 25.2.3:746). */
static void read_proc_lib_call(struct info_reader *reader, uint64_t value)
{
    const uint64_t triple = 3 << HEADER_ARITY_OFFS | ARITYVAL_SUBTAG;
    uint64_t words[4];

    if (term_is_boxed(value) &&
        memory_read_cached(&reader->cache, term_address(value), words, sizeof(words)) &&
        words[0] == triple && term_is_small(words[3]) && term_small(words[3]) >= 0)
        put_initial_call(reader, words[1], words[2], (uint64_t)term_small(words[3]));
}

/* `$ancestors` is a list of names and pids, the parent first (proc_lib.erl 25.2.3:708). */
static void read_ancestors(struct info_reader *reader, uint64_t list)
{
    struct process_info *info = reader->info;
    uint64_t cell[2];

    info->ancestor_count = 0;
    for (int i = 0; i < ANCESTORS_MAX && term_is_list(list); i++, list = cell[1]) {
        if (!memory_read_cached(&reader->cache, term_address(list), cell, sizeof(cell)))
            return;
        if (term_is_atom(cell[0]) || term_is_pid(cell[0]))
            info->ancestors[info->ancestor_count++] = cell[0];
    }
}

/* Keys that are read here. Keys are unique, so a second entry with the same key is an error of
 * reading. */
enum pdict_key { KEY_INITIAL_CALL, KEY_ANCESTORS };

static bool is_new(struct info_reader *reader, enum pdict_key key)
{
    bool new = !(reader->keys & 1U << key);

    reader->keys |= 1U << key;
    return new;
}

static bool visit_entry(void *context, uint64_t key, uint64_t value)
{
    struct info_reader *reader = context;
    const char *name = atom_text(reader->atoms, key);

    if (!name) {
        dictionary_names_visit_other(&reader->names, key, value);
        return true;
    }
    if (strcmp(name, "$initial_call") == 0 && is_new(reader, KEY_INITIAL_CALL))
        read_proc_lib_call(reader, value);
    else if (strcmp(name, "$ancestors") == 0 && is_new(reader, KEY_ANCESTORS))
        read_ancestors(reader, value);
    dictionary_names_visit(&reader->names, name, value);
    return true;
}

/* A field that holds a pid; 0 for a pid of another node, which is boxed. */
static uint64_t pid_field(const struct info_reader *reader, int32_t offset)
{
    uint64_t term = field(reader, offset);

    return term_is_pid(term) ? term : 0;
}

bool process_info_read(struct vm *vm, struct atoms *atoms, const struct pid_encoding *encoding,
                       const struct name_keys *keys, uint64_t address, const uint8_t *bytes,
                       struct process_info *info)
{
    struct process_info read = {0};
    struct info_reader reader = {vm, atoms, encoding, bytes, .info = &read};
    uint64_t dictionary = field(&reader, vm->layout.process_dictionary);

    read_cache_init(&reader.cache, vm->memory);
    reader.names =
        (struct dictionary_names){vm, atoms, encoding, &reader.cache, keys, .info = &read};
    dictionary_names_begin(&reader.names);
    read.id = field(&reader, vm->layout.process_id);
    if (!pid_encoding_format(encoding, read.id, read.pid, sizeof(read.pid)))
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

/*
 * The VM looks the master up in an ETS table. This file reads the name from the state of the master
 * instead. The state is on the stack of the master wherever it waits (application_master.erl 24 to
 * 29, main_loop/2; application_master.hrl):
 *
 *      {state, Child, {appl_data, Name, ...}, ...}
 */

enum {
    PROCESS_BYTES_MAX = 1024,
    STACK_WORDS_MAX = 256,
    TUPLE_MAX = 32, /* elements; the state has 6, appl_data 8 */
};

/* The initial call of a master is init/4 until 26, init/3 from 27 on. */
static bool is_master(const struct process_info *info)
{
    static const char init[] = "application_master:init/";

    return info->group_leader == info->id && strncmp(info->initial_call, init, strlen(init)) == 0;
}

/* Read the first `count` elements of a tuple. False if the tuple has fewer elements, or if its
 * first element is not the atom `record`. */
static bool read_record(struct vm *vm, struct atoms *atoms, uint64_t term, const char *record,
                        uint64_t *elements, size_t count)
{
    uint64_t header;
    const char *name;

    if (!term_is_boxed(term) || !memory_read_u64(vm->memory, term_address(term), &header) ||
        !term_is_header(header) || term_header_kind(header) != ARITYVAL_SUBTAG ||
        term_header_words(header) < count || term_header_words(header) > TUPLE_MAX ||
        !memory_read(vm->memory, term_address(term) + sizeof(header), elements,
                     count * sizeof(*elements)))
        return false;
    name = atom_text(atoms, elements[0]);
    return name && strcmp(name, record) == 0;
}

/* The name in the state of an application master; NULL if the term is no such state. */
static const char *name_in_state(struct vm *vm, struct atoms *atoms, uint64_t term)
{
    uint64_t state[3], data[2];

    if (!read_record(vm, atoms, term, "state", state, 3) ||
        !read_record(vm, atoms, state[2], "appl_data", data, 2))
        return NULL;
    return atom_text(atoms, data[1]);
}

/* The name in the first state of an application master on the stack; NULL if there is none. */
static const char *name_on_stack(struct vm *vm, struct atoms *atoms, const uint8_t *process)
{
    uint64_t stop = layout_word(process, vm->layout.process_stop);
    uint64_t hend = layout_word(process, vm->layout.process_hend), words[STACK_WORDS_MAX];
    size_t count = hend > stop ? (hend - stop) / sizeof(*words) : 0;
    const char *name = NULL;

    if (count > STACK_WORDS_MAX)
        count = STACK_WORDS_MAX;
    if (!memory_read(vm->memory, stop, words, count * sizeof(*words)))
        return NULL;
    for (size_t i = 0; i < count && !name; i++)
        name = name_in_state(vm, atoms, words[i]);
    return name;
}

bool process_info_application(struct vm *vm, struct atoms *atoms,
                              const struct pid_encoding *encoding, uint64_t leader, char *name,
                              size_t size)
{
    uint64_t address = process_table_at(vm, pid_encoding_index(encoding, leader));
    size_t process_size = (size_t)vm->layout.sizeof_process;
    uint8_t bytes[PROCESS_BYTES_MAX];
    struct process_info info;
    const char *text;

    if (!address || process_size > sizeof(bytes) ||
        !memory_read(vm->memory, address, bytes, process_size) ||
        !process_info_read(vm, atoms, encoding, NULL, address, bytes, &info) || info.id != leader ||
        !is_master(&info))
        return false;
    text = name_on_stack(vm, atoms, bytes);
    return text && snprintf(name, size, "%s", text) < (int)size;
}
