// SPDX-License-Identifier: Apache-2.0
/*
 * What a frame tells about the frames that it called. A frame gets its class with its name, once
 * for each address (symbol/frame_names.h). The classes of a stack tell what its thread does
 * (symbol/microstate.h).
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "symbol/state_functions.h"

enum frame_class {
    CLASS_ERLANG,     /* not native code */
    CLASS_BIF,        /* not native code either, but called native code: a BIF or NIF */
    CLASS_SYSTEM,     /* the kernel or a library */
    CLASS_VM,         /* any other function of the VM */
    CLASS_SCHEDULE,   /* erts_schedule() */
    CLASS_AUX,        /* handle_aux_work() */
    CLASS_CHECK_IO,   /* erts_check_io(), driver_select() */
    CLASS_PORT,       /* a callback of a driver */
    CLASS_COLLECT,    /* garbage_collect() */
    CLASS_FULL_SWEEP, /* full_sweep_heaps(), or a caller below garbage_collect() */
    CLASS_POLL,       /* the system call that waits for file descriptors, or checks them */
    CLASS_SLEEP,      /* other system calls of an idle thread */
    FRAME_CLASSES,
};

/* The class of a function of the kernel or a library, by its name. */
enum frame_class frame_class_of_system(const char *symbol);
/* The class of a native function by its name and the path of its file. `executable`: the VM's,
 * perhaps by another path. */
enum frame_class frame_class_of_native(const char *symbol, const char *file,
                                       const char *executable);
/* The class of the native function that starts at `start`: by what it is for the VM's state, else
 * the class that its name gives. Call again when state_functions_version() changes; the class of
 * before can then be `by_name`. */
enum frame_class frame_class_of_start(const struct state_functions *functions, uint64_t start,
                                      enum frame_class by_name);
