// SPDX-License-Identifier: Apache-2.0
/* Sizes of structs and offsets of their members, from debug information (DWARF). */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define STRUCT_UNKNOWN INT32_MIN /* the debug information has no such struct */
#define MEMBER_UNKNOWN (-1)      /* the struct has no such member */

/* Find what `names` name in the file `fd`: "sizeof(TYPE)" or "TYPE.path", where TYPE is a typedef
 * or "struct TAG", and path leads through nested structs by dots. Fill `offsets`. False if the file
 * has no debug information, or reading it takes too much. */
bool struct_offsets_find(int fd, const char *const *names, size_t count, int32_t *offsets);
