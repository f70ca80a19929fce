// SPDX-License-Identifier: Apache-2.0
/*
 * Writes files in folders of a file server, which may fall silent (FUSE, NFS).
 *
 * Opening, writing, renaming and closing such a file can each hang for ever, and so can the end of
 * any process that has it open (os/patient_open.h). So this program writes the file to a local disk
 * first. Then a process of its own, the courier, copies the file to its place. The courier has no
 * descriptor that others wait for, and is left behind if it hangs.
 */
#pragma once

#include <stdbool.h>

#include "util/error.h"

/* Look where the folder of `path` is, and start the process if a file server has it. This must come
 * before the rights to start processes are given up. Return 0, or -1 with error if the server does
 * not answer. */
int courier_look(const char *path, struct error *error);

/* True if courier_look() has found a file server for the folder of `path`. */
bool courier_has(const char *path);

/* In a process that fork() has just made: forget the process of the parent, and that its servers
 * were silent. The next courier_look() starts another one, unless one that was left behind still
 * hangs. */
void courier_renew(void);

/* If the process was left behind and has ended since, its server answers again: the next
 * courier_look() starts another one. */
void courier_try_again(void);

/* Let the process call `run(context)`, which works on folders of servers. The process has a copy of
 * the memory from its start: `run` can use only what existed then. `path`: one of these folders,
 * for the error. Return 0, or -1 with error if the server does not answer. */
int courier_run(void (*run)(void *context), void *context, const char *path, struct error *error);

/* True if the server says that there is a file `path`. */
bool courier_finds(const char *path);

/* Check that the file can be written. *ret_in_place: it is a pipe or a device. Return 0, or -1 with
 * error. */
int courier_check(const char *path, bool *ret_in_place, struct error *error);

/* Return a descriptor of a new local file without a name, to write and read; -1 with errno. */
int courier_local_file(void);

/* Copy the file of `fd` to its place, under its name. Return 0, or -1 with error. */
int courier_deliver(const char *path, int fd, struct error *error);
