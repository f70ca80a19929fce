// SPDX-License-Identifier: Apache-2.0
/*
 * Work that another process can delay for ever: reading a page that the other process fills
 * (userfaultfd, a file system in user space), opening a file, or reading the list of the other
 * process's memory while it holds the lock. The kernel ends such a read only when the reader is
 * killed, or not even then. So a thread of its own works, in a process of its own, and both are
 * left behind when the work takes too long. They can outlive this program, without its descriptors,
 * until the other process ends.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* Call `run(work)`, which uses no open descriptors, and wait for its end. False with errno EBUSY if
 * it takes too long, or if the program must end (util/stop.h): it then owns `work`, and calls
 * `drop(work)` should `run` return. False with errno EAGAIN, and with `drop` called, if no thread
 * can be started. It takes too long if it hangs in one wait (os/thread_wait.h): the first for a
 * second, all later ones for a quarter, because each delays all other work. */
bool patience_run(void (*run)(void *work), void (*drop)(void *work), void *work);

/* Return the number of processes that are left behind now. */
unsigned int patience_left(void);

enum { PATIENCE_KEPT_MAX = 2 };

/* The same for a `run` that uses `count` descriptors, at most PATIENCE_KEPT_MAX. It must close none
 * of them. They should be of a kind whose close() asks no server: O_PATH, a socket. */
bool patience_run_with(const int *kept, size_t count, void (*run)(void *work),
                       void (*drop)(void *work), void *work);

/* From now on the caller does the work itself, and waits however long it takes: this process may
 * start no other (os/call_filter.h). */
void patience_end(void);

/* True after patience_end(). */
bool patience_has_ended(void);
