// SPDX-License-Identifier: Apache-2.0
/* Little-endian numbers in memory that need not be aligned. */
#pragma once

#include <endian.h>
#include <stdint.h>
#include <string.h>

static inline void put_le32(void *to, uint32_t value)
{
    value = htole32(value);
    memcpy(to, &value, sizeof(value));
}

static inline uint32_t get_le32(const void *from)
{
    uint32_t value;

    memcpy(&value, from, sizeof(value));
    return le32toh(value);
}
