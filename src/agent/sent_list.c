// SPDX-License-Identifier: Apache-2.0
#include "agent/sent_list.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "util/alloc.h"
#include "util/buffer.h"
#include "util/files.h"

enum { FILE_MAX = 4 << 20 }; /* bytes */

struct entry {
    char *name;
    size_t count;
};

struct sent_list {
    char *path;
    struct entry *of;
    size_t count;
};

static struct entry *find(const struct sent_list *sent, const char *name)
{
    for (size_t i = 0; i < sent->count; i++)
        if (!strcmp(sent->of[i].name, name))
            return &sent->of[i];
    return NULL;
}

static struct entry *find_or_add(struct sent_list *sent, const char *name)
{
    struct entry *entry = find(sent, name);

    if (entry)
        return entry;
    sent->of = xreallocarray(sent->of, sent->count + 1, sizeof(*sent->of));
    sent->of[sent->count] = (struct entry){.name = xstrdup(name)};
    return &sent->of[sent->count++];
}

static void parse(struct sent_list *sent, char *text)
{
    char *rest = NULL;

    for (char *line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
        char *space = strchr(line, ' ');

        if (!space)
            continue;
        *space = '\0';
        find_or_add(sent, line)->count =
            strcmp(space + 1, "all") ? strtoul(space + 1, NULL, 10) : SIZE_MAX;
    }
}

struct sent_list *sent_list_open(const char *directory, const char *service)
{
    struct sent_list *sent = xcalloc(1, sizeof(*sent));
    char *text = xcalloc(1, FILE_MAX + 1);
    int fd;

    sent->path = xasprintf("%s/%s.sent", directory, service);
    fd = open(sent->path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd >= 0) {
        files_read_at(fd, 0, text, FILE_MAX);
        parse(sent, text);
        close(fd);
    }
    free(text);
    return sent;
}

void sent_list_free(struct sent_list *sent)
{
    for (size_t i = 0; i < sent->count; i++)
        free(sent->of[i].name);
    free(sent->of);
    free(sent->path);
    free(sent);
}

size_t sent_list_count(const struct sent_list *sent, const char *recording)
{
    const struct entry *entry = find(sent, recording);

    return entry ? entry->count : 0;
}

static bool has(const struct spool_list *spool, const char *name)
{
    for (size_t i = 0; i < spool->count; i++)
        if (!strcmp(spool->of[i].name, name))
            return true;
    return false;
}

static void forget_removed(struct sent_list *sent, const struct spool_list *spool)
{
    size_t kept = 0;

    for (size_t i = 0; i < sent->count; i++) {
        if (has(spool, sent->of[i].name))
            sent->of[kept++] = sent->of[i];
        else
            free(sent->of[i].name);
    }
    sent->count = kept;
}

static int write_file(const struct sent_list *sent, const struct buffer *text)
{
    char *temporary = xasprintf("%s.new", sent->path);
    int fd = open(temporary, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600);
    int result = -1;

    if (fd >= 0) {
        result = files_write_all(fd, text->data, text->size);
        if (close(fd))
            result = -1;
    }
    if (!result)
        result = rename(temporary, sent->path);
    free(temporary);
    return result;
}

int sent_list_set(struct sent_list *sent, const char *recording, size_t count,
                  const struct spool_list *spool, struct error *error)
{
    struct buffer text = {0};
    int result;

    find_or_add(sent, recording)->count = count;
    forget_removed(sent, spool);
    for (size_t i = 0; i < sent->count; i++) {
        if (sent->of[i].count == SIZE_MAX)
            buffer_format(&text, "%s all\n", sent->of[i].name);
        else
            buffer_format(&text, "%s %zu\n", sent->of[i].name, sent->of[i].count);
    }
    result = write_file(sent, &text);
    buffer_free(&text);
    return result
               ? error_set(error, ERROR_FAILED, "can't write %s: %s", sent->path, strerror(errno))
               : 0;
}
