// SPDX-License-Identifier: Apache-2.0
#include "os/listen_address.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

enum { BACKLOG = 16 };

static const char UNIX[] = "unix:";

static int bad(const char *text, struct error *error)
{
    return error_set(error, ERROR_USAGE,
                     "'%s' is no address to listen at: write 127.0.0.1:PORT, [::1]:PORT, "
                     "unix:/PATH or unix:NAME",
                     text);
}

static int parse_unix(const char *path, const char *text, const char *directory,
                      struct listen_address *address, struct error *error)
{
    struct sockaddr_un *file = (struct sockaddr_un *)&address->address;
    const int room = sizeof(file->sun_path);
    bool is_name = path[0] != '/';

    if (!path[0] || (is_name && strchr(path, '/')))
        return bad(text, error);
    if (snprintf(file->sun_path, (size_t)room, "%s%s%s", is_name ? directory : "",
                 is_name ? "/" : "", path) >= room)
        return error_set(error, ERROR_USAGE, "the path of the socket '%s' has more than %d bytes",
                         text, room - 1);
    file->sun_family = AF_UNIX;
    address->size = sizeof(*file);
    address->is_local = true;
    return 0;
}

/* Return the port after the last colon, which ends the text; 0 if there is none. */
static uint16_t cut_port(char *text)
{
    char *colon = strrchr(text, ':'), *end;
    unsigned long port;

    if (!colon || colon[1] < '0' || colon[1] > '9')
        return 0;
    port = strtoul(colon + 1, &end, 10);
    *colon = '\0';
    return *end || port > UINT16_MAX ? 0 : (uint16_t)port;
}

static bool parse_v4(const char *host, uint16_t port, struct listen_address *address)
{
    struct sockaddr_in *v4 = (struct sockaddr_in *)&address->address;

    if (inet_pton(AF_INET, host, &v4->sin_addr) != 1)
        return false;
    v4->sin_family = AF_INET;
    v4->sin_port = htons(port);
    address->size = sizeof(*v4);
    address->is_local = ntohl(v4->sin_addr.s_addr) >> 24 == IN_LOOPBACKNET;
    return true;
}

static bool parse_v6(char *host, uint16_t port, struct listen_address *address)
{
    struct sockaddr_in6 *v6 = (struct sockaddr_in6 *)&address->address;
    size_t size = strlen(host);

    if (size < 2 || host[0] != '[' || host[size - 1] != ']')
        return false;
    host[size - 1] = '\0';
    if (inet_pton(AF_INET6, host + 1, &v6->sin6_addr) != 1)
        return false;
    v6->sin6_family = AF_INET6;
    v6->sin6_port = htons(port);
    address->size = sizeof(*v6);
    address->is_local = IN6_IS_ADDR_LOOPBACK(&v6->sin6_addr);
    return true;
}

int listen_address_parse(const char *text, const char *directory,
                         struct listen_address *ret_address, struct error *error)
{
    char host[64];
    uint16_t port;

    *ret_address = (struct listen_address){.size = 0};
    if (!strncmp(text, UNIX, strlen(UNIX)))
        return parse_unix(text + strlen(UNIX), text, directory, ret_address, error);
    if (strlen(text) >= sizeof(host))
        return bad(text, error);
    strcpy(host, text);
    port = cut_port(host);
    if (port && (parse_v4(host, port, ret_address) || parse_v6(host, port, ret_address)))
        return 0;
    return bad(text, error);
}

/* Remove the socket file of an agent that was killed: nobody accepts its connections. */
static void remove_unused(const struct listen_address *address)
{
    const struct sockaddr_un *file = (const struct sockaddr_un *)&address->address;
    struct stat status;
    int fd;

    if (address->address.ss_family != AF_UNIX || lstat(file->sun_path, &status) ||
        !S_ISSOCK(status.st_mode))
        return;
    fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0)
        return;
    if (connect(fd, (const struct sockaddr *)&address->address, address->size) &&
        errno == ECONNREFUSED)
        unlink(file->sun_path);
    close(fd);
}

int listen_address_open(const struct listen_address *address, const char *text, struct error *error)
{
    int fd = socket(address->address.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    int on = 1, code;
    mode_t mask;

    remove_unused(address);
    if (fd >= 0)
        setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
    mask = umask(0177); /* a socket file is for this user alone */
    if (fd >= 0 && bind(fd, (const struct sockaddr *)&address->address, address->size) == 0 &&
        listen(fd, BACKLOG) == 0) {
        umask(mask);
        return fd;
    }
    code = errno;
    umask(mask);
    if (fd >= 0)
        close(fd);
    return error_set(error, ERROR_FAILED, "the agent can't listen at %s: %s", text, strerror(code));
}
