// SPDX-License-Identifier: Apache-2.0
#include "recording/recording_internal.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include "util/alloc.h"
#include "util/buffer.h"
#include "util/cursor.h"
#include "util/disk_room.h"

uint32_t chunk_crc(const void *header, const void *stored, size_t size)
{
    uLong crc = crc32(0, header, CHUNK_CRC_OFFSET);

    /* crc32() of a null pointer restarts the checksum, whatever the length. */
    return (uint32_t)(size ? crc32(crc, stored, (uInt)size) : crc);
}

struct chunk_reader {
    int fd;
    char *name;
    uint32_t version;
    uint64_t offset; /* of the next chunk */
    ZSTD_DCtx *unpacker;
    struct buffer stored, plain;
};

/* The fields of a chunk's header. */
struct chunk_head {
    uint8_t type, encoding;
    uint32_t stored, size, crc;
};

/* Read up to `size` bytes. Return their number, which is smaller only at the end of the file, or -1
 * with error. */
static ssize_t read_up_to(struct chunk_reader *reader, void *to, size_t size, struct error *error)
{
    size_t done = 0;

    while (done < size) {
        ssize_t n = read(reader->fd, (char *)to + done, size - done);

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return error_set(error, ERROR_FAILED, "cannot read %s: %s", reader->name,
                             strerror(errno));
        if (n == 0)
            break;
        done += (size_t)n;
    }
    return (ssize_t)done;
}

static int malformed(const struct chunk_reader *reader, uint64_t offset, const char *problem,
                     struct error *error)
{
    return error_set(error, ERROR_FAILED, "%s: byte %" PRIu64 ": %s", reader->name, offset,
                     problem);
}

int chunk_malformed(const struct chunk_reader *reader, const struct chunk *chunk, size_t at,
                    const char *problem, struct error *error)
{
    return error_set(error, ERROR_FAILED,
                     "%s: byte %" PRIu64 ": %s (at byte %zu of this chunk, unpacked)", reader->name,
                     chunk->offset, problem, at);
}

static int read_start(struct chunk_reader *reader, struct error *error)
{
    char start[RECORDING_START_SIZE];
    ssize_t n = read_up_to(reader, start, sizeof(start), error);

    if (n < 0)
        return -1;
    if (n < (ssize_t)sizeof(start) || memcmp(start, RECORDING_MAGIC, RECORDING_MAGIC_SIZE))
        return malformed(reader, 0, "the file is not a recording (.bfr)", error);
    reader->version = get_le32(start + RECORDING_MAGIC_SIZE);
    if (reader->version < RECORDING_OLDEST || reader->version > RECORDING_VERSION)
        return error_set(error, ERROR_UNSUPPORTED,
                         "%s: byte %d: format version %" PRIu32
                         ", this program reads versions %d to %d",
                         reader->name, RECORDING_MAGIC_SIZE, reader->version, RECORDING_OLDEST,
                         RECORDING_VERSION);
    reader->offset = sizeof(start);
    return 0;
}

struct chunk_reader *chunk_reader_new(int fd, const char *name, struct error *error)
{
    struct chunk_reader *reader = xcalloc(1, sizeof(*reader));

    reader->fd = fd;
    reader->name = xstrdup(name);
    reader->unpacker = ZSTD_createDCtx();
    if (!reader->unpacker)
        abort();
    if (read_start(reader, error)) {
        chunk_reader_free(reader);
        return NULL;
    }
    return reader;
}

void chunk_reader_free(struct chunk_reader *reader)
{
    if (!reader)
        return;
    close(reader->fd);
    ZSTD_freeDCtx(reader->unpacker);
    buffer_free(&reader->stored);
    buffer_free(&reader->plain);
    free(reader->name);
    free(reader);
}

const char *chunk_reader_name(const struct chunk_reader *reader)
{
    return reader->name;
}

uint32_t chunk_reader_version(const struct chunk_reader *reader)
{
    return reader->version;
}

uint64_t chunk_reader_offset(const struct chunk_reader *reader)
{
    return reader->offset;
}

static int check_head(const struct chunk_reader *reader, const struct chunk_head *head,
                      const char *bytes, struct error *error)
{
    if (head->type < CHUNK_HEADER || head->type > CHUNK_RECORDED)
        return malformed(reader, reader->offset, "the type of the chunk is unknown", error);
    if (head->encoding > ENCODING_ZSTD)
        return malformed(reader, reader->offset + 1, "the encoding of the chunk is unknown", error);
    if (bytes[2] || bytes[3])
        return malformed(reader, reader->offset + 2, "reserved bytes are not zero", error);
    if (head->stored > CHUNK_MAX ||
        (head->encoding == ENCODING_PLAIN && head->stored != head->size))
        return malformed(reader, reader->offset + 4, "the length of the chunk is impossible",
                         error);
    if (head->size > CHUNK_MAX)
        return malformed(reader, reader->offset + 8, "the size of the chunk is impossible", error);
    return 0;
}

static int unpack(struct chunk_reader *reader, const struct chunk_head *head,
                  struct chunk *ret_chunk, struct error *error)
{
    const char *data = reader->stored.data;

    if (head->encoding == ENCODING_ZSTD) {
        data = buffer_reserve(&reader->plain, head->size);
        size_t size = ZSTD_decompressDCtx(reader->unpacker, reader->plain.data, head->size,
                                          reader->stored.data, head->stored);

        if (ZSTD_isError(size) || size != head->size)
            return malformed(reader, reader->offset + CHUNK_HEADER_SIZE,
                             "the chunk can't be unpacked", error);
    }
    *ret_chunk = (struct chunk){head->type, (const uint8_t *)data, head->size, reader->offset};
    return 0;
}

static struct chunk_head head_of(const char *bytes)
{
    return (struct chunk_head){(uint8_t)bytes[0], (uint8_t)bytes[1], get_le32(bytes + 4),
                               get_le32(bytes + 8), get_le32(bytes + CHUNK_CRC_OFFSET)};
}

uint64_t chunk_find_last(struct chunk_reader *reader, enum chunk_type type)
{
    uint64_t found = 0, offset = RECORDING_START_SIZE;
    char bytes[CHUNK_HEADER_SIZE];
    struct error ignored;
    struct stat stat;

    if (fstat(reader->fd, &stat) || !S_ISREG(stat.st_mode))
        return 0;
    while (pread(reader->fd, bytes, sizeof(bytes), (off_t)offset) == (ssize_t)sizeof(bytes)) {
        struct chunk_head head = head_of(bytes);
        uint64_t end = offset + CHUNK_HEADER_SIZE + head.stored;

        if (check_head(reader, &head, bytes, &ignored) || end > (uint64_t)stat.st_size)
            break;
        if (head.type == type)
            found = offset;
        offset = end;
    }
    return found;
}

int chunk_seek(struct chunk_reader *reader, uint64_t offset, struct error *error)
{
    if (lseek(reader->fd, (off_t)offset, SEEK_SET) < 0)
        return error_set(error, ERROR_FAILED, "cannot read %s: %s", reader->name, strerror(errno));
    reader->offset = offset;
    return 0;
}

int chunk_read(struct chunk_reader *reader, struct chunk *ret_chunk, bool *ret_cut,
               struct error *error)
{
    char bytes[CHUNK_HEADER_SIZE];
    struct chunk_head head;
    ssize_t n = read_up_to(reader, bytes, sizeof(bytes), error);

    if (n < 0)
        return -1;
    *ret_cut = n > 0;
    if (n < (ssize_t)sizeof(bytes))
        return 0;
    head = head_of(bytes);
    if (check_head(reader, &head, bytes, error))
        return -1;
    n = read_up_to(reader, buffer_reserve(&reader->stored, head.stored), head.stored, error);
    if (n < 0)
        return -1;
    if (n < (ssize_t)head.stored)
        return 0;
    if (chunk_crc(bytes, reader->stored.data, head.stored) != head.crc)
        return malformed(reader, reader->offset, "the chunk is damaged: its checksum differs",
                         error);
    if (unpack(reader, &head, ret_chunk, error))
        return -1;
    reader->offset += sizeof(bytes) + head.stored;
    *ret_cut = false;
    return 1;
}

#define PACK_LEVEL 3 /* zstd's default: about 300 MB/s */

struct chunk_writer {
    int fd;
    uint64_t written; /* whole chunks only */
    ZSTD_CCtx *packer;
    struct buffer chunk;
    struct disk_room room;
    struct error failed;
};

/* Append all bytes to the file, or none. An error is kept for all later calls. */
static int put(struct chunk_writer *writer, const char *data, size_t size, struct error *error)
{
    size_t done = 0;

    if (disk_room_take(&writer->room, writer->fd, size)) {
        disk_room_error(&writer->room, "can't write the recording", &writer->failed);
        *error = writer->failed;
        return -1;
    }
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
