// SPDX-License-Identifier: Apache-2.0
/* Which files are on disks or in memory of this machine. */
#pragma once

#include <stdbool.h>

/* True if the file or folder of `fd`, which can have O_PATH, always answers: no file server has it.
 * The question itself can wait for a server. */
bool local_disk_has(int fd);
