// SPDX-License-Identifier: Apache-2.0
/*
 * File servers that do not answer (FUSE, NFS), by the devices of their files.
 *
 * A process that reads from such a server is left behind (os/patience.h), and each takes a while.
 * Any user can have many processes with a file of one server, and many servers. So a silent device
 * is not read again for 10 s, and all silent devices together may take 2 s in 10 s. After that,
 * only files of local disks and of devices that have answered are read. The functions can be called
 * by several threads at once.
 */
#pragma once

#include <stdint.h>
#include <sys/types.h>

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
