// SPDX-License-Identifier: Apache-2.0
/*
 * Opens files whose server may not answer, now or later (FUSE, NFS).
 *
 * With such a file open, read() can hang, and so can close(). A process that ends or is killed
 * closes its copies of the descriptor, so its end can hang too (fuse_flush() in fs/fuse/file.c). So
 * this program itself has no such file open. It has O_PATH descriptors, whose close() asks no
 * server; processes that can be left behind open the file for reading (os/patience.h).
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* As patience_run(); *ret_fd becomes the descriptor that `open_file(work)` returns, or -1, also
 * if there is no socket to pass it. It should have O_PATH. */
bool patient_open(int (*open_file)(void *work), void (*drop)(void *work), void *work, int *ret_fd);

/* The same for a descriptor that another process is to get: *ret_socket becomes a socket, to be
 * closed, with one message that has it (os/descriptors.h), or -1. */
bool patient_open_into_socket(int (*open_file)(void *work), void (*drop)(void *work), void *work,
                              int *ret_socket);

/* Open the file of `fd` for reading, and check that it can be read. `fd` may have O_PATH. Return a
 * socket with one message: the descriptor, for the process that will read the file
 * (os/descriptors.h). The caller closes the socket. Return -1 if the file can't be opened; errno is
 * EBUSY if its server does not answer. */
int patient_open_for_reading(int fd);

/* ---- silent_servers.c ---- */

/*
 * File servers that do not answer (FUSE, NFS), by the devices of their files.
 *
 * A process that reads from such a server is left behind (os/patience.h), and each takes a while.
 * Any user can have many processes with a file of one server, and many servers. So a silent device
 * is not read again for 10 s, and all silent devices together may take 2 s in 10 s. After that,
 * only files of local disks and of devices that have answered are read. The functions can be called
 * by several threads at once.
 */

enum silence {
    SILENCE_NONE,     /* read the file */
    SILENCE_KNOWN,    /* its server has not answered */
    SILENCE_OF_OTHERS /* it may be on a server, and too many others do not answer */
};

/* Say if a file of this device, which process `pid` uses, is to be read. Asks no server. */
enum silence silent_servers_look(pid_t pid, uint64_t device);

/* Note what came of it: the server did not answer for so many ns, or it answered. */
void silent_servers_note(uint64_t device, uint64_t waited_ns);
void silent_servers_note_answer(uint64_t device);
