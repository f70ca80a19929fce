// SPDX-License-Identifier: Apache-2.0
#include "agent/name_numbers.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "profile/string_table.h"
#include "util/alloc.h"
#include "util/buffer.h"
#include "util/files.h"

/* When most lines of the file are out of date, the file is written again without them. */
enum { LINES_ALWAYS = 100 };

/* Senders have few rights, and may write to these files. 100,000 lines have less. */
static const off_t FILE_MOST = 16 << 20; /* bytes */

struct name_numbers {
    char *path;
    struct string_table names;
    size_t *of; /* by the id of the name */
    size_t room;
    uint64_t lines;    /* of the file */
    bool must_rewrite; /* it does not end with a line, or could not be read */
};

static void set(struct name_numbers *numbers, const char *name, size_t size, size_t number)
{
    uint32_t id = string_table_add(&numbers->names, name, size);

    numbers->of = xgrow(numbers->of, &numbers->room, id, sizeof(*numbers->of));
    numbers->of[id] = number;
}

/* ---- the file ---- */

/* "NAME all" or "NAME 3". Other lines are left out. */
static void parse_line(struct name_numbers *numbers, const char *line)
{
    const char *space = strchr(line, ' ');
    unsigned long number;
    char *end;

    if (!space || space == line)
        return;
    if (!strcmp(space + 1, "all")) {
        set(numbers, line, (size_t)(space - line), SIZE_MAX);
        return;
    }
    errno = 0;
    number = strtoul(space + 1, &end, 10);
    if (space[1] >= '0' && space[1] <= '9' && !*end && !errno)
        set(numbers, line, (size_t)(space - line), number);
}

/* The last line of a name counts. One without its end was cut off when its writer was killed. */
static void parse(struct name_numbers *numbers, char *text)
{
    char *end;

    for (; (end = strchr(text, '\n')); text = end + 1) {
        *end = '\0';
        parse_line(numbers, text);
        numbers->lines++;
    }
    numbers->must_rewrite = *text != '\0';
}

static void read_file(struct name_numbers *numbers, int fd)
{
    struct stat status;
    char *text;

    if (fstat(fd, &status) || !S_ISREG(status.st_mode) || status.st_size > FILE_MOST) {
        numbers->must_rewrite = true;
        return;
    }
    text = xcalloc(1, (size_t)status.st_size + 1);
    files_read_at(fd, 0, text, (size_t)status.st_size);
    parse(numbers, text);
    free(text);
}

struct name_numbers *name_numbers_open(const char *directory, const char *name, const char *suffix)
{
    struct name_numbers *numbers = xcalloc(1, sizeof(*numbers));
    int fd;

    numbers->path = xasprintf("%s/%s%s", directory, name, suffix);
    fd = open(numbers->path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd >= 0) {
        read_file(numbers, fd);
        close(fd);
    }
    return numbers;
}

void name_numbers_free(struct name_numbers *numbers)
{
    string_table_free(&numbers->names);
    free(numbers->of);
    free(numbers->path);
    free(numbers);
}

size_t name_numbers_get(struct name_numbers *numbers, const char *recording)
{
    uint32_t id = string_table_find(&numbers->names, recording, strlen(recording), UINT32_MAX);

    return id == UINT32_MAX ? 0 : numbers->of[id];
}

/* ---- changes ---- */

static void put_line(struct buffer *text, const char *name, size_t number)
{
    if (number == SIZE_MAX)
        buffer_format(text, "%s all\n", name);
    else
        buffer_format(text, "%s %zu\n", name, number);
}

/* Forget the recordings that have left the spool. */
static void forget_removed(struct name_numbers *numbers, const struct spool_list *spool)
{
    struct name_numbers kept = {.path = NULL};

    for (size_t i = 0; i < spool->count; i++) {
        const char *name = spool->of[i].name;
        size_t number = name_numbers_get(numbers, name);

        if (number)
            set(&kept, name, strlen(name), number);
    }
    string_table_free(&numbers->names);
    free(numbers->of);
    numbers->names = kept.names;
    numbers->of = kept.of;
    numbers->room = kept.room;
}

static int rewrite(struct name_numbers *numbers, const struct spool_list *spool)
{
    char *temporary = xasprintf("%s.new", numbers->path);
    int fd = open(temporary, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600);
    struct buffer text = {0};
    int result = -1;

    forget_removed(numbers, spool);
    numbers->must_rewrite = true;
    for (uint32_t id = 1; id <= numbers->names.count; id++)
        put_line(&text, string_table_get(&numbers->names, id), numbers->of[id]);
    if (fd >= 0) {
        result = files_write_all(fd, text.data, text.size);
        if (close(fd))
            result = -1;
    }
    if (!result)
        result = rename(temporary, numbers->path);
    if (!result) {
        numbers->lines = numbers->names.count;
        numbers->must_rewrite = false;
    }
    buffer_free(&text);
    free(temporary);
    return result;
}

/* A line is written as a whole, or the file is written anew the next time. */
static int append(struct name_numbers *numbers, const char *recording, size_t number)
{
    int fd = open(numbers->path, O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_CLOEXEC, 0600);
    struct buffer text = {0};
    int result = -1;

    put_line(&text, recording, number);
    if (fd >= 0) {
        result = files_write_all(fd, text.data, text.size);
        if (close(fd))
            result = -1;
    }
    numbers->lines++;
    numbers->must_rewrite = result != 0;
    buffer_free(&text);
    return result;
}

int name_numbers_set(struct name_numbers *numbers, const char *recording, size_t number,
                     const struct spool_list *spool, struct error *error)
{
    bool is_long = numbers->lines > 2 * spool->count + LINES_ALWAYS;
    int result;

    set(numbers, recording, strlen(recording), number);
    result = numbers->must_rewrite || is_long ? rewrite(numbers, spool)
                                              : append(numbers, recording, number);
    return result ? error_set(error, ERROR_FAILED, "can't write %s: %s", numbers->path,
                              strerror(errno))
                  : 0;
}
