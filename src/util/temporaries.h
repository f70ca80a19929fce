// SPDX-License-Identifier: Apache-2.0
/*
 * Temporary files (".NAME.PID-RANDOM.tmp") that must not stay. This process removes its own if a
 * signal ends it; files of killed processes are removed by a later run.
 */
#pragma once

#include <stdbool.h>

/* Return a name for a temporary file, which no other user can take in advance. The caller frees
 * it. */
char *temporaries_new_name(const char *name);

/* Return the pid in ".PID-RANDOM.tmp", what follows NAME; 0 for any other text. */
unsigned long temporaries_creator(const char *text);

/* Remember a file that this process has created. `fd` is open on it. `directory` must stay open
 * until temporaries_forget(). */
void temporaries_add(int directory, const char *name, int fd);
void temporaries_forget(int directory, const char *name);
/* True if the file of `fd` is the one that was created with this name. */
bool temporaries_is(int directory, const char *name, int fd);

/* Remove all that are remembered. Async-signal-safe. */
void temporaries_remove(void);

/* Remove the temporary files for `name` of processes that have ended. */
void temporaries_remove_leftovers(int directory, const char *name);
