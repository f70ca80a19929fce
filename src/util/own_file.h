// SPDX-License-Identifier: Apache-2.0
/* Files that this program may remove. Other users can make files with the same names. */
#pragma once

#include <stdbool.h>

/* True for a regular file of this user, or of the user who ran sudo. */
bool own_file_is(int directory, const char *name);

/* Remove such a file, unless the process that created it still writes it, and so has its lock. */
void own_file_remove(int directory, const char *name);
