// SPDX-License-Identifier: Apache-2.0
/*
 * The functions of a VM at which its microstate accounting changes the state, or which tell states
 * apart (symbol/microstate.h). Most binaries have no symbols for them, so hooks/hooks.h and
 * hooks/drivers.h find them. A function that is not found stays unknown, without a message.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "beam/code.h"
#include "hooks/hooks.h"
#include "beam/vm.h"
#include "native/reachability.h"
#include "symbol/runtime_names.h"

enum state_function {
    FUNCTION_OTHER,
    FUNCTION_SCHEDULE,   /* erts_schedule() */
    FUNCTION_AUX_WORK,   /* handle_aux_work() */
    FUNCTION_CHECK_IO,   /* erts_check_io() */
    FUNCTION_DRIVER,     /* a callback of a driver */
    FUNCTION_COLLECT,    /* garbage_collect() */
    FUNCTION_FULL_SWEEP, /* full_sweep_heaps(), and its callers except garbage_collect():
                          * major_collection(), if the compiler did not inline it */
    STATE_FUNCTIONS,
};

struct state_functions;

/* Borrows all. At first no function is known. */
struct state_functions *state_functions_new(struct vm *vm, struct code *code,
                                            struct runtime_names *names);
void state_functions_free(struct state_functions *functions);

/* Find all functions, and name all hooks that have no name. That takes 30 to 60 ms. */
void state_functions_find(struct state_functions *functions, struct hooks *hooks);
/* Find the callbacks of drivers that came into use since. */
void state_functions_find_drivers(struct state_functions *functions);
/* Find the other callers of full_sweep_heaps(), and the paths in garbage_collect() that lead to it.
 * `collect`, `full_sweep`: addresses of these functions; `full_sweep` must have been added. */
void state_functions_find_sweeps(struct state_functions *functions, uint64_t collect,
                                 uint64_t full_sweep);

void state_functions_add(struct state_functions *functions, enum state_function function,
                         uint64_t start);

/* The kind of the function that starts at an address. */
enum state_function state_functions_get(const struct state_functions *functions, uint64_t start);
bool state_functions_know(const struct state_functions *functions, enum state_function function);
/* A number that changes when functions are added. */
uint32_t state_functions_version(const struct state_functions *functions);

/* Return whether garbage_collect() still has a full sweep ahead when it is at this address
 * (native/reachability.h). CALL_UNKNOWN if its paths are unknown. */
enum call_ahead state_functions_sweep_ahead(const struct state_functions *functions,
                                            uint64_t address);
