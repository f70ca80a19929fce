// SPDX-License-Identifier: Apache-2.0
/*
 * Hash of a run of bytes, for tables in memory only: it is seeded anew in each process, so that a
 * hostile target cannot choose names that collide.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

uint64_t hash_bytes(const void *data, size_t size);
