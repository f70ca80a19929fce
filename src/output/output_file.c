// SPDX-License-Identifier: Apache-2.0
#include "output/output_file.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "os/file_broker.h"
#include "output/formats.h"
#include "util/alloc.h"

/* Level 4: twice as fast as the default of 6, and 5 % larger for stacks as text. */
#define GZIP_MODE "wb4"

static ssize_t gzip_write(void *cookie, const char *data, size_t size)
{
    int written = gzwrite(cookie, data, (unsigned)size);

    return written > 0 ? written : 0; /* 0 is an error: fopencookie(3) */
}

static int gzip_close(void *cookie)
{
    int result = gzclose(cookie);

    if (result == Z_OK)
        return 0;
    if (result != Z_ERRNO)
        errno = EIO;
    return EOF;
}

/* Return a FILE that writes gzip to `fd` and owns `fd`; NULL if out of memory. */
static FILE *gzip_fdopen(int fd)
{
    gzFile gzip = gzdopen(fd, GZIP_MODE);

    if (!gzip)
        return NULL;
    return fopencookie(gzip, "w",
                       (cookie_io_functions_t){.write = gzip_write, .close = gzip_close});
}

#define WRITE_BUFFER ((size_t)256 << 10)

static bool has_suffix(const char *text, const char *suffix)
{
    size_t size = strlen(text), end = strlen(suffix);

    return size > end && !strcmp(text + size - end, suffix);
}

static int cannot_write(const char *path, int code, struct error *error)
{
    return error_set(error, ERROR_FAILED, "can't write %s: %s", path, strerror(code));
}

bool output_file_is_in_place(const char *path)
{
    return !strcmp(path, "-") || placed_file_is_in_place(path);
}

int output_file_check(const char *path, struct error *error)
{
    bool in_place;

    if (!strcmp(path, "-") || file_broker_is_asked())
        return 0;
    return placed_file_check(path, &in_place, error);
}

int output_file_prefix(const char *path, struct error *error)
{
    return strcmp(path, "-") ? error_prefix(error, "%s", path) : -1;
}

static int open_path(struct output_file *output, struct error *error)
{
    int fd = placed_file_open(&output->placed, output->path, error);

    if (fd < 0)
        return -1;
    output->file = has_suffix(output->path, ".gz") ? gzip_fdopen(fd) : fdopen(fd, "w");
    if (!output->file)
        abort(); /* only out of memory */
    return 0;
}

int output_file_open(struct output_file *output, const char *path, FILE *given, struct error *error)
{
    struct output_file new = {.file = NULL};

    if (given || !strcmp(path, "-")) {
        *output = (struct output_file){.file = given ? given : stdout};
        return 0;
    }
    new.path = xstrdup(path);
    if (open_path(&new, error)) {
        output_file_release(&new);
        return -1;
    }
    new.buffer = xmalloc(WRITE_BUFFER); /* glibc's setvbuf() uses a size only with a buffer */
    setvbuf(new.file, new.buffer, _IOFBF, WRITE_BUFFER);
    *output = new;
    return 0;
}

static bool reader_has_left(FILE *file)
{
    struct pollfd look = {.fd = fileno(file)};

    return poll(&look, 1, 0) == 1 && look.revents & POLLERR;
}

bool output_file_failed(struct output_file *output)
{
    if (!ferror_unlocked(output->file) || output->is_unwanted)
        return false;
    output->is_unwanted = output->file == stdout && reader_has_left(stdout);
    return !output->is_unwanted;
}

int output_file_close(struct output_file *output, struct error *error)
{
    FILE *file = output->file;
    int code = fflush(file) ? errno : EIO;
    bool failed = output_file_failed(output);

    output->file = NULL;
    if (output->path && fclose(file) && !failed) {
        failed = true;
        code = errno;
    }
    return failed ? cannot_write(output->path ? output->path : "the output", code, error) : 0;
}

int output_file_publish(struct output_file *output, struct error *error)
{
    return output->path ? placed_file_publish(&output->placed, output->path, error) : 0;
}

void output_file_release(struct output_file *output)
{
    if (output->path && output->file)
        fclose(output->file);
    if (output->path)
        placed_file_close(&output->placed);
    free(output->path);
    free(output->buffer);
    *output = (struct output_file){.file = NULL};
}

/* A file name has at most 255 bytes: the longest suffix and the suffix of a temporary file must
 * fit. */
#define EVENT_MAX 100

/* True if the name of a file can have the character of an event's name. */
static bool is_in_names(char character)
{
    return isalnum((unsigned char)character) || strchr("._-", character);
}

/* Return where the suffix begins. ".gz" is a suffix for any format: the file is compressed. */
static size_t suffix_start(const char *path, const struct output_format *format)
{
    size_t size = strlen(path), suffix = output_format_suffix(format, path);

    if (!suffix && size > 3 && !strcmp(path + size - 3, ".gz"))
        suffix = 3;
    return size - suffix;
}

char *output_file_split_path(const char *path, const struct output_format *format,
                             const char *event)
{
    size_t start = suffix_start(path, format);
    char *result = xasprintf("%.*s.%.*s%s", (int)start, path, EVENT_MAX, event, path + start);
    size_t end = strlen(result) - strlen(path + start);

    for (size_t i = start + 1; i < end; i++)
        if (!is_in_names(result[i]))
            result[i] = '-';
    return result;
}

bool output_file_fits_split_path(const char *split, const char *path,
                                 const struct output_format *format)
{
    size_t start = suffix_start(path, format), size = strlen(split), suffix = strlen(path) - start;

    if (size < start + 1 + suffix || size > start + 1 + EVENT_MAX + suffix ||
        strncmp(split, path, start) != 0 || split[start] != '.' ||
        strcmp(split + size - suffix, path + start) != 0)
        return false;
    for (size_t i = start + 1; i < size - suffix; i++)
        if (!is_in_names(split[i]))
            return false;
    return true;
}
