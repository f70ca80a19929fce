// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gelf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util/buffer.h"

/* Append the address of each place in the executable segments of the file that may be a direct call
 * of `function`, as uint64_t. The bytes match, but they may be part of another instruction.
 * Addresses are the file's. False if they have more than `most` bytes, or if the code can't be
 * read. */
bool direct_calls_find(Elf *elf, int fd, uint64_t function, size_t most, struct buffer *calls);
