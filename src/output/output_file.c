// SPDX-License-Identifier: Apache-2.0
#include "output/output_file.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

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

/* A FILE that writes gzip to `fd`, which it owns; NULL if out of memory. */
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

/* Devices and pipes must be written in place: a rename would replace /dev/null by a file. */
bool output_file_is_in_place(const char *path)
{
    struct stat status;

    return !strcmp(path, "-") || (stat(path, &status) == 0 && !S_ISREG(status.st_mode));
}

/* Return the path with links resolved, so that the file is replaced, not the link. To be freed. */
static char *final_path(const char *path)
{
    char *real = realpath(path, NULL);

    return real ? real : xstrdup(path);
}

/* Create DIRECTORY/.NAME.PID-N.tmp; the umask decides on its mode, as for any new file. Returns its
 * descriptor, and its path to be freed; -1 with errno if that fails. */
static int create_temporary(const char *path, char **ret_temporary)
{
    char *directory = xstrdup(path), *base = xstrdup(path), *temporary = NULL;
    int fd = -1;

    for (unsigned attempt = 0; attempt < 100; attempt++) {
        temporary = xasprintf("%s/.%s.%d-%u.tmp", dirname(strcpy(directory, path)),
                              basename(strcpy(base, path)), (int)getpid(), attempt);
        fd = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (fd >= 0 || errno != EEXIST)
            break;
        free(temporary);
        temporary = NULL;
    }
    free(directory);
    free(base);
    if (fd < 0) {
        free(temporary);
        return -1;
    }
    flock(fd, LOCK_EX | LOCK_NB); /* marks it as in use; some file systems cannot */
    *ret_temporary = temporary;
    return fd;
}

/* Check that a file can be created beside `path`, by creating one: permissions are not enough
 * (/proc, a read-only mount). Returns -1 with errno if not. */
static int check_creation(const char *path)
{
    char *temporary;
    int fd = create_temporary(path, &temporary);

    if (fd < 0)
        return -1;
    close(fd);
    unlink(temporary);
    free(temporary);
    return 0;
}

int output_file_check(const char *path, struct error *error)
{
    struct stat status;
    char *real;
    int result = 0;

    if (!strcmp(path, "-"))
        return 0;
    if (stat(path, &status) == 0 && S_ISDIR(status.st_mode))
        return cannot_write(path, EISDIR, error);
    real = final_path(path);
    if (output_file_is_in_place(real) ? access(real, W_OK) : check_creation(real))
        result = cannot_write(path, errno, error);
    free(real);
    return result;
}

static int open_path(struct output_file *output, struct error *error)
{
    int fd = output_file_is_in_place(output->path)
                 ? open(output->path, O_WRONLY | O_CLOEXEC)
                 : create_temporary(output->path, &output->temporary);

    if (fd < 0)
        return cannot_write(output->path, errno, error);
    output->file = has_suffix(output->path, ".gz") ? gzip_fdopen(fd) : fdopen(fd, "w");
    if (!output->file)
        abort(); /* only out of memory */
    return 0;
}

int output_file_open(struct output_file *output, const char *path, FILE *given, struct error *error)
{
    struct output_file new = {0};

    if (given || !strcmp(path, "-")) {
        output->file = given ? given : stdout;
        output->path = output->temporary = output->buffer = NULL;
        return 0;
    }
    new.path = final_path(path);
    if (open_path(&new, error)) {
        output_file_release(&new);
        return -1;
    }
    new.buffer = xmalloc(WRITE_BUFFER); /* glibc's setvbuf() uses a size only with a buffer */
    setvbuf(new.file, new.buffer, _IOFBF, WRITE_BUFFER);
    *output = new;
    return 0;
}

int output_file_close(struct output_file *output, struct error *error)
{
    FILE *file = output->file;
    bool failed = ferror(file) || fflush(file);
    int code = errno;

    output->file = NULL;
    if (output->path && fclose(file) && !failed) {
        failed = true;
        code = errno;
    }
    return failed ? cannot_write(output->path ? output->path : "the output", code, error) : 0;
}

int output_file_publish(struct output_file *output, struct error *error)
{
    if (!output->temporary)
        return 0;
    if (rename(output->temporary, output->path))
        return cannot_write(output->path, errno, error);
    free(output->temporary);
    output->temporary = NULL;
    return 0;
}

void output_file_release(struct output_file *output)
{
    if (output->path && output->file)
        fclose(output->file);
    if (output->temporary)
        unlink(output->temporary);
    free(output->temporary);
    free(output->path);
    free(output->buffer);
    *output = (struct output_file){0};
}

/* A file name has at most 255 bytes: the longest suffix and that of a temporary file must fit. */
#define EVENT_MAX 100

/* Return where the suffix begins. ".gz" is a suffix for any format: the file is compressed. */
static size_t suffix_start(const char *path, const struct output_format *format)
{
    size_t size = strlen(path), suffix = output_suffix_of(format, path);

    if (!suffix && size > 3 && !strcmp(path + size - 3, ".gz"))
        suffix = 3;
    return size - suffix;
}

char *split_path(const char *path, const struct output_format *format, const char *event)
{
    size_t start = suffix_start(path, format);
    char *result = xasprintf("%.*s.%.*s%s", (int)start, path, EVENT_MAX, event, path + start);
    size_t end = strlen(result) - strlen(path + start);

    for (size_t i = start + 1; i < end; i++)
        if (!isalnum((unsigned char)result[i]) && !strchr("._-", result[i]))
            result[i] = '-';
    return result;
}
