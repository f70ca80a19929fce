// SPDX-License-Identifier: Apache-2.0
/* The sockets of this program. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "os/sockets.h"

/* Return a listening socket of this host, and its address. */
static int listener(struct sockaddr_in *ret_address, char *text, size_t size)
{
    socklen_t length = sizeof(*ret_address);
    int fd = socket(AF_INET, SOCK_STREAM, 0);

    *ret_address =
        (struct sockaddr_in){.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    assert_true(fd >= 0);
    assert_int_equal(bind(fd, (struct sockaddr *)ret_address, sizeof(*ret_address)), 0);
    assert_int_equal(listen(fd, 5), 0);
    assert_int_equal(getsockname(fd, (struct sockaddr *)ret_address, &length), 0);
    snprintf(text, size, "127.0.0.1:%u", ntohs(ret_address->sin_port));
    return fd;
}

static void test_sockets_are_found_by_descriptor(void **state)
{
    struct sockaddr_in address;
    char text[64];
    int listens = listener(&address, text, sizeof(text));
    int connected = socket(AF_INET, SOCK_STREAM, 0), unbound = socket(AF_INET, SOCK_STREAM, 0);
    int same, pipes[2];
    const struct socket *found;
    struct sockets sockets;
    struct error error;

    (void)state;
    assert_int_equal(connect(connected, (struct sockaddr *)&address, sizeof(address)), 0);
    assert_int_equal(send(connected, "abc", 3, 0), 3);
    assert_int_equal(pipe(pipes), 0);
    same = dup(listens);
    assert_int_equal(sockets_read(getpid(), &sockets, &error), 0);

    found = sockets_find(&sockets, listens);
    assert_non_null(found);
    assert_string_equal(found->protocol, "tcp");
    assert_true(found->is_listening);
    assert_string_equal(found->local, text);
    assert_int_equal(found->receive_queue, 1);
    found = sockets_find(&sockets, same);
    assert_non_null(found);
    assert_int_equal(found->fd, same);
    assert_string_equal(found->local, text);
    found = sockets_find(&sockets, connected);
    assert_non_null(found);
    assert_string_equal(found->state, "established");
    assert_string_equal(found->peer, text);
    found = sockets_find(&sockets, unbound);
    assert_non_null(found);
    assert_null(found->protocol);
    assert_null(sockets_find(&sockets, pipes[0]));
    assert_null(sockets_find(&sockets, 1 << 20));
    assert_false(sockets.is_cut);
    sockets_free(&sockets);
    for (size_t i = 0; i < 2; i++)
        close(pipes[i]);
    close(same);
    close(unbound);
    close(connected);
    close(listens);
}

static void test_sockets_of_an_ended_process_are_an_error(void **state)
{
    struct sockets sockets;
    struct error error = {0};

    (void)state;
    assert_int_equal(sockets_read(0x7ffffffe, &sockets, &error), -1);
    assert_non_null(strstr(error.text, "/proc/2147483646/fd"));
    assert_null(sockets_find(&sockets, 0));
    sockets_free(&sockets);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sockets_are_found_by_descriptor),
        cmocka_unit_test(test_sockets_of_an_ended_process_are_an_error),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
