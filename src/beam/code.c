// SPDX-License-Identifier: Apache-2.0
#include "beam/code.h"

#include <stdlib.h>
#include <string.h>

#include "arch/jit_code.h"
#include "beam/code_internal.h"
#include "native/memory.h"
#include "util/alloc.h"

enum {
    CALL_CLASS_BYTES = 64, /* code after a call that is searched for its class */
    CALL_CLASSES_MAX = 1 << 16,
};

struct code *code_new(struct vm *vm, struct error *error)
{
    struct code *code = xcalloc(1, sizeof(*code));

    code->vm = vm;
    code->old_format = vm->features.old_gdb_jit;
    code->by_entry = address_map_new(ENTRIES_MAX);
    code->call_classes = address_map_new(CALL_CLASSES_MAX);
    if (!vm->roots.jit_descriptor)
        error_set(error, ERROR_UNSUPPORTED,
                  "this VM has no list of compiled code: it may be the interpreter (emu), which is "
                  "not supported");
    else if (code_refresh(code, error) == 0) {
        if (code->normal_exit && code->live_count)
            return code;
        error_set(error, ERROR_UNSUPPORTED,
                  code->out_of_time
                      ? "the JIT's list of loaded code can't be read to its end: the limit of CPU "
                        "time for it is used up"
                      : "the JIT's list of loaded code is empty, or its code can't be read");
    }
    code_free(code);
    return NULL;
}

void code_free(struct code *code)
{
    if (!code)
        return;
    for (size_t i = 0; i < code->live_count; i++)
        code_refresh_module_free(code->live[i]);
    while (code->retired) {
        struct code_module *module = code->retired;

        code->retired = module->next_retired;
        code_refresh_module_free(module);
    }
    free(code->live);
    address_map_free(code->by_entry);
    address_map_free(code->call_classes);
    free(code);
}

uint64_t code_generation_address(const struct code *code)
{
    return code->vm->roots.jit_descriptor + GDB_JIT_FIRST_ENTRY;
}

uint64_t code_generation(const struct code *code)
{
    return code->first_entry;
}

uint64_t code_epoch(const struct code *code)
{
    return code->epoch;
}

bool code_is_current(const struct code *code, uint64_t address)
{
    uint64_t first;

    return code_refresh_live_at(code, address) &&
           memory_read_u64(code->vm->memory, code_generation_address(code), &first) &&
           first == code->first_entry;
}

uint64_t code_normal_exit(const struct code *code)
{
    return code->normal_exit;
}

bool code_frame_pointers(const struct code *code)
{
    return code->frame_pointers;
}

bool code_contains(const struct code *code, uint64_t address)
{
    return code_refresh_module_at(code, address) != NULL;
}

/* ---- names ---- */

static void describe(const struct code_module *module, const struct gdb_jit_range *range,
                     uint32_t offset, struct code_place *place)
{
    const struct gdb_jit_line *line = gdb_jit_line_at(&module->symbols->table, range, offset);
    const struct range_kind *kind = &module->symbols->kinds[range - module->symbols->table.ranges];
    /* A function's header and its first instructions have no line; they are in its file. */
    const struct gdb_jit_range *function = kind->is_function_header ? range + 1 : range;
    const struct gdb_jit_line *in_file =
        line ? line : gdb_jit_line_at(&module->symbols->table, function, function->end);

    *place = (struct code_place){
        .kind = kind->kind,
        .fragment = kind->fragment,
        .is_function_header = kind->is_function_header,
        .start = module->start + range->start,
        .end = module->start + range->end,
        .module = module->start,
        .symbol = module->symbols->table.strings + range->symbol,
        .file = in_file ? module->symbols->table.strings + in_file->file : "",
        .line = line ? line->line : 0,
    };
}

bool code_find(struct code *code, uint64_t address, struct code_place *place)
{
    struct code_module *module = code_refresh_module_at(code, address);
    const struct gdb_jit_range *range;
    uint32_t offset;

    if (!module)
        return false;
    code_refresh_parse(code, module);
    if (!module->symbols)
        return false;
    offset = (uint32_t)(address - module->start);
    range = gdb_jit_range_at(&module->symbols->table, offset);
    if (!range)
        return false;
    describe(module, range, offset, place);
    return true;
}

/* The newest live module of this name that is older than `age`. */
static struct code_module *older_version(const struct code *code, const char *name, uint64_t age)
{
    struct code_module *found = NULL;

    for (size_t i = 0; i < code->live_count; i++) {
        struct code_module *module = code->live[i];

        if (module->age < age && (!found || module->age > found->age) &&
            !strcmp(module->name, name))
            found = module;
    }
    return found;
}

void code_each(struct code *code, const char *module, code_visit visit, void *context)
{
    uint64_t age = UINT64_MAX;
    struct code_module *version;

    while ((version = older_version(code, module, age))) {
        code_refresh_parse(code, version);
        for (uint32_t r = 0; version->symbols && r < version->symbols->table.range_count; r++) {
            const struct gdb_jit_range *range = &version->symbols->table.ranges[r];
            struct code_place place;

            describe(version, range, range->start, &place);
            if (!visit(context, &place))
                return;
        }
        age = version->age;
    }
}

void code_each_module(const struct code *code, void (*visit)(void *context, const char *name),
                      void *context)
{
    for (size_t i = 0; i < code->live_count; i++)
        visit(context, code->live[i]->name);
}

struct named_place {
    const char *symbol;
    struct code_place place;
    bool found;
};

static bool match_symbol(void *context, const struct code_place *place)
{
    struct named_place *named = context;

    named->found = !strcmp(place->symbol, named->symbol);
    named->place = *place;
    return !named->found;
}

bool code_find_fragment(struct code *code, const char *symbol, struct code_place *place)
{
    struct named_place named = {.symbol = symbol};

    code_each(code, "global", match_symbol, &named);
    if (named.found)
        *place = named.place;
    return named.found;
}

/* ---- call classes ---- */

/* The code of the scheduler loop restores no stack pointer: it saves stop before it calls. */
static enum call_class class_of(const uint8_t *bytes, size_t size, const struct features *features)
{
    enum jit_stack stack =
        features->native_stack
            ? jit_code_stack_after_call(bytes, size, (enum cpu_register)features->saved_top)
            : jit_code_stack_apart_after_call(bytes, size);

    return stack == JIT_STACK_IN_REGISTER ? CALL_STALE : CALL_FRESH;
}

enum call_class code_call_class(struct code *code, uint64_t return_address)
{
    uint8_t bytes[CALL_CLASS_BYTES];
    struct code_module *module = code_refresh_module_at(code, return_address);
    enum call_class class;
    uint64_t value;
    size_t size;

    if (!module)
        return CALL_FRESH;
    if (address_map_get(code->call_classes, return_address, &value))
        return (enum call_class)value;
    size = sizeof(bytes);
    if (module->end - return_address < size)
        size = module->end - return_address;
    if (!memory_read(code->vm->memory, return_address, bytes, size))
        return CALL_FRESH;
    class = class_of(bytes, size, &code->vm->features);
    address_map_put(code->call_classes, return_address, class);
    return class;
}
