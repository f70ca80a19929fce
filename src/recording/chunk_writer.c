// SPDX-License-Identifier: Apache-2.0
#include "recording/chunk_writer.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zstd.h>

#include "util/alloc.h"
#include "util/buffer.h"
#include "util/little_endian.h"

#define PACK_LEVEL 3 /* zstd's default: about 300 MB/s */

struct chunk_writer {
    int fd;
    uint64_t written; /* whole chunks only */
    ZSTD_CCtx *packer;
    struct buffer chunk;
    struct error failed;
};

/* Append all bytes to the file, or none. An error is kept for all later calls. */
static int put(struct chunk_writer *writer, const char *data, size_t size, struct error *error)
{
    size_t done = 0;

    while (done < size) {
        ssize_t n = write(writer->fd, data + done, size - done);

        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0) {
            error_set(&writer->failed, ERROR_FAILED, "can't write the recording: %s",
                      n ? strerror(errno) : "nothing was written");
            /* A pipe can't be truncated. Its reader finds a cut chunk, which is allowed, too. */
            if (done && ftruncate(writer->fd, (off_t)writer->written) == 0)
                lseek(writer->fd, (off_t)writer->written, SEEK_SET);
            *error = writer->failed;
            return -1;
        }
        done += (size_t)n;
    }
    writer->written += size;
    return 0;
}

struct chunk_writer *chunk_writer_new(int fd, struct error *error)
{
    struct chunk_writer *writer = xcalloc(1, sizeof(*writer));
    char start[RECORDING_START_SIZE];

    writer->fd = fd;
    writer->packer = ZSTD_createCCtx();
    if (!writer->packer)
        abort();
    memcpy(start, RECORDING_MAGIC, RECORDING_MAGIC_SIZE);
    put_le32(start + RECORDING_MAGIC_SIZE, RECORDING_VERSION);
    if (put(writer, start, sizeof(start), error)) {
        close(chunk_writer_release(writer));
        return NULL;
    }
    return writer;
}

/* Put the payload after the room for the header, compressed if that makes it smaller. */
static enum chunk_encoding pack(struct chunk_writer *writer, const void *data, size_t size)
{
    struct buffer *chunk = &writer->chunk;
    size_t packed;

    chunk->size = 0;
    buffer_reserve(chunk, CHUNK_HEADER_SIZE + ZSTD_compressBound(size));
    packed = ZSTD_compressCCtx(writer->packer, chunk->data + CHUNK_HEADER_SIZE,
                               chunk->capacity - CHUNK_HEADER_SIZE, data, size, PACK_LEVEL);
    if (!ZSTD_isError(packed) && packed < size) {
        chunk->size = CHUNK_HEADER_SIZE + packed;
        return ENCODING_ZSTD;
    }
    chunk->size = CHUNK_HEADER_SIZE;
    buffer_put(chunk, data, size);
    return ENCODING_PLAIN;
}

int chunk_writer_check(const struct chunk_writer *writer, struct error *error)
{
    if (!writer->failed.code)
        return 0;
    *error = writer->failed;
    return -1;
}

int chunk_write(struct chunk_writer *writer, enum chunk_type type, const void *data, size_t size,
                struct error *error)
{
    struct buffer *chunk = &writer->chunk;
    enum chunk_encoding encoding;
    size_t stored;

    if (chunk_writer_check(writer, error))
        return -1;
    if (size > CHUNK_MAX)
        return error_set(error, ERROR_FAILED, "chunk of %zu bytes is too large to record", size);
    encoding = pack(writer, data, size);
    stored = chunk->size - CHUNK_HEADER_SIZE;
    chunk->data[0] = (char)type;
    chunk->data[1] = (char)encoding;
    chunk->data[2] = chunk->data[3] = 0;
    put_le32(chunk->data + 4, (uint32_t)stored);
    put_le32(chunk->data + 8, (uint32_t)size);
    put_le32(chunk->data + CHUNK_CRC_OFFSET,
             chunk_crc(chunk->data, chunk->data + CHUNK_HEADER_SIZE, stored));
    return put(writer, chunk->data, chunk->size, error);
}

uint64_t chunk_writer_size(const struct chunk_writer *writer)
{
    return writer->written;
}

int chunk_writer_release(struct chunk_writer *writer)
{
    int fd = writer->fd;

    ZSTD_freeCCtx(writer->packer);
    buffer_free(&writer->chunk);
    free(writer);
    return fd;
}
