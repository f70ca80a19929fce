// SPDX-License-Identifier: Apache-2.0
/* Which CPUs of this machine are online. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* Parse a list of CPUs as the kernel writes it ("0-3,5"): online[CPU] becomes true for each CPU
 * below `count` that it has, else false. False if the text is no such list. */
bool cpus_parse(const char *list, bool *online, size_t count);

/* The CPUs that are online now. False if that is not known. */
bool cpus_online(bool *online, size_t count);
