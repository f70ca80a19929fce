// SPDX-License-Identifier: Apache-2.0
#include "recording/recording_format.h"

#include <zlib.h>

uint32_t chunk_crc(const void *header, const void *stored, size_t size)
{
    uLong crc = crc32(0, header, CHUNK_CRC_OFFSET);

    /* crc32() of a null pointer restarts the checksum, whatever the length. */
    return (uint32_t)(size ? crc32(crc, stored, (uInt)size) : crc);
}
