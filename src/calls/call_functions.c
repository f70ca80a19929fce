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

enum { SYMBOL_BYTES = 2 * FUNCTION_NAME_ATOM_BYTES };

/* ---- finding ---- */

/* A search for functions of a module by their symbols: "lists:map/2", "Enum.map/2". */
struct function_search {
    const struct function_name *name;
    size_t prefix;               /* length of "lists:" */
    char wanted[SYMBOL_BYTES];   /* "map", or "'f g'", if the name is no pattern */
    struct call_functions found; /* `count` of them are kept, */
    size_t matches;              /* and there are so many */
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

void call_functions_add(struct call_functions *functions, const struct counted_function *function)
{
    functions->of[functions->count++] =
        (struct counted_function){.symbol = xstrdup(function->symbol),
                                  .module = xstrdup(function->module),
                                  .bif = function->bif};
}

/* Copy the name of a symbol's function, without quotes. Names with escapes match no pattern that
 * asks for these characters. */
static void copy_function(const char *symbol, size_t prefix, char *function)
{
    const char *at = symbol + prefix, *end = strrchr(at, '/');

    if (*at == '\'' && end > at + 1) {
        at++;
        end--;
    }
    memcpy(function, at, (size_t)(end - at));
    function[end - at] = '\0';
}

static bool matches(const struct function_search *search, const char *symbol)
{
    const char *function = symbol + search->prefix, *slash = strrchr(symbol, '/');
    char text[SYMBOL_BYTES];
    size_t size;

    if (!slash || (size_t)(slash - symbol) < search->prefix)
        return false;
    size = (size_t)(slash - function);
    if (search->name->arity != FUNCTION_NAME_ANY_ARITY &&
        strtoul(slash + 1, NULL, 10) != search->name->arity)
        return false;
    if (!search->name->function_is_pattern)
        return size == strlen(search->wanted) && !memcmp(function, search->wanted, size);
    if (size >= sizeof(text))
        return false;
    copy_function(symbol, search->prefix, text);
    return function_name_fits(search->name->function, text);
}

static bool look_at(void *context, const struct code_place *place)
{
    struct function_search *search = context;

    search->module_exists = true;
    if (place->kind != CODE_FUNCTION || !place->is_function_header ||
        !matches(search, place->symbol) || is_found(&search->found, place->symbol))
        return true;
    search->matches++;
    if (search->found.count < WIRE_CALL_FUNCTIONS)
        call_functions_add(&search->found, &(struct counted_function){(char *)place->symbol,
                                                                      (char *)search->module, 0});
    return true;
}

/* Search a module. */
static struct function_search search_in(struct code *code, const struct function_name *name,
                                        const char *module)
{
    static const char NONE[] = "f/0";
    struct function_search search = {.name = name, .module = module};
    char symbol[SYMBOL_BYTES];

    atom_mfa_format(module, "f", 0, symbol, sizeof(symbol));
    search.prefix = strlen(symbol) - (sizeof(NONE) - 1);
    if (!name->function_is_pattern) {
        atom_mfa_format(module, name->function, 0, symbol, sizeof(symbol));
        snprintf(search.wanted, sizeof(search.wanted), "%.*s",
                 (int)(strlen(symbol) - search.prefix - strlen("/0")), symbol + search.prefix);
    }
    code_each(code, module, look_at, &search);
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

static int suggest(struct code *code, const struct function_name *name,
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
    atom_mfa_format(name->module, name->function,
                    name->arity == FUNCTION_NAME_ANY_ARITY ? 0 : name->arity, symbol,
                    sizeof(symbol));
    if (name->arity == FUNCTION_NAME_ANY_ARITY)
        *strrchr(symbol, '/') = '\0';
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

const char *call_functions_missing(struct code *code, const struct function_name *names,
                                   size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct module_search search = {.wanted = names[i].module,
                                       .exists = names[i].module_is_pattern};

        code_each_module(code, compare_module, &search);
        if (!search.exists)
            return atom_shown(names[i].module);
    }
    return NULL;
}

/* ---- the functions of a command ---- */

static uint32_t arity_of(const char *symbol)
{
    return (uint32_t)strtoul(strrchr(symbol, '/') + 1, NULL, 10);
}

/* Calls of BIFs go to their C code, not through the entry that their module has for them. */
static int is_bif(struct hooks *hooks, const char *module, size_t prefix, const char *symbol,
                  bool *ret_is_bif, struct error *error)
{
    char function[SYMBOL_BYTES];

    copy_function(symbol, prefix, function);
    return hooks_is_bif(hooks, module, function, arity_of(symbol), ret_is_bif, error);
}

static int find_bif(struct hooks *hooks, size_t prefix, struct counted_function *function,
                    struct error *error)
{
    char name[SYMBOL_BYTES];
    struct hook_point point;

    copy_function(function->symbol, prefix, name);
    if (hooks_bif(hooks, function->module, name, arity_of(function->symbol), &point, error))
        return -1;
    function->bif = point.address;
    return 0;
}

static int too_many(struct error *error)
{
    return error_set(error, ERROR_USAGE,
                     "at most %d functions can be counted in turn: name fewer, or a narrower "
                     "pattern",
                     WIRE_CALL_FUNCTIONS);
}

/* BIFs that a pattern matches are left out. */
static int take_found(struct hooks *hooks, const struct function_name *name,
                      struct function_search *search, struct call_functions *functions,
                      struct error *error)
{
    for (size_t i = 0; i < search->found.count; i++) {
        struct counted_function *function = &search->found.of[i];
        bool bif;

        if (is_bif(hooks, search->module, search->prefix, function->symbol, &bif, error))
            return -1;
        if ((bif && (name->module_is_pattern || name->function_is_pattern)) ||
            is_found(functions, function->symbol))
            continue;
        if (bif && find_bif(hooks, search->prefix, function, error))
            return -1;
        if (functions->count == WIRE_CALL_FUNCTIONS)
            return too_many(error);
        call_functions_add(functions, function);
    }
    return search->matches > search->found.count ? too_many(error) : 0;
}

static int find_in(struct hooks *hooks, struct code *code, const struct function_name *name,
                   const char *module, struct call_functions *functions, struct error *error)
{
    struct function_search search = search_in(code, name, module);
    bool may_be_none =
        name->module_is_pattern || (name->function_is_pattern && search.module_exists);
    int result = search.matches || may_be_none ? take_found(hooks, name, &search, functions, error)
                                               : suggest(code, name, &search, error);

    call_functions_free(&search.found);
    return result;
}

/* The names of the modules that match. */
struct module_list {
    const struct function_name *name;
    char **of;
    size_t count, room;
};

static void list_module(void *context, const char *module)
{
    struct module_list *list = context;

    if (!function_name_fits(list->name->module, module))
        return;
    list->of = xgrow(list->of, &list->room, list->count, sizeof(*list->of));
    list->of[list->count++] = xstrdup(module);
}

static int find_in_modules(struct hooks *hooks, struct code *code, const struct function_name *name,
                           struct call_functions *functions, struct error *error)
{
    struct module_list list = {.name = name};
    int result = 0;

    code_each_module(code, list_module, &list);
    for (size_t i = 0; i < list.count; i++) {
        if (!result)
            result = find_in(hooks, code, name, list.of[i], functions, error);
        free(list.of[i]);
    }
    free(list.of);
    return result;
}

static int find_one(struct hooks *hooks, struct code *code, const struct function_name *name,
                    struct call_functions *functions, struct error *error)
{
    size_t before = functions->count;
    int result = name->module_is_pattern
                     ? find_in_modules(hooks, code, name, functions, error)
                     : find_in(hooks, code, name, name->module, functions, error);

    if (!result && functions->count == before &&
        (name->module_is_pattern || name->function_is_pattern))
        return error_set(error, ERROR_USAGE, "no function of this VM matches %s:%s",
                         atom_shown(name->module), name->function);
    return result;
}

int call_functions_find(struct vm *vm, struct code *code, const struct function_name *names,
                        size_t count, struct call_functions *functions, struct error *error)
{
    struct hooks *hooks;
    int result = 0;

    /* OTP 24 does not list the headers of functions, by which entries are found. Where the stacks
     * are apart, a breakpoint does not find the return address at the stack pointer. */
    if (vm->features.old_gdb_jit)
        return error_set(error, ERROR_UNSUPPORTED,
                         "calls can be counted in OTP 25 and later; this VM is OTP %d",
                         vm->build.otp_release);
    if (!vm->features.native_stack)
        return error_set(error, ERROR_UNSUPPORTED,
                         "calls can't be counted in this VM: its JIT keeps return addresses apart "
                         "from the machine stack, as that of OTP 25 on musl does");
    hooks = hooks_new(vm, code, error);
    if (!hooks)
        return -1;
    for (size_t i = 0; i < count && !result; i++)
        result = find_one(hooks, code, &names[i], functions, error);
    hooks_free(hooks);
    return result;
}

int call_functions_check_returns(const struct call_functions *functions, struct error *error)
{
    for (size_t i = 0; i < functions->count; i++)
        if (functions->of[i].bif)
            return error_set(error, ERROR_UNSUPPORTED,
                             "the times of a BIF's calls can't be measured by 'beamflame calls': "
                             "record %s with -e bif:%s",
                             functions->of[i].symbol, functions->of[i].symbol);
    return 0;
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
    if (!module || !function || mfa[2] >= FUNCTION_NAME_ANY_ARITY)
        return false;
    entry->site.arity = (__u16)mfa[2];
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
    const struct counted_function *function = &functions->of[number];
    struct entry_search search = {function, number, vm, atoms, entries, 0};

    if (function->bif) {
        entries[0] = (struct call_entry){.address = function->bif,
                                         .site = {.function = number,
                                                  .arity = (__u16)arity_of(function->symbol),
                                                  .is_bif = true}};
        return 1;
    }
    code_each(code, function->module, add_entry, &search);
    return search.count;
}
