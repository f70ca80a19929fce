// SPDX-License-Identifier: Apache-2.0
/*
 * Make a recording from bytes. Inputs that begin with the magic are files. Other inputs become
 * chunks with correct checksums, so that the code after the checksum is reached too: the first byte
 * says how many of the other bytes are records, the rest is a summary.
 */
#pragma once

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "recording/chunks.h"
#include "recording/recording.h"

static inline void check(bool holds)
{
    if (!holds)
        abort();
}

static inline void write_chunks(int fd, const uint8_t *data, size_t size)
{
    struct error error;
    struct chunk_writer *writer = chunk_writer_new(fd, &error);
    size_t records = size ? (size - 1) * (data[0] + 1u) / 256 : 0;

    check(writer);
    check(chunk_write(writer, CHUNK_HEADER, "\0\0\0\0\0\0\0\0\0", 9, &error) == 0);
    if (records && records <= CHUNK_MAX)
        check(chunk_write(writer, CHUNK_RECORDS, data + 1, records, &error) == 0);
    if (size > 1 + records && size <= CHUNK_MAX)
        check(chunk_write(writer, CHUNK_SUMMARY, data + 1 + records, size - 1 - records, &error) ==
              0);
    chunk_writer_release(writer);
}

/* NULL if the recording has no header. */
static inline struct recording *fuzz_recording(const uint8_t *data, size_t size)
{
    int fd = memfd_create("fuzz", MFD_CLOEXEC);
    struct error error;

    check(fd >= 0);
    if (size && data[0] == (uint8_t)RECORDING_MAGIC[0])
        check(write(fd, data, size) == (ssize_t)size);
    else
        write_chunks(fd, data, size);
    check(lseek(fd, 0, SEEK_SET) == 0);
    return recording_open(fd, "fuzz", &error);
}
