// SPDX-License-Identifier: Apache-2.0
#include "util/files.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

enum { MOST = 1 << 20 }; /* Debian's file of all certificates has 220 KB */

/* `content` has room for the largest file, so that no copies of a secret are left behind. */
static int read_all(int fd, const char *path, struct buffer *content, struct error *error)
{
    ssize_t got;

    while (content->size <= MOST &&
           (got = read(fd, content->data + content->size, MOST + 1 - content->size)) != 0) {
        if (got < 0)
            return error_set(error, ERROR_FAILED, "can't read '%s': %s", path, strerror(errno));
        content->size += (size_t)got;
    }
    if (content->size > MOST)
        return error_set(error, ERROR_FAILED, "'%s' has more than 1 MB", path);
    content->data[content->size] = '\0';
    return 0;
}

int small_file_take(int fd, const char *path, struct buffer *content, struct error *error)
{
    int result;

    buffer_reserve(content, MOST + 1);
    result = read_all(fd, path, content, error);
    close(fd);
    if (result)
        small_file_free(content);
    return result;
}

int small_file_read(const char *path, struct buffer *content, struct error *error)
{
    int fd = files_open_regular(path, error);

    return fd < 0 ? -1 : small_file_take(fd, path, content, error);
}

static int check_secret(const char *path, const struct buffer *content, struct error *error)
{
    if (!content->size)
        return error_set(error, ERROR_FAILED, "'%s' is empty", path);
    for (size_t i = 0; i < content->size; i++)
        if ((unsigned char)content->data[i] < ' ' || content->data[i] == 0x7f)
            return error_set(error, ERROR_FAILED, "'%s' has more than one line", path);
    return 0;
}

int small_file_secret(const char *path, struct buffer *content, struct error *error)
{
    if (small_file_read(path, content, error))
        return -1;
    while (content->size &&
           (content->data[content->size - 1] == '\n' || content->data[content->size - 1] == '\r'))
        content->data[--content->size] = '\0';
    if (check_secret(path, content, error) == 0)
        return 0;
    small_file_free(content);
    return -1;
}

void small_file_free(struct buffer *content)
{
    if (content->data)
        explicit_bzero(content->data, content->size);
    buffer_free(content);
}
