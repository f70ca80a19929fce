// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stddef.h>
#include <stdint.h>

/* Read `size` bytes of a file at `offset`. Return the number of bytes read: fewer at the end of the
 * file, or on an error, which sets errno. */
size_t read_at(int fd, uint64_t offset, void *buffer, size_t size);

/* Write all `size` bytes. Return 0, or -1 with errno. */
int write_all(int fd, const void *data, size_t size);
