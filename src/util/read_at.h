// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stddef.h>
#include <stdint.h>

/* Read `size` bytes of a file from `offset` on; returns how many there are, or could be read; where
 * it is not that there are fewer, errno says why. */
size_t read_at(int fd, uint64_t offset, void *buffer, size_t size);
