// SPDX-License-Identifier: Apache-2.0
#include "os/sockets.h"

#include <arpa/inet.h>
#include <inttypes.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <string.h>

const char *socket_table_name(enum socket_table table)
{
    static const char *const names[SOCKET_TABLES] = {
        [SOCKET_TCP] = "tcp",   [SOCKET_TCP6] = "tcp6", [SOCKET_UDP] = "udp",
        [SOCKET_UDP6] = "udp6", [SOCKET_UNIX] = "unix",
    };

    return names[table];
}

/* ---- tcp, udp ---- */

static const char *tcp_state(unsigned int state)
{
    static const char *const names[] = {
        [TCP_ESTABLISHED] = "established",
        [TCP_SYN_SENT] = "syn_sent",
        [TCP_SYN_RECV] = "syn_recv",
        [TCP_FIN_WAIT1] = "fin_wait1",
        [TCP_FIN_WAIT2] = "fin_wait2",
        [TCP_TIME_WAIT] = "time_wait",
        [TCP_CLOSE] = "closed",
        [TCP_CLOSE_WAIT] = "close_wait",
        [TCP_LAST_ACK] = "last_ack",
        [TCP_LISTEN] = "listen",
        [TCP_CLOSING] = "closing",
    };

    return state < sizeof(names) / sizeof(*names) ? names[state] : NULL;
}

/* Write the address of a socket: `hex` is the address as words in the order of this host's bytes
 * (net/ipv4/tcp_ipv4.c and net/ipv6/tcp_ipv6.c, get_tcp4_sock and get_tcp6_sock). False if it is
 * not one. */
static bool write_address(const char *hex, unsigned int port, bool is_v6,
                          char address[SOCKET_ADDRESS_BYTES])
{
    uint32_t words[4] = {0};
    size_t count = is_v6 ? 4 : 1;
    char text[INET6_ADDRSTRLEN];

    if (strlen(hex) != count * 8 || port > UINT16_MAX)
        return false;
    for (size_t i = 0; i < count; i++)
        if (sscanf(hex + i * 8, "%8" SCNx32, &words[i]) != 1)
            return false;
    if (!inet_ntop(is_v6 ? AF_INET6 : AF_INET, words, text, sizeof(text)))
        return false;
    snprintf(address, SOCKET_ADDRESS_BYTES, is_v6 ? "[%s]:%u" : "%s:%u", text, port);
    return true;
}

static bool parse_internet(const char *line, bool is_v6, bool is_tcp, struct socket_line *parsed)
{
    char local[33], peer[33];
    unsigned int local_port, peer_port, state;
    uint32_t send_queue, receive_queue;

    if (sscanf(line,
               " %*u: %32[0-9A-F]:%4x %32[0-9A-F]:%4x %2x %8" SCNx32 ":%8" SCNx32
               " %*x:%*x %*x %*u %*d %20" SCNu64,
               local, &local_port, peer, &peer_port, &state, &send_queue, &receive_queue,
               &parsed->inode) != 8 ||
        !write_address(local, local_port, is_v6, parsed->local) ||
        !write_address(peer, peer_port, is_v6, parsed->peer) || !tcp_state(state))
        return false;
    if (!peer_port)
        parsed->peer[0] = '\0';
    parsed->is_listening = is_tcp && state == TCP_LISTEN;
    parsed->state = is_tcp                     ? tcp_state(state)
                    : state == TCP_ESTABLISHED ? "connected"
                                               : "unconnected";
    parsed->has_queues = true;
    parsed->send_queue = send_queue;
    parsed->receive_queue = receive_queue;
    return true;
}

/* ---- unix ---- */

enum { ACCEPTS = 1 << 16 }; /* __SO_ACCEPTCON (linux/net.h) */

/* The states of enum socket_state (linux/net.h). */
static const char *unix_state(unsigned int state)
{
    static const char *const names[] = {
        [1] = "unconnected", [2] = "connecting", [3] = "connected", [4] = "disconnecting"};

    return state < sizeof(names) / sizeof(*names) ? names[state] : NULL;
}

static bool parse_unix(const char *line, struct socket_line *parsed)
{
    unsigned int flags, state;
    int path = 0;

    if (sscanf(line, "%*x: %*x %*x %8x %*x %2x %20" SCNu64 "%n", &flags, &state, &parsed->inode,
               &path) != 3 ||
        !path || !unix_state(state))
        return false;
    parsed->is_listening = flags & ACCEPTS;
    parsed->state = parsed->is_listening ? "listen" : unix_state(state);
    if (line[path] == ' ')
        snprintf(parsed->local, sizeof(parsed->local), "%s", line + path + 1);
    return true;
}

bool socket_table_parse_line(enum socket_table table, const char *line,
                             struct socket_line *ret_line)
{
    struct socket_line parsed = {.inode = 0};
    bool is_tcp = table == SOCKET_TCP || table == SOCKET_TCP6;
    bool is_v6 = table == SOCKET_TCP6 || table == SOCKET_UDP6;

    if (!(table == SOCKET_UNIX ? parse_unix(line, &parsed)
                               : parse_internet(line, is_v6, is_tcp, &parsed)) ||
        !parsed.inode)
        return false;
    *ret_line = parsed;
    return true;
}
