// SPDX-License-Identifier: Apache-2.0
#include "symbol/frames_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hooks/hooks.h"
#include "native/memory.h"
#include "util/address_map.h"
#include "util/alloc.h"

enum {
    NAMES_MAX = 1 << 14,
    CALL_SITE_BYTES = 64, /* code before a call that contains the address of the called function */
};

struct runtime_names {
    struct vm *vm;
    struct address_map *by_start; /* function start -> char * */
    char **owned;                 /* the names of BIFs */
    size_t owned_count, owned_room;
};

static void learn(void *context, uint64_t address, const char *name)
{
    struct runtime_names *names = context;

    address_map_put(names->by_start, address, (uint64_t)(uintptr_t)name);
}

struct runtime_names *runtime_names_new(struct vm *vm, struct code *code)
{
    struct runtime_names *names = xcalloc(1, sizeof(*names));

    names->vm = vm;
    names->by_start = address_map_new(NAMES_MAX);
    fragment_calls_each(vm, code, learn, names);
    return names;
}

void runtime_names_free(struct runtime_names *names)
{
    if (!names)
        return;
    for (size_t i = 0; i < names->owned_count; i++)
        free(names->owned[i]);
    free(names->owned);
    address_map_free(names->by_start);
    free(names);
}

/* ---- BIFs ---- */

/* True if the code before a call contains this address, as an immediate or in a literal that the
 * code loads. */
static bool mentions(struct runtime_names *names, uint64_t return_address, uint64_t address)
{
    uint8_t bytes[CALL_SITE_BYTES];
    uint64_t from = return_address - sizeof(bytes), word;

    if (!memory_read(names->vm->memory, from, bytes, sizeof(bytes)))
        return false;
    for (size_t at = 0; at + sizeof(word) <= sizeof(bytes); at++) {
        int32_t offset;

        memcpy(&word, bytes + at, sizeof(word));
        if (word == address)
            return true;
        /* mov or lea reg, [rip + offset] */
        if ((bytes[at] != 0x8b && bytes[at] != 0x8d) || (bytes[at + 1] & 0xc7) != 0x05)
            continue;
        memcpy(&offset, bytes + at + 2, sizeof(offset));
        word = from + at + 6 + (uint64_t)(int64_t)offset;
        if (bytes[at] == 0x8b && !memory_read_u64(names->vm->memory, word, &word))
            continue;
        if (word == address)
            return true;
    }
    return false;
}

static bool is_plain(const char *text)
{
    return text[0] && text[strspn(text, "abcdefghijklmnopqrstuvwxyz0123456789_")] == 0;
}

void runtime_names_learn_bif(struct runtime_names *names, uint64_t start, uint64_t return_address,
                             const char *module, const char *function, uint32_t arity)
{
    uint64_t known;
    char *name;

    if (address_map_get(names->by_start, start, &known) || !is_plain(module) ||
        !is_plain(function) || names->owned_count >= NAMES_MAX / 2 ||
        !mentions(names, return_address, start))
        return;
    name = strcmp(module, "erlang") ? xasprintf("%s_%s_%u", module, function, arity)
                                    : xasprintf("%s_%u", function, arity);
    names->owned =
        xgrow(names->owned, &names->owned_room, names->owned_count, sizeof(*names->owned));
    names->owned[names->owned_count++] = name;
    address_map_put(names->by_start, start, (uint64_t)(uintptr_t)name);
}

void runtime_names_learn(struct runtime_names *names, uint64_t start, const char *name)
{
    if (!runtime_names_find(names, start))
        address_map_put(names->by_start, start, (uint64_t)(uintptr_t)name);
}

const char *runtime_names_find(const struct runtime_names *names, uint64_t start)
{
    uint64_t name;

    return address_map_get(names->by_start, start, &name) ? (const char *)(uintptr_t)name : NULL;
}
