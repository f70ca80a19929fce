// SPDX-License-Identifier: Apache-2.0
/*
 * What a waiting process waits for: any message in its main loop (idle), or the end of a call
 * (blocked). The functions on its stack tell. Where they do not, it is only waiting.
 *
 * A frame gets its class with its name, once for each address (symbol/frame_names.h). The status
 * follows from the classes of a stack.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "profile/profile.h"

/* What a frame tells about a process that waits in it, or below it. */
enum waiting_class {
    WAITING_NO_CALL,   /* passed over: native code, a fragment or a mark. A stack from the scheduler
                        * has them at its leaf */
    WAITING_UNKNOWN,   /* any other function */
    WAITING_MAIN_LOOP, /* as a leaf: the process has nothing to do */
    WAITING_INSIDE,    /* as a leaf: the process waits inside a call */
    WAITING_CALLER,    /* anywhere: the process is inside a callback of a behaviour, or a call */
};

/* The class of a frame by its kind and its function. */
enum waiting_class waiting_class_of(enum frame_kind kind, const char *symbol);

/* The status of a process that waits with a stack of these classes (enum waiting_class), leaf
 * first: STATUS_IDLE, STATUS_BLOCKED, or STATUS_WAITING if the stack does not show which.
 * `has_messages`: its queue has messages, which its receive does not take. */
enum process_status waiting_status(const uint8_t *classes, size_t count, bool has_messages);
