// SPDX-License-Identifier: Apache-2.0
/* Declarations that the files behind hooks.h share. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "arch/cpu.h"
#include "beam/atom.h"
#include "beam/roots.h"
#include "beam/vm.h"
#include "hooks/hooks.h"
#include "native/dataflow.h"

/* ---- bif_table.c ---- */

/*
 * The VM's table of BIFs (BifEntry bif_table[], utils/make_tables 25.2.3:227, 29.1.1:229): the C
 * function of each BIF.
 *
 * The table is found by its symbol. Without a symbol it is found by its form: the only long run of
 * rows in the executable's writable data that have two atoms, a small arity and two functions each.
 */

/* BifEntry.kind. Calls of guard BIFs are instructions (ops.tab: bif1, bif2, gc_bif1...). */
enum bif_kind { BIF_REGULAR, BIF_HEAVY, BIF_GUARD, BIF_KINDS };

/* A row as it lies in the VM's memory. */
struct bif {
    uint64_t module, function; /* atoms */
    uint32_t arity, padding;
    uint64_t called;          /* the function that Erlang code calls; it schedules a dirty BIF */
    uint64_t implementation;  /* the function that does the work */
    uint32_t kind, padding_2; /* enum bif_kind */
};

struct bif_table {
    struct bif *rows;
    size_t count;
};

/* Returns -1 with ERROR_UNSUPPORTED if there is no such table, or more than one. */
int bif_table_read(struct vm *vm, struct elf_file *executable, struct bif_table *table,
                   struct error *error);
void bif_table_free(struct bif_table *table);

/* True if the loader replaces calls of the BIF of this name by an instruction. */
bool bif_table_is_instruction(const char *module, const char *function, uint32_t arity);

/* A step of bif_table_read(), for tests: the only run of at least 100 rows in the data, or NULL if
 * there is none or more than one. The rows point into the bytes of `search`. */
const struct bif *bif_table_search(const struct roots_search *search, size_t *ret_count);

/* ---- hooks.c ---- */

enum { HOOK_FUNCTIONS_MAX = 512 };

struct hooks {
    struct vm *vm;
    struct code *code;
    struct elf_file *executable;
    struct atoms *atoms;
    struct bif_table bifs; /* empty until the first request */
    struct hook_answer {
        bool asked;
        int result;
        struct hook_point point;
        struct error error;
    } answers[HOOK_COUNT];
};

/* A set of addresses of VM functions. */
struct function_set {
    uint64_t functions[HOOK_FUNCTIONS_MAX];
    size_t count;
};

void hooks_set_add(struct function_set *set, uint64_t function);
bool hooks_set_has(const struct function_set *set, uint64_t function);

/* ---- hooks.c: the calls that code makes ---- */

/* A call on a path of the code, and the `detail` that the search got with its pattern. */
struct call_match {
    const struct hooks *hooks;
    const struct flow *flow;
    const struct flow_call *call;
    uint64_t detail;
};
typedef bool (*call_pattern)(const struct call_match *match);

static inline struct flow_value argument(const struct call_match *match, unsigned int index)
{
    return flow_argument(match->call, index);
}
/* The register in which the code that calls or stores got its own argument `index`. */
static inline enum cpu_register own_argument(unsigned int index)
{
    return cpu.arguments[index];
}
/* True if the argument is the value that the register had at the start of the code. */
static inline bool argument_is(const struct call_match *match, unsigned int index,
                               enum cpu_register reg)
{
    return flow_is_register(argument(match, index), reg, 0);
}
/* True if the argument is the code's own argument `own`. */
static inline bool argument_is_own(const struct call_match *match, unsigned int index,
                                   unsigned int own)
{
    return argument_is(match, index, own_argument(own));
}
static inline bool argument_is_number(const struct call_match *match, unsigned int index,
                                      int64_t number)
{
    return flow_is_number(argument(match, index), number);
}
static inline bool argument_is_stack(const struct call_match *match, unsigned int index)
{
    return flow_is_stack(argument(match, index));
}

/* Search the VM's function at `function`, or the JIT's code at `place`, for calls that match the
 * pattern (NULL: all calls). Add the called functions that are in the executable to `found`. */
void hooks_search_function(const struct hooks *hooks, uint64_t function, call_pattern pattern,
                           uint64_t detail, struct function_set *found);
void hooks_search_place(const struct hooks *hooks, const struct code_place *place,
                        call_pattern pattern, uint64_t detail, struct function_set *found);

/* True if the VM's function makes a store that matches the pattern. */
struct store_match {
    const struct hooks *hooks;
    const struct flow *flow;
    struct flow_value address, value;
};
typedef bool (*store_pattern)(const struct store_match *match);
bool hooks_stores(const struct hooks *hooks, uint64_t function, store_pattern pattern);

/* The code of the VM's function at `function`. False if no function starts there. */
bool hook_code(const struct hooks *hooks, uint64_t function, struct flow_code *code);

/* Add the functions of the VM that call `function` to `found`. */
void hooks_search_callers(const struct hooks *hooks, uint64_t function, struct function_set *found);

/* The function after `function` in the executable; 0 if there is none. */
uint64_t hooks_next_function(const struct hooks *hooks, uint64_t function);

/* ---- hook_finders.c: how to find a function that has no symbol ---- */

struct hook_function {
    const char *name;
    enum hook_method way;
    const char *description; /* for the error message: "what ..." */
    /* Add all functions that fit. The hook is found if exactly one fits. */
    void (*find)(struct hooks *hooks, struct function_set *found);
};
extern const struct hook_function hook_functions[HOOK_COUNT];

/* ---- scheduling_hooks.c: functions of hook_finders.c's table ---- */

void scheduling_hook_schedule(struct hooks *hooks, struct function_set *found);
void scheduling_hook_copy_in(struct hooks *hooks, struct function_set *found);
void scheduling_hook_wake(struct hooks *hooks, struct function_set *found);
void scheduling_hook_wake_signal(struct hooks *hooks, struct function_set *found);
void scheduling_hook_enqueue(struct hooks *hooks, struct function_set *found);
void scheduling_hook_dirty_nif(struct hooks *hooks, struct function_set *found);
void scheduling_hook_dirty_bif(struct hooks *hooks, struct function_set *found);
void scheduling_hook_aux_work(struct hooks *hooks, struct function_set *found);
void scheduling_hook_check_io(struct hooks *hooks, struct function_set *found);
void scheduling_hook_scheduler_wait(struct hooks *hooks, struct function_set *found);
void scheduling_hook_full_sweep(struct hooks *hooks, struct function_set *found);

/* ---- hooks.c ---- */

/* Address of a hook's function, or 0 if it is not found. */
uint64_t hook_address(struct hooks *hooks, enum hook hook);
/* The row of a BIF; NULL with error if there is none, or no table. `error` may be NULL. */
const struct bif *hooks_find_bif(struct hooks *hooks, const char *module, const char *function,
                                 uint32_t arity, struct error *error);
