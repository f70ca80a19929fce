// SPDX-License-Identifier: Apache-2.0
/* How much memory the program may take (--max-memory). Tables that grow with their input get their
 * shares here. */
#pragma once

#include <stdint.h>

#define MEMORY_LIMIT_DEFAULT (UINT64_C(256) << 20)
#define MEMORY_LIMIT_LEAST   (UINT64_C(32) << 20)

uint64_t memory_limit(void); /* bytes */
/* What requested its share before keeps it. */
void memory_limit_set(uint64_t bytes);

/* Bytes of address space that writing outputs may take: more than all formats at once need for what
 * memory_limit() allows, with millions of samples (docs/security.md). */
uint64_t memory_limit_of_outputs(void);
