// SPDX-License-Identifier: Apache-2.0
/*
 * Temporary files (".NAME.PID-N.tmp") that must not stay. This process removes its own if a signal
 * ends it; those of processes that were killed are removed by a later run.
 */
#pragma once

/* Remember a file that this process has created. The directory must be open until it is
 * forgotten. */
void temporaries_add(int directory, const char *name);
void temporaries_forget(int directory, const char *name);

/* Remove all that are remembered. Async-signal-safe. */
void temporaries_remove(void);

/* Remove the temporary files for `name` of processes that have ended. */
void temporaries_remove_leftovers(int directory, const char *name);
