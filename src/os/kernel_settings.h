// SPDX-License-Identifier: Apache-2.0
/* The release of the running kernel, and its settings: files of /proc/sys and /sys with one line.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* Parse "6.1.0-56-cloud" as KERNEL_RELEASE(6, 1). 0 if the text has another form. */
unsigned int kernel_release_parse(const char *text);

/* The release of the running kernel, as KERNEL_RELEASE(). 0 if it is unknown. */
unsigned int kernel_release(void);

/* Read the first line of a file, without its end; a longer one is cut. False if it can't be
 * read. */
bool kernel_setting(const char *path, char *text, size_t size);
bool kernel_setting_number(const char *path, long *number);

/* True if tracefs is mounted at one of its two places. */
bool kernel_has_tracefs(void);

/* ---- cpus.c ---- */

/* Which CPUs of this machine are online. */

/* Parse a list of CPUs as the kernel writes it ("0-3,5"): online[CPU] becomes true for each CPU
 * below `count` that it has, else false. False if the text is no such list. */
bool cpus_parse(const char *list, bool *online, size_t count);

/* The CPUs that are online now. False if that is not known. */
bool cpus_online(bool *online, size_t count);
