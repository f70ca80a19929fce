// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stddef.h>
#include <stdint.h>

/* Read `size` bytes of a file at `offset`. Return the number of bytes read: fewer at the end of the
 * file, or on an error, which sets errno. */
size_t read_at(int fd, uint64_t offset, void *buffer, size_t size);
