// SPDX-License-Identifier: Apache-2.0
/*
 * Opens files whose server may not answer, now or later (FUSE, NFS).
 *
 * With such a file open, not only read() can hang, but close() too, and with it each process that
 * has a copy of the descriptor, when it ends or is killed (fuse_flush() in fs/fuse/file.c). So this
 * program itself has no such file open. It has O_PATH descriptors, whose close() asks no server;
 * processes that can be left behind open the file for reading (os/patience.h).
 */
#pragma once

#include <stdbool.h>

/* As patience_run(); *ret_fd becomes the descriptor that `open_file(work)` returns, or -1, also
 * if there is no socket to pass it. It should have O_PATH. */
bool patient_open(int (*open_file)(void *work), void (*drop)(void *work), void *work, int *ret_fd);

/* The same for a descriptor that another process is to get: *ret_socket becomes a socket, to be
 * closed, with one message that has it (os/descriptors.h), or -1. */
bool patient_open_into_socket(int (*open_file)(void *work), void (*drop)(void *work), void *work,
                              int *ret_socket);

/* Open the file of `fd`, which can have O_PATH, for reading, and see that it can be read. Return a
 * socket, to be closed, with one message that has its descriptor, for the process that is to read
 * it (os/descriptors.h). Return -1 if it can't be opened, and with errno EBUSY if its server
 * does not answer. */
int patient_open_for_reading(int fd);
