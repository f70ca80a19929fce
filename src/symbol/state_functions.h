// SPDX-License-Identifier: Apache-2.0
/*
 * The functions of a VM that its microstate accounting changes the state for, or that tell states
 * apart (symbol/microstate.h). Binaries hardly have symbols for them: beam/hooks.h and
 * beam/drivers.h find them. One that is not found is not known, and nothing is said of it.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "beam/code.h"
#include "beam/vm.h"
#include "os/code_ways.h"
#include "symbol/runtime_names.h"

enum state_function {
    FUNCTION_OTHER,
    FUNCTION_SCHEDULE,   /* erts_schedule() */
    FUNCTION_AUX_WORK,   /* handle_aux_work() */
    FUNCTION_CHECK_IO,   /* erts_check_io() */
    FUNCTION_DRIVER,     /* a callback of a driver */
    FUNCTION_COLLECT,    /* garbage_collect() */
    FUNCTION_FULL_SWEEP, /* full_sweep_heaps(), and what calls it but garbage_collect() itself:
                          * major_collection(), if compilers make a function of it */
    STATE_FUNCTIONS,
};

struct state_functions;

/* All borrowed. None is known yet. */
struct state_functions *state_functions_new(struct vm *vm, struct code *code,
                                            struct runtime_names *names);
void state_functions_free(struct state_functions *functions);

/* Find all, which takes some 20 ms, and give names to those that have none. */
void state_functions_find(struct state_functions *functions);
/* Find those of drivers that are in use since. */
void state_functions_find_drivers(struct state_functions *functions);
/* Find what else calls full_sweep_heaps(), which was added, and how garbage_collect() comes to it:
 * addresses of both. */
void state_functions_find_sweeps(struct state_functions *functions, uint64_t collect,
                                 uint64_t full_sweep);

void state_functions_add(struct state_functions *functions, enum state_function function,
                         uint64_t start);

/* What the function is that starts at an address. */
enum state_function state_functions_get(const struct state_functions *functions, uint64_t start);
bool state_functions_know(const struct state_functions *functions, enum state_function function);
/* Another number when functions were added. */
uint32_t state_functions_version(const struct state_functions *functions);

/* Whether garbage_collect() has a full sweep still ahead at an address in it (os/code_ways.h).
 * CALL_UNKNOWN if its ways are not known. */
enum call_ahead state_functions_sweep_ahead(const struct state_functions *functions,
                                            uint64_t address);
