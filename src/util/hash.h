// SPDX-License-Identifier: Apache-2.0
/*
 * A hash of bytes, for tables in memory only. Each process has its own seed, so a hostile target
 * cannot choose names that collide.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

uint64_t hash_bytes(const void *data, size_t size);
