// SPDX-License-Identifier: Apache-2.0
/*
 * Make a recording from bytes. Inputs that begin with the magic are files. Other inputs are a
 * choice for the fuzzer, and a list of chunks, which get correct checksums after a header of the
 * recording's writer. So the code after the checksum is reached too:
 *
 *      choice   1 byte
 *      chunk... type 1 byte, size 2 bytes (little-endian), as many bytes
 */
#pragma once

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "recording/recording.h"
#include "recording/recording_internal.h"
#include "util/buffer.h"

enum { FUZZ_CHUNK_HEAD = 3 };

static inline void check(bool holds)
{
    if (!holds)
        abort();
}

static inline int fuzz_file(void)
{
    int fd = memfd_create("fuzz", MFD_CLOEXEC);

    check(fd >= 0);
    return fd;
}

static inline bool fuzz_is_file(const uint8_t *data, size_t size)
{
    return size && data[0] == (uint8_t)RECORDING_MAGIC[0];
}

static inline uint8_t fuzz_choice(const uint8_t *data, size_t size)
{
    return size ? data[0] : 0;
}

/* The content of a header chunk as the writer makes it. */
static inline const struct buffer *fuzz_header(void)
{
    static struct buffer header;
    const struct recording_header made = {.frequency = 100,
                                          .cpus = 2,
                                          .event = "cpu-clock",
                                          .hostname = "",
                                          .kernel = "",
                                          .command = "",
                                          .version = "",
                                          .trigger = ""};
    struct recording_totals totals = {0};
    struct profile *profile;
    struct chunk_reader *reader;
    struct error error;
    struct chunk chunk;
    bool cut;
    int fd;

    if (header.size)
        return &header;
    profile = profile_new();
    check(!recording_finish(recording_create_fd(fuzz_file(), &made, &error), profile, &totals, &fd,
                            &error));
    reader = chunk_reader_new(fd, "header", &error);
    check(reader && chunk_read(reader, &chunk, &cut, &error) == 1 && chunk.type == CHUNK_HEADER);
    buffer_put(&header, chunk.data, chunk.size);
    chunk_reader_free(reader);
    profile_free(profile);
    return &header;
}

static inline void fuzz_write_chunks(int fd, const uint8_t *data, size_t size)
{
    struct error error;
    struct chunk_writer *writer = chunk_writer_new(fd, &error);
    const struct buffer *header = fuzz_header();

    check(writer && !chunk_write(writer, CHUNK_HEADER, header->data, header->size, &error));
    for (size_t at = 1; at + FUZZ_CHUNK_HEAD <= size;) {
        size_t length = data[at + 1] | (size_t)data[at + 2] << 8;
        enum chunk_type type = (enum chunk_type)data[at];

        at += FUZZ_CHUNK_HEAD;
        if (length > size - at)
            length = size - at;
        check(!chunk_write(writer, type, data + at, length, &error));
        at += length;
    }
    chunk_writer_release(writer);
}

/* Write the recording to `fd`, and go to its start. */
static inline void fuzz_write(int fd, const uint8_t *data, size_t size)
{
    if (fuzz_is_file(data, size))
        check(write(fd, data, size) == (ssize_t)size);
    else
        fuzz_write_chunks(fd, data, size);
    check(lseek(fd, 0, SEEK_SET) == 0);
}

/* Return NULL if the recording is refused when it is opened. */
static inline struct recording *fuzz_recording(const uint8_t *data, size_t size)
{
    int fd = fuzz_file();
    struct error error;

    fuzz_write(fd, data, size);
    return recording_open(fd, "fuzz", &error);
}
