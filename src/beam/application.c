// SPDX-License-Identifier: Apache-2.0
/*
 * The VM looks the master up in an ETS table. This file reads the name from the state of the master
 * instead. The state is on the stack of the master wherever it waits (application_master.erl 24 to
 * 29, main_loop/2; application_master.hrl):
 *
 *      {state, Child, {appl_data, Name, ...}, ...}
 */
#include "beam/application.h"

#include <stdio.h>
#include <string.h>

#include "beam/process_table.h"
#include "beam/term.h"

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

bool application_of_leader(struct vm *vm, struct atoms *atoms, const struct pid_encoding *encoding,
                           uint64_t leader, char *name, size_t size)
{
    uint64_t address = process_table_at(vm, pid_table_index(encoding, leader));
    size_t process_size = (size_t)vm->layout.sizeof_process;
    uint8_t bytes[PROCESS_BYTES_MAX];
    struct process_info info;
    const char *text;

    if (!address || process_size > sizeof(bytes) ||
        !memory_read(vm->memory, address, bytes, process_size) ||
        !process_info_read(vm, atoms, encoding, address, bytes, &info) || info.id != leader ||
        !is_master(&info))
        return false;
    text = name_on_stack(vm, atoms, bytes);
    return text && snprintf(name, size, "%s", text) < (int)size;
}
