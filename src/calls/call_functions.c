// SPDX-License-Identifier: Apache-2.0
#include "calls/call_functions.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "arch.h"
#include "hooks/hooks.h"
#include "native/memory.h"
#include "util/alloc.h"
#include "util/buffer.h"
#include "util/nearest_word.h"

enum { SYMBOL_BYTES = 2 * CALL_NAME_ATOM_BYTES };

/* ---- finding ---- */

/* A search for functions of a module by their symbols. */
struct function_search {
    char wanted[SYMBOL_BYTES]; /* the symbol; up to the slash if the arity is not given */
    size_t size;
    bool any_arity;
    struct call_functions found; /* `count` of them are kept, */
    size_t matches;              /* and there are so many */
    struct buffer symbols;       /* of all that match: "a:f/1, a:f/2" */
    const char *module;
    bool module_exists;
};

static bool is_found(const struct call_functions *functions, const char *symbol)
{
    for (size_t i = 0; i < functions->count; i++)
        if (!strcmp(functions->of[i].symbol, symbol))
            return true;
    return false;
}

static void add(struct call_functions *functions, const char *symbol, const char *module)
{
    functions->of[functions->count++] =
        (struct counted_function){.symbol = xstrdup(symbol), .module = xstrdup(module)};
}

static bool matches(const struct function_search *search, const char *symbol)
{
    if (!search->any_arity)
        return !strcmp(symbol, search->wanted);
    return !strncmp(symbol, search->wanted, search->size) &&
           strchr(symbol + search->size, '/') == NULL;
}

static bool look_at(void *context, const struct code_place *place)
{
    struct function_search *search = context;

    search->module_exists = true;
    if (place->kind != CODE_FUNCTION || !place->is_function_header ||
        !matches(search, place->symbol) || is_found(&search->found, place->symbol))
        return true;
    search->matches++;
    buffer_format(&search->symbols, "%s%s", search->matches > 1 ? ", " : "", place->symbol);
    if (search->found.count < WIRE_CALL_FUNCTIONS)
        add(&search->found, place->symbol, search->module);
    return true;
}

static struct function_search search_for(struct code *code, const struct call_name *name)
{
    struct function_search search = {.any_arity = name->arity == CALL_ANY_ARITY,
                                     .module = name->module};

    atom_mfa_format(name->module, name->function, search.any_arity ? 0 : name->arity, search.wanted,
                    sizeof(search.wanted));
    search.size = strlen(search.wanted) - 1;
    code_each(code, name->module, look_at, &search);
    buffer_byte(&search.symbols, '\0');
    return search;
}

/* ---- suggestions ---- */

static bool consider_function(void *context, const struct code_place *place)
{
    if (place->kind == CODE_FUNCTION && place->is_function_header)
        nearest_word_consider(context, place->symbol);
    return true;
}

static void consider_module(void *context, const char *name)
{
    nearest_word_consider(context, atom_shown(name));
}

static int suggest(struct code *code, const struct call_name *name,
                   const struct function_search *search, struct error *error)
{
    const char *module = atom_shown(name->module);
    char symbol[SYMBOL_BYTES];
    struct nearest_word nearest;

    if (!search->module_exists) {
        nearest = nearest_word_begin(module);
        code_each_module(code, consider_module, &nearest);
        return error_set(error, ERROR_USAGE, "module '%s' is not loaded in this VM%s%s%s", module,
                         nearest.word ? "; did you mean '" : "", nearest.word ? nearest.word : "",
                         nearest.word ? "'?" : "");
    }
    snprintf(symbol, sizeof(symbol), "%.*s",
             (int)(search->any_arity ? search->size - 1 : strlen(search->wanted)), search->wanted);
    nearest = nearest_word_begin(symbol);
    code_each(code, name->module, consider_function, &nearest);
    return error_set(error, ERROR_USAGE, "module '%s' has no function %s%s%s%s", module, symbol,
                     nearest.word ? "; did you mean '" : "", nearest.word ? nearest.word : "",
                     nearest.word ? "'?" : "");
}

struct module_search {
    const char *wanted;
    bool exists;
};

static void compare_module(void *context, const char *name)
{
    struct module_search *search = context;

    search->exists |= !strcmp(name, search->wanted);
}

const char *call_functions_missing(struct code *code, const struct call_name *names, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct module_search search = {.wanted = names[i].module};

        code_each_module(code, compare_module, &search);
        if (!search.exists)
            return atom_shown(names[i].module);
    }
    return NULL;
}

/* ---- the functions of a command ---- */

/* Calls of BIFs go to their C code, not through the entry that the module `erlang` has for them. */
static int check_bif(struct hooks *hooks, const struct call_name *name, const char *symbol,
                     struct error *error)
{
    uint32_t arity = (uint32_t)strtoul(strrchr(symbol, '/') + 1, NULL, 10);
    bool is_bif;

    if (hooks_is_bif(hooks, name->module, name->function, arity, &is_bif, error))
        return -1;
    if (!is_bif)
        return 0;
    return error_set(error, ERROR_UNSUPPORTED,
                     "%s is a BIF, whose calls do not pass Erlang code: record it with -e bif:%s",
                     symbol, symbol);
}

/* `functions`: those that were found before. */
static int too_many(const struct call_functions *functions, const struct function_search *search,
                    struct error *error)
{
    struct buffer all = {0};

    for (size_t i = 0; i < functions->count; i++)
        if (!matches(search, functions->of[i].symbol))
            buffer_format(&all, "%s, ", functions->of[i].symbol);
    buffer_format(&all, "%s", search->symbols.data);
    error_set(error, ERROR_USAGE,
              "at most %d functions can be counted at once, because a CPU has as many breakpoints: "
              "choose among %.300s",
              WIRE_CALL_FUNCTIONS, all.data);
    buffer_free(&all);
    return -1;
}

static int take_found(struct hooks *hooks, const struct call_name *name,
                      const struct function_search *search, struct call_functions *functions,
                      struct error *error)
{
    if (search->matches > WIRE_CALL_FUNCTIONS)
        return too_many(functions, search, error);
    for (size_t i = 0; i < search->found.count; i++) {
        const char *symbol = search->found.of[i].symbol;

        if (check_bif(hooks, name, symbol, error))
            return -1;
        if (is_found(functions, symbol))
            continue;
        if (functions->count == WIRE_CALL_FUNCTIONS)
            return too_many(functions, search, error);
        add(functions, symbol, name->module);
    }
    return 0;
}

static int find_one(struct hooks *hooks, struct code *code, const struct call_name *name,
                    struct call_functions *functions, struct error *error)
{
    struct function_search search = search_for(code, name);
    int result = search.matches ? take_found(hooks, name, &search, functions, error)
                                : suggest(code, name, &search, error);

    call_functions_free(&search.found);
    buffer_free(&search.symbols);
    return result;
}

int call_functions_find(struct vm *vm, struct code *code, const struct call_name *names,
                        size_t count, struct call_functions *functions, struct error *error)
{
    struct hooks *hooks;
    int result = 0;

    /* OTP 24 does not list the headers of functions, by which entries are found. */
    if (vm->features.old_gdb_jit)
        return error_set(error, ERROR_UNSUPPORTED,
                         "calls can be counted in OTP 25 and later; this VM is OTP %d",
                         vm->build.otp_release);
    hooks = hooks_new(vm, code, error);
    if (!hooks)
        return -1;
    for (size_t i = 0; i < count && !result; i++)
        result = find_one(hooks, code, &names[i], functions, error);
    hooks_free(hooks);
    return result;
}

void call_functions_free(struct call_functions *functions)
{
    for (size_t i = 0; i < functions->count; i++) {
        free(functions->of[i].symbol);
        free(functions->of[i].module);
    }
    functions->count = 0;
}

/* ---- entries ---- */

struct entry_search {
    const struct counted_function *function;
    uint32_t number;
    struct vm *vm;
    struct atoms *atoms;
    struct call_entry *entries;
    size_t count;
};

/* Read the name that the VM has at the entry. False if it is not the function's. */
static bool read_name(const struct entry_search *search, struct call_entry *entry)
{
    const __u64 *mfa = entry->site.mfa;
    const char *module, *function;
    char symbol[SYMBOL_BYTES];

    if (!memory_read(search->vm->memory, entry->address - sizeof(entry->site.mfa), entry->site.mfa,
                     sizeof(entry->site.mfa)))
        return false;
    module = atom_text(search->atoms, mfa[0]);
    function = atom_text(search->atoms, mfa[1]);
    if (!module || !function || mfa[2] >= CALL_ANY_ARITY)
        return false;
    atom_mfa_format(module, function, (uint32_t)mfa[2], symbol, sizeof(symbol));
    return !strcmp(symbol, search->function->symbol);
}

static bool add_entry(void *context, const struct code_place *place)
{
    struct entry_search *search = context;
    struct call_entry entry = {.address = place->start + JIT_ENTRY_OFFSET,
                               .site.function = search->number};

    if (place->kind == CODE_FUNCTION && place->is_function_header &&
        !strcmp(place->symbol, search->function->symbol) && read_name(search, &entry))
        search->entries[search->count++] = entry;
    return search->count < CALL_VERSIONS;
}

size_t call_functions_entries(const struct call_functions *functions, uint32_t number,
                              struct vm *vm, struct code *code, struct atoms *atoms,
                              struct call_entry *entries)
{
    struct entry_search search = {&functions->of[number], number, vm, atoms, entries, 0};

    code_each(code, functions->of[number].module, add_entry, &search);
    return search.count;
}
