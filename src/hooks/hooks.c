// SPDX-License-Identifier: Apache-2.0
#include "hooks/hooks.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "arch/jit_code.h"
#include "hooks/hook_internal.h"
#include "native/native_code.h"
#include "native/native_symbols.h"
#include "util/alloc.h"
#include "util/log.h"

enum { SYMBOL_MAX = 1024 };

struct hooks *hooks_new(struct vm *vm, struct code *code, struct error *error)
{
    struct elf_file *executable = vm_executable(vm, error);
    struct hooks *hooks;

    if (!executable)
        return NULL;
    hooks = xcalloc(1, sizeof(*hooks));
    hooks->vm = vm;
    hooks->code = code;
    hooks->executable = executable;
    hooks->atoms = atoms_new(vm);
    return hooks;
}

void hooks_free(struct hooks *hooks)
{
    if (!hooks)
        return;
    bif_table_free(&hooks->bifs);
    atoms_free(hooks->atoms);
    free(hooks);
}

const char *hook_function(enum hook hook)
{
    return hook_functions[hook].name;
}

const char *hook_method_name(enum hook_method way)
{
    static const char *const NAMES[] = {"symbol", "debug", "caller", "code", "table", "stub"};

    return NAMES[way];
}

static bool is_code(const struct hooks *hooks, uint64_t address)
{
    return address && mappings_find_code(hooks->vm->mappings, address);
}

/* True if a function of the executable starts here. A stub that jumps to a library is no
 * function. */
static bool is_function(const struct hooks *hooks, uint64_t address)
{
    uint64_t start, end;

    return native_code_find_function(hooks->executable, address, &start, &end) && start == address;
}

/* ---- symbols ---- */

static bool find_own_symbol(const struct hooks *hooks, const char *name, struct hook_point *point)
{
    uint64_t address = native_symbol_address(hooks->executable, name);

    if (!is_code(hooks, address))
        return false;
    log_decision("hooks", "%s at 0x%llx: by symbol", name, (unsigned long long)address);
    *point = (struct hook_point){address, HOOK_BY_SYMBOL};
    return true;
}

/* Find a function by the debug file. A wrong address would put a breakpoint into the middle of an
 * instruction, so the executable itself must have a function that starts there. */
static bool find_debug_symbol(const struct hooks *hooks, const char *name, struct hook_point *point)
{
    uint64_t address = native_symbol_debug_address(hooks->executable, name);
    bool fits = address && is_function(hooks, address) && is_code(hooks, address);

    if (address)
        log_decision("hooks", "%s at 0x%llx: by the debug file%s", name,
                     (unsigned long long)address,
                     fits ? "" : ": not used, because no function of the VM starts there");
    *point = (struct hook_point){address, HOOK_BY_DEBUG_FILE};
    return fits;
}

/* ---- functions of the VM ---- */

/* Take the function of the debug file, unless the code of the VM shows another one. */
static int take_debug_symbol(const struct hook_function *function, const struct function_set *found,
                             const struct hook_point *point, struct error *error)
{
    if (!found->count || hooks_set_has(found, point->address))
        return 0;
    error_set(error, ERROR_UNSUPPORTED,
              "%s is at 0x%llx by the debug file, and at 0x%llx by the code of the VM: %s",
              function->name, (unsigned long long)point->address,
              (unsigned long long)found->functions[0], function->description);
    log_decision("hooks", "refused: %s", error->text);
    return -1;
}

static int look_for(struct hooks *hooks, enum hook hook, struct hook_point *point,
                    struct error *error)
{
    const struct hook_function *function = &hook_functions[hook];
    struct function_set found = {.count = 0};

    if (find_own_symbol(hooks, function->name, point))
        return 0;
    function->find(hooks, &found);
    if (find_debug_symbol(hooks, function->name, point))
        return take_debug_symbol(function, &found, point, error);
    if (found.count == 1 && is_code(hooks, found.functions[0])) {
        log_decision("hooks", "%s at 0x%llx: no symbol; by %s: only this one fits: %s",
                     function->name, (unsigned long long)found.functions[0],
                     hook_method_name(function->way), function->description);
        *point = (struct hook_point){found.functions[0], function->way};
        return 0;
    }
    error_set(error, ERROR_UNSUPPORTED,
              "%s has no symbol; %zu functions of the VM match its description: %s", function->name,
              found.count, function->description);
    log_decision("hooks", "refused: %s", error->text);
    return -1;
}

int hooks_find(struct hooks *hooks, enum hook hook, struct hook_point *point, struct error *error)
{
    struct hook_answer *answer = &hooks->answers[hook];

    if (!answer->asked) {
        answer->asked = true;
        answer->result = look_for(hooks, hook, &answer->point, &answer->error);
    }
    if (answer->result == 0)
        *point = answer->point;
    else
        *error = answer->error;
    return answer->result;
}

uint64_t hook_address(struct hooks *hooks, enum hook hook)
{
    struct hook_point point;
    struct error ignored;

    return hooks_find(hooks, hook, &point, &ignored) == 0 ? point.address : 0;
}

int hooks_symbol(struct hooks *hooks, const char *name, struct hook_point *point,
                 struct error *error)
{
    if (find_own_symbol(hooks, name, point))
        return 0;
    for (int hook = 0; hook < HOOK_COUNT; hook++)
        if (!strcmp(name, hook_functions[hook].name))
            return hooks_find(hooks, (enum hook)hook, point, error);
    if (find_debug_symbol(hooks, name, point))
        return 0;
    return error_set(error, ERROR_UNSUPPORTED,
                     "this VM has no function %s that is found by its name, or has several", name);
}

/* ---- BIFs ---- */

static bool is_atom(struct hooks *hooks, uint64_t term, const char *text)
{
    const char *name = atom_text(hooks->atoms, term);

    return name && !strcmp(name, text);
}

const struct bif *hooks_find_bif(struct hooks *hooks, const char *module, const char *function,
                                 uint32_t arity, struct error *error)
{
    struct error ignored;

    if (!hooks->bifs.rows &&
        bif_table_read(hooks->vm, hooks->executable, &hooks->bifs, error ? error : &ignored) != 0)
        return NULL;
    for (size_t i = 0; i < hooks->bifs.count; i++) {
        const struct bif *bif = &hooks->bifs.rows[i];

        if (bif->arity == arity && is_atom(hooks, bif->function, function) &&
            is_atom(hooks, bif->module, module))
            return bif;
    }
    if (error)
        error_set(error, ERROR_UNSUPPORTED, "%s:%s/%u is not among the %zu BIFs of this VM", module,
                  function, arity, hooks->bifs.count);
    return NULL;
}

int hooks_bif(struct hooks *hooks, const char *module, const char *function, uint32_t arity,
              struct hook_point *point, struct error *error)
{
    const struct bif *bif = hooks_find_bif(hooks, module, function, arity, error);

    if (!bif)
        return -1;
    if (bif->kind == BIF_GUARD || bif_table_is_instruction(module, function, arity))
        return error_set(error, ERROR_UNSUPPORTED,
                         "%s:%s/%u is a BIF that the compiler or the JIT makes a part of the code "
                         "that calls it: its calls can't be counted; count the function that calls "
                         "it",
                         module, function, arity);
    log_decision("hooks", "%s:%s/%u at 0x%llx: by its row in the table of %zu BIFs", module,
                 function, arity, (unsigned long long)bif->implementation, hooks->bifs.count);
    *point = (struct hook_point){bif->implementation, HOOK_BY_TABLE};
    return 0;
}

int hooks_is_bif(struct hooks *hooks, const char *module, const char *function, uint32_t arity,
                 bool *ret_is_bif, struct error *error)
{
    if (!hooks->bifs.rows && bif_table_read(hooks->vm, hooks->executable, &hooks->bifs, error) != 0)
        return -1;
    *ret_is_bif = hooks_find_bif(hooks, module, function, arity, NULL) != NULL;
    return 0;
}

/* ---- NIFs ---- */

struct nif_search {
    struct hooks *hooks;
    char symbol[SYMBOL_MAX];
    uint64_t module; /* start of the newest version that has the function; 0: not seen yet */
    uint64_t address;
};

static bool look_at_stub(void *context, const struct code_place *place)
{
    struct nif_search *search = context;
    struct nif_stub stub;

    if (search->module && place->module != search->module)
        return false;
    if (strcmp(place->symbol, search->symbol))
        return true;
    search->module = place->module;
    if (!hooks_read_nif_stub(search->hooks->vm->memory, place->start, &stub) ||
        !is_code(search->hooks, stub.called) || (stub.dirty && !is_code(search->hooks, stub.dirty)))
        return true;
    search->address = stub.dirty ? stub.dirty : stub.called;
    return false;
}

int hooks_nif(struct hooks *hooks, const char *module, const char *function, uint32_t arity,
              struct hook_point *point, struct error *error)
{
    struct nif_search search = {.hooks = hooks};

    if (code_refresh(hooks->code, error) != 0)
        return -1;
    atom_mfa_format(module, function, arity, search.symbol, sizeof(search.symbol));
    code_each(hooks->code, module, look_at_stub, &search);
    if (search.address) {
        log_decision("hooks", "%s at 0x%llx: by the stub that calls it", search.symbol,
                     (unsigned long long)search.address);
        *point = (struct hook_point){search.address, HOOK_BY_STUB};
        return 0;
    }
    return error_set(error, ERROR_UNSUPPORTED,
                     search.module ? "%s is not a NIF, or its library is not loaded yet"
                                   : "%s is not loaded",
                     search.symbol);
}

bool hooks_set_has(const struct function_set *set, uint64_t function)
{
    for (size_t i = 0; i < set->count; i++)
        if (set->functions[i] == function)
            return true;
    return false;
}

void hooks_set_add(struct function_set *set, uint64_t function)
{
    if (set->count < HOOK_FUNCTIONS_MAX && !hooks_set_has(set, function))
        set->functions[set->count++] = function;
}

/* ---- reading code ---- */

static bool read_native(void *context, uint64_t address, void *buffer, size_t size)
{
    const struct hooks *hooks = context;

    return native_code_read(hooks->executable, address, buffer, size);
}

static bool read_memory(void *context, uint64_t address, void *buffer, size_t size)
{
    const struct hooks *hooks = context;

    return memory_read(hooks->vm->memory, address, buffer, size);
}

bool hook_code(const struct hooks *hooks, uint64_t function, struct flow_code *code)
{
    *code = (struct flow_code){
        .parser = hooks->executable->parser, .read = read_native, .context = (void *)hooks};
    return native_code_find_function(hooks->executable, function, &code->start, &code->end) &&
           code->start == function;
}

static struct flow_code jit_code(const struct hooks *hooks, const struct code_place *place)
{
    return (struct flow_code){.parser = hooks->executable->parser,
                              .read = read_memory,
                              .context = (void *)hooks,
                              .start = place->start,
                              .end = place->end,
                              .follow_literals = true};
}

/* ---- calls ---- */

struct call_search {
    const struct hooks *hooks;
    call_pattern pattern;
    uint64_t detail;
    struct function_set *found;
};

static void look_at_call(void *context, const struct flow *flow, const struct flow_call *call)
{
    const struct call_search *search = context;
    const struct call_match match = {search->hooks, flow, call, search->detail};

    if (call->target && is_function(search->hooks, call->target) &&
        (!search->pattern || search->pattern(&match)))
        hooks_set_add(search->found, call->target);
}

static void search_code(const struct flow_code *code, struct call_search *search)
{
    flow_follow(code, &(struct flow_visitor){.call = look_at_call, .context = search});
}

void hooks_search_function(const struct hooks *hooks, uint64_t function, call_pattern pattern,
                           uint64_t detail, struct function_set *found)
{
    struct call_search search = {hooks, pattern, detail, found};
    struct flow_code code;

    if (hook_code(hooks, function, &code))
        search_code(&code, &search);
}

void hooks_search_place(const struct hooks *hooks, const struct code_place *place,
                        call_pattern pattern, uint64_t detail, struct function_set *found)
{
    struct call_search search = {hooks, pattern, detail, found};
    struct flow_code code = jit_code(hooks, place);

    search_code(&code, &search);
}

/* ---- stores ---- */

struct store_search {
    const struct hooks *hooks;
    store_pattern pattern;
    bool found;
};

static void look_at_store(void *context, const struct flow *flow, struct flow_value address,
                          struct flow_value value)
{
    struct store_search *search = context;
    const struct store_match match = {search->hooks, flow, address, value};

    search->found |= search->pattern(&match);
}

bool hooks_stores(const struct hooks *hooks, uint64_t function, store_pattern pattern)
{
    struct store_search search = {hooks, pattern, false};
    struct flow_code code;

    if (hook_code(hooks, function, &code))
        flow_follow(&code, &(struct flow_visitor){.store = look_at_store, .context = &search});
    return search.found;
}

/* ---- callers ---- */

static bool any_call_of(const struct call_match *match)
{
    return match->call->target == match->detail;
}

struct caller_search {
    const struct hooks *hooks;
    uint64_t function;
    struct function_set *found;
};

/* `address` holds the bytes of a call. Add the function around it if following that function's code
 * reaches a call of the searched function. */
static void look_at_caller(void *context, uint64_t address)
{
    const struct caller_search *search = context;
    struct function_set called = {.count = 0};
    uint64_t start, end;

    if (!native_code_find_function(search->hooks->executable, address, &start, &end))
        return;
    hooks_search_function(search->hooks, start, any_call_of, search->function, &called);
    if (called.count)
        hooks_set_add(search->found, start);
}

void hooks_search_callers(const struct hooks *hooks, uint64_t function, struct function_set *found)
{
    struct caller_search search = {hooks, function, found};

    native_code_callers(hooks->executable, function, look_at_caller, &search);
}

uint64_t hooks_next_function(const struct hooks *hooks, uint64_t function)
{
    uint64_t start, end;

    return native_code_find_function(hooks->executable, function, &start, &end) ? end : 0;
}

bool hooks_read_nif_stub(struct memory *memory, uint64_t function, struct nif_stub *stub)
{
    uint8_t bytes[JIT_NIF_STUB_BYTES];

    return memory_read(memory, function, bytes, sizeof(bytes)) &&
           jit_code_is_nif_stub(bytes, &stub->called, &stub->dirty);
}
