// SPDX-License-Identifier: Apache-2.0
#include "image.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "util/alloc.h"
#include "util/cursor.h"

enum { LEVEL = 22 };
#define LARGEST ((size_t)1 << 30)

static const char MAGIC[] = "beamflame image 1\n";

/* ---- the same functions write and read ---- */

struct stream {
    bool writing;
    struct buffer out;
    struct cursor in;
};

static void put_number(struct stream *stream, uint64_t *value)
{
    if (stream->writing)
        buffer_varint(&stream->out, *value);
    else
        *value = cursor_varint(&stream->in, UINT64_MAX, "a number is expected");
}

static void put_bytes(struct stream *stream, struct buffer *bytes)
{
    const char *data;
    size_t size;

    if (stream->writing) {
        buffer_varint(&stream->out, bytes->size);
        buffer_put(&stream->out, bytes->data, bytes->size);
        return;
    }
    data = cursor_counted(&stream->in, LARGEST, &size);
    if (!data)
        return;
    buffer_put(bytes, data, size);
    buffer_byte(bytes, '\0'); /* texts end with '\0' */
    bytes->size = size;
}

/* Write or read the number of items; when reading, allocate the items. */
static void *put_count(struct stream *stream, void *items, size_t *count, size_t item_size)
{
    uint64_t value = *count;

    put_number(stream, &value);
    if (stream->writing)
        return items;
    if (value > LARGEST / item_size)
        cursor_fail(&stream->in, "there are too many items");
    *count = stream->in.problem ? 0 : value;
    return xcalloc(*count + 1, item_size);
}

static void put_text(struct stream *stream, char *text, size_t size)
{
    struct buffer bytes = {0};

    buffer_text(&bytes, stream->writing ? text : "");
    put_bytes(stream, &bytes);
    if (!stream->writing)
        snprintf(text, size, "%s", bytes.data ? bytes.data : "");
    buffer_free(&bytes);
}

static void put_flag(struct stream *stream, bool *flag)
{
    uint64_t value = *flag;

    put_number(stream, &value);
    *flag = value;
}

/* ---- the parts ---- */

static void put_build(struct stream *stream, struct build *build)
{
    uint64_t release = (uint64_t)build->otp_release;
    bool unused = false; /* in recorded images */

    put_number(stream, &release);
    build->otp_release = (int)release;
    put_text(stream, build->erts, sizeof(build->erts));
    put_text(stream, build->special, sizeof(build->special));
    put_flag(stream, &build->jit);
    put_flag(stream, &build->native_stack);
    put_flag(stream, &build->frame_pointer_field);
    put_flag(stream, &build->vm_probes);
    put_flag(stream, &unused);
}

static void put_roots(struct stream *stream, struct vm_roots *roots)
{
    put_number(stream, &roots->proc_table);
    put_number(stream, &roots->atom_table);
    put_number(stream, &roots->jit_descriptor);
    put_number(stream, &roots->this_node);
}

static void put_scheduler(struct stream *stream, struct vm_scheduler *scheduler)
{
    uint64_t type = scheduler->type, number = scheduler->number;

    put_number(stream, &scheduler->data);
    put_number(stream, &scheduler->registers);
    put_number(stream, &type);
    put_number(stream, &number);
    if (type > VM_SCHEDULER_DIRTY_IO)
        cursor_fail(&stream->in, "there is no such type of scheduler");
    else
        scheduler->type = (enum vm_scheduler_type)type;
    scheduler->number = (uint32_t)number;
}

static void put_runs(struct stream *stream, struct image_run **runs, size_t *count)
{
    *runs = put_count(stream, *runs, count, sizeof(**runs));
    for (size_t i = 0; i < *count; i++) {
        put_number(stream, &(*runs)[i].at);
        put_bytes(stream, &(*runs)[i].bytes);
    }
}

static void put_mapping(struct stream *stream, struct image_mapping *mapping)
{
    put_number(stream, &mapping->start);
    put_number(stream, &mapping->end);
    put_number(stream, &mapping->offset);
    put_number(stream, &mapping->file);
    put_bytes(stream, &mapping->path);
}

static void put_image(struct stream *stream, struct image *image)
{
    put_build(stream, &image->build);
    put_roots(stream, &image->roots);
    image->schedulers =
        put_count(stream, image->schedulers, &image->scheduler_count, sizeof(*image->schedulers));
    for (size_t i = 0; i < image->scheduler_count; i++)
        put_scheduler(stream, &image->schedulers[i]);
    image->mappings =
        put_count(stream, image->mappings, &image->mapping_count, sizeof(*image->mappings));
    for (size_t i = 0; i < image->mapping_count; i++)
        put_mapping(stream, &image->mappings[i]);
    image->files = put_count(stream, image->files, &image->file_count, sizeof(*image->files));
    for (size_t i = 0; i < image->file_count; i++) {
        put_number(stream, &image->files[i].size);
        put_runs(stream, &image->files[i].runs, &image->files[i].run_count);
    }
    put_runs(stream, &image->memory, &image->run_count);
    image->samples =
        put_count(stream, image->samples, &image->sample_count, sizeof(*image->samples));
    for (size_t i = 0; i < image->sample_count; i++) {
        put_bytes(stream, &image->samples[i].state);
        put_bytes(stream, &image->samples[i].bytes);
    }
    put_bytes(stream, &image->kernel);
}

/* ---- files ---- */

static int save(const char *path, const void *data, size_t size, struct error *error)
{
    FILE *file = fopen(path, "we");
    bool written;

    if (!file)
        return error_set(error, ERROR_FAILED, "can't create %s: %s", path, strerror(errno));
    written = fwrite(data, 1, size, file) == size;
    written = fclose(file) == 0 && written;
    return written ? 0 : error_set(error, ERROR_FAILED, "can't write %s", path);
}

int image_write(const char *path, struct image *image, struct error *error)
{
    struct stream stream = {.writing = true};
    size_t room, size;
    void *packed;
    int result;

    buffer_text(&stream.out, MAGIC);
    put_image(&stream, image);
    room = ZSTD_compressBound(stream.out.size);
    packed = xmalloc(room);
    size = ZSTD_compress(packed, room, stream.out.data, stream.out.size, LEVEL);
    buffer_free(&stream.out);
    result = ZSTD_isError(size) ? error_set(error, ERROR_FAILED, "%s", ZSTD_getErrorName(size))
                                : save(path, packed, size, error);
    free(packed);
    return result;
}

static int load(const char *path, struct buffer *bytes, struct error *error)
{
    FILE *file = fopen(path, "re");
    size_t got;

    if (!file)
        return error_set(error, ERROR_FAILED, "can't open %s: %s", path, strerror(errno));
    while ((got = fread(buffer_reserve(bytes, 1 << 16), 1, 1 << 16, file)) > 0)
        bytes->size += got;
    fclose(file);
    return 0;
}

static int unpack(const struct buffer *packed, struct buffer *bytes)
{
    unsigned long long size = ZSTD_getFrameContentSize(packed->data, packed->size);

    if (size > LARGEST) /* an error code is larger too */
        return -1;
    buffer_reserve(bytes, size + 1);
    bytes->size = ZSTD_decompress(bytes->data, size, packed->data, packed->size);
    return bytes->size == size && size > sizeof(MAGIC) &&
                   !memcmp(bytes->data, MAGIC, sizeof(MAGIC) - 1)
               ? 0
               : -1;
}

int image_read(const char *path, struct image *image, struct error *error)
{
    struct buffer packed = {0}, bytes = {0};
    struct stream stream = {0};
    int result = load(path, &packed, error);

    memset(image, 0, sizeof(*image));
    if (result == 0 && unpack(&packed, &bytes) != 0)
        result = error_set(error, ERROR_FAILED, "%s is not an image", path);
    buffer_free(&packed);
    if (result == 0) {
        stream.in = cursor_over(bytes.data + sizeof(MAGIC) - 1, bytes.size - sizeof(MAGIC) + 1);
        put_image(&stream, image);
        if (stream.in.problem)
            result = error_set(error, ERROR_FAILED, "%s: %s", path, stream.in.problem);
    }
    buffer_free(&bytes);
    if (result)
        image_free(image);
    return result;
}

static void free_runs(struct image_run *runs, size_t count)
{
    for (size_t i = 0; i < count; i++)
        buffer_free(&runs[i].bytes);
    free(runs);
}

void image_free(struct image *image)
{
    for (size_t i = 0; i < image->mapping_count; i++)
        buffer_free(&image->mappings[i].path);
    for (size_t i = 0; i < image->file_count; i++)
        free_runs(image->files[i].runs, image->files[i].run_count);
    for (size_t i = 0; i < image->sample_count; i++) {
        buffer_free(&image->samples[i].state);
        buffer_free(&image->samples[i].bytes);
    }
    free_runs(image->memory, image->run_count);
    free(image->schedulers);
    free(image->mappings);
    free(image->files);
    free(image->samples);
    buffer_free(&image->kernel);
    memset(image, 0, sizeof(*image));
}
