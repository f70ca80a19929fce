// SPDX-License-Identifier: Apache-2.0
#include "os/sockets.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "util/effort.h"
#include "util/hash.h"

enum {
    DESCRIPTORS_MAX = 1 << 20,
    LINES_MAX = 1 << 22, /* of all tables: other processes of the namespace have sockets, too */
    CPU_MS_MAX = 5000,
    LINE_BYTES = 512,
    BUFFER_BYTES = 1 << 16,
};

/* ---- descriptors ---- */

static void add_descriptor(struct sockets *sockets, int directory, const char *name)
{
    char target[64];
    ssize_t size = readlinkat(directory, name, target, sizeof(target) - 1);
    struct socket *added;
    uint64_t inode;

    if (size <= 0)
        return;
    target[size] = '\0';
    if (sscanf(target, "socket:[%20" SCNu64 "]", &inode) != 1)
        return;
    sockets->list = xgrow(sockets->list, &sockets->room, sockets->count, sizeof(*sockets->list));
    added = &sockets->list[sockets->count++];
    *added = (struct socket){.fd = (int)strtol(name, NULL, 10), .inode = inode};
}

static int by_descriptor(const void *a, const void *b)
{
    const struct socket *x = a, *y = b;

    return (x->fd > y->fd) - (x->fd < y->fd);
}

static int list_descriptors(pid_t pid, struct sockets *sockets, struct error *error)
{
    struct effort effort = effort_of(DESCRIPTORS_MAX, CPU_MS_MAX);
    const struct dirent *entry;
    DIR *directory;
    char path[64];

    snprintf(path, sizeof(path), "/proc/%d/fd", (int)pid);
    directory = opendir(path);
    if (!directory)
        return error_set(error, errno == EACCES ? ERROR_PERMISSION : ERROR_FAILED,
                         "can't list %s: %s", path, strerror(errno));
    while ((entry = readdir(directory))) {
        if (!isdigit((unsigned char)entry->d_name[0]))
            continue;
        if (!effort_step(&effort)) {
            sockets->is_cut = true;
            break;
        }
        add_descriptor(sockets, dirfd(directory), entry->d_name);
    }
    closedir(directory);
    if (sockets->count)
        qsort(sockets->list, sockets->count, sizeof(*sockets->list), by_descriptor);
    return 0;
}

/* ---- tables ---- */

/* Return the first socket with this inode, NULL if there is none. */
static struct socket *find_inode(const struct sockets *sockets, const struct id_index *by_inode,
                                 uint64_t inode)
{
    struct id_probe probe = id_index_probe(by_inode, hash_word(inode));
    uint32_t id;

    while ((id = id_probe_next(&probe)))
        if (sockets->list[id - 1].inode == inode)
            return &sockets->list[id - 1];
    return NULL;
}

static const char *keep(struct sockets *sockets, const char *text)
{
    size_t size = strlen(text) + 1;

    return memcpy(arena_alloc(&sockets->texts, size), text, size);
}

/* A path can contain anything, so a part of it can look like a line: the first line counts. */
static void fill(struct sockets *sockets, const struct id_index *by_inode, enum socket_table table,
                 const struct socket_line *line)
{
    struct socket *socket = find_inode(sockets, by_inode, line->inode);

    if (!socket || socket->protocol)
        return;
    socket->protocol = socket_table_name(table);
    socket->state = line->state;
    socket->is_listening = line->is_listening;
    socket->has_queues = line->has_queues;
    socket->send_queue = line->send_queue;
    socket->receive_queue = line->receive_queue;
    socket->local = keep(sockets, line->local);
    socket->peer = keep(sockets, line->peer);
}

/* Read a table. A line that is too long is read as several lines; at most one of them is a
 * socket. */
static void read_table(pid_t pid, enum socket_table table, const struct id_index *by_inode,
                       struct effort *effort, struct sockets *sockets)
{
    char path[64], line[LINE_BYTES];
    struct socket_line parsed;
    FILE *file;

    snprintf(path, sizeof(path), "/proc/%d/net/%s", (int)pid, socket_table_name(table));
    file = fopen(path, "re");
    if (!file)
        return;
    setvbuf(file, NULL, _IOFBF, BUFFER_BYTES);
    while (fgets(line, sizeof(line), file)) {
        if (!effort_step(effort)) {
            sockets->is_cut = true;
            break;
        }
        line[strcspn(line, "\n")] = '\0';
        if (socket_table_parse_line(table, line, &parsed))
            fill(sockets, by_inode, table, &parsed);
    }
    fclose(file);
}

/* Several descriptors can refer to the same socket (dup()). */
static void share(struct sockets *sockets, const struct id_index *by_inode)
{
    for (size_t i = 0; i < sockets->count; i++) {
        struct socket *socket = &sockets->list[i];
        int fd = socket->fd;

        *socket = *find_inode(sockets, by_inode, socket->inode);
        socket->fd = fd;
    }
}

int sockets_read(pid_t pid, struct sockets *sockets, struct error *error)
{
    struct effort effort = effort_of(LINES_MAX, CPU_MS_MAX);
    struct id_index by_inode = {0};

    *sockets = (struct sockets){0};
    if (list_descriptors(pid, sockets, error))
        return -1;
    for (size_t i = 0; i < sockets->count; i++)
        if (!find_inode(sockets, &by_inode, sockets->list[i].inode))
            hash_index_add(&by_inode, hash_word(sockets->list[i].inode), (uint32_t)i + 1);
    for (int table = 0; sockets->count && table < SOCKET_TABLES; table++)
        read_table(pid, (enum socket_table)table, &by_inode, &effort, sockets);
    share(sockets, &by_inode);
    hash_index_free(&by_inode);
    return 0;
}

void sockets_free(struct sockets *sockets)
{
    free(sockets->list);
    arena_free(&sockets->texts);
    *sockets = (struct sockets){0};
}

const struct socket *sockets_find(const struct sockets *sockets, int fd)
{
    const struct socket key = {.fd = fd};

    return sockets->count
               ? bsearch(&key, sockets->list, sockets->count, sizeof(*sockets->list), by_descriptor)
               : NULL;
}
