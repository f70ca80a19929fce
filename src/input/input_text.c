// SPDX-License-Identifier: Apache-2.0
#include "input/input_internal.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <zlib.h>

#include "util/alloc.h"
#include "util/buffer.h"
#include "util/hash.h"

/* Bytes to read at a time. */
#define BLOCK ((size_t)256 << 10)

struct input_text {
    gzFile file;
    char *name;
    struct buffer bytes;
    size_t at;   /* start of the next line in `bytes` */
    size_t kept; /* start of the lines to keep in `bytes` */
    bool keeps;
    bool ended; /* the file ends at the end of `bytes` */
    uint64_t line;
    uint64_t packed; /* bytes of the file that were read */
};

struct input_text *input_text_open(int fd, const char *name, struct error *error)
{
    struct input_text *text;
    gzFile file = lseek(fd, 0, SEEK_SET) == 0 ? gzdopen(fd, "r") : NULL;

    if (!file) {
        error_set(error, ERROR_FAILED, "cannot read %s: %s", name, strerror(errno));
        close(fd);
        return NULL;
    }
    gzbuffer(file, 1 << 16);
    text = xcalloc(1, sizeof(*text));
    text->file = file;
    text->name = xstrdup(name);
    return text;
}

void input_text_close(struct input_text *text)
{
    if (!text)
        return;
    gzclose(text->file);
    buffer_free(&text->bytes);
    free(text->name);
    free(text);
}

int input_text_rewind(struct input_text *text, struct error *error)
{
    if (gzrewind(text->file))
        return error_set(error, ERROR_FAILED, "can't read %s again", text->name);
    text->bytes.size = text->at = text->kept = 0;
    text->keeps = text->ended = false;
    text->line = 0;
    return 0;
}

static int failed(const struct input_text *text, uint64_t line, struct error *error,
                  const char *format, va_list arguments)
{
    char problem[sizeof(error->text)];

    vsnprintf(problem, sizeof(problem), format, arguments);
    return error_set(error, ERROR_FAILED, "%.200s: line %" PRIu64 ": %s", text->name, line,
                     problem);
}

int input_text_fail(const struct input_text *text, uint64_t back, struct error *error,
                    const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    failed(text, text->line - back, error, format, arguments);
    va_end(arguments);
    return -1;
}

/* The same for the next line. */
__attribute__((format(printf, 3, 4))) static int
fail_next(const struct input_text *text, struct error *error, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    failed(text, text->line + 1, error, format, arguments);
    va_end(arguments);
    return -1;
}

static void drop_what_was_read(struct input_text *text)
{
    size_t from = text->keeps ? text->kept : text->at;

    memmove(text->bytes.data, text->bytes.data + from, text->bytes.size - from);
    text->bytes.size -= from;
    text->at -= from;
    text->kept = 0;
}

/* Read another block. */
static int fill(struct input_text *text, struct error *error)
{
    int got, code;

    if (text->at)
        drop_what_was_read(text);
    if (text->bytes.size >= TEXT_MAX)
        return fail_next(text, error, "longer than %zu MB", TEXT_MAX >> 20);
    got = gzread(text->file, buffer_reserve(&text->bytes, BLOCK), BLOCK);
    if (got > 0) {
        text->bytes.size += (size_t)got;
        text->packed = (uint64_t)gzoffset(text->file);
        return 0;
    }
    gzerror(text->file, &code);
    text->ended = !got && code == Z_OK;
    if (text->ended)
        return 0;
    return fail_next(text, error, "cannot be read: %s",
                     code == Z_ERRNO       ? strerror(errno)
                     : code == Z_BUF_ERROR ? "the compressed file is incomplete"
                                           : "the compressed file is damaged");
}

int input_text_line(struct input_text *text, struct span *line, struct error *error)
{
    const char *start, *end = NULL;
    size_t seen = 0;

    for (;;) {
        size_t left = text->bytes.size - text->at;

        if (left > seen) {
            start = text->bytes.data + text->at;
            end = memchr(start + seen, '\n', left - seen);
            if (end)
                break;
        }
        seen = left;
        if (text->ended)
            return left ? fail_next(text, error,
                                    "the file is incomplete: its last line does not end")
                        : 0;
        if (fill(text, error))
            return -1;
    }
    *line = (struct span){start, (size_t)(end - start)};
    text->at += line->size + 1;
    text->line++;
    return 1;
}

int input_text_peek(struct input_text *text)
{
    struct error ignored;

    while (text->at == text->bytes.size)
        if (text->ended || fill(text, &ignored))
            return -1;
    return (unsigned char)text->bytes.data[text->at];
}

void input_text_keep(struct input_text *text)
{
    text->keeps = true;
    text->kept = text->at;
}

struct span input_text_kept(struct input_text *text)
{
    text->keeps = false;
    return (struct span){text->bytes.data + text->kept, text->at - text->kept};
}

uint64_t input_text_bytes(const struct input_text *text)
{
    return text->packed;
}

const char *input_text_name(const struct input_text *text)
{
    return text->name;
}

uint64_t input_text_line_number(const struct input_text *text)
{
    return text->line;
}

struct cache_entry {
    size_t offset; /* in the bytes of the cache */
    size_t size;
    uint32_t kind, value;
};

struct text_cache {
    size_t limit;
    struct buffer bytes;
    struct cache_entry *entries;
    uint32_t count;
    size_t room;
    struct id_index index;
};

struct text_cache *input_text_cache_new(size_t limit)
{
    struct text_cache *cache = xcalloc(1, sizeof(*cache));

    cache->limit = limit;
    buffer_reserve(&cache->bytes, 1); /* so that an empty text has an address, too */
    return cache;
}

void input_text_cache_free(struct text_cache *cache)
{
    if (!cache)
        return;
    buffer_free(&cache->bytes);
    free(cache->entries);
    hash_index_free(&cache->index);
    free(cache);
}

static uint64_t hash(uint32_t kind, struct span text)
{
    return hash_bytes(text.at, text.size) + (uint64_t)kind * 0x9e3779b1u;
}

uint32_t input_text_cache_get(const struct text_cache *cache, uint32_t kind, struct span text)
{
    struct id_probe probe = id_index_probe(&cache->index, hash(kind, text));
    uint32_t id;

    while ((id = id_probe_next(&probe))) {
        const struct cache_entry *entry = &cache->entries[id - 1];

        if (entry->kind == kind && entry->size == text.size &&
            !memcmp(cache->bytes.data + entry->offset, text.at, text.size))
            return entry->value;
    }
    return 0;
}

static void forget_all(struct text_cache *cache)
{
    cache->bytes.size = 0;
    cache->count = 0;
    hash_index_free(&cache->index);
}

void input_text_cache_put(struct text_cache *cache, uint32_t kind, struct span text, uint32_t value)
{
    if (cache->bytes.size + text.size > cache->limit)
        forget_all(cache);
    cache->entries = xgrow(cache->entries, &cache->room, cache->count, sizeof(*cache->entries));
    cache->entries[cache->count++] =
        (struct cache_entry){cache->bytes.size, text.size, kind, value};
    buffer_put(&cache->bytes, text.at, text.size);
    hash_index_add(&cache->index, hash(kind, text), cache->count);
}
