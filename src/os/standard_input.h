// SPDX-License-Identifier: Apache-2.0
/*
 * Standard input from a file whose server may fall silent (FUSE, NFS).
 *
 * With such a file open, neither this program nor a process that it forks could end
 * (os/patient_open.h). So only a process that can be left behind has the file open.
 */
#pragma once

#include <stdbool.h>

#include "os/patient_file.h"

/* Let a process have standard input open, if it is such a file: for this one it is closed then.
 * Call it first: there must be no other thread. */
void standard_input_begin(void);

/* Return the file that such a process reads, or NULL. This module owns the file. */
struct patient_file *standard_input_file(void);

/* True if there is such a process, and `path` names standard input. */
bool standard_input_is(const char *path);

/* In a process that becomes another program: open it again. */
void standard_input_give_back(void);
