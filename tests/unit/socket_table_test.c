// SPDX-License-Identifier: Apache-2.0
/* Lines of /proc/PID/net, as kernel 6.1 prints them, and lines that are none. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "os/sockets.h"

static void assert_parsed(enum socket_table table, const char *text,
                          const struct socket_line *expected)
{
    struct socket_line line;

    assert_true(socket_table_parse_line(table, text, &line));
    assert_int_equal(line.inode, expected->inode);
    assert_string_equal(line.state, expected->state);
    assert_int_equal(line.is_listening, expected->is_listening);
    assert_int_equal(line.has_queues, expected->has_queues);
    assert_int_equal(line.send_queue, expected->send_queue);
    assert_int_equal(line.receive_queue, expected->receive_queue);
    assert_string_equal(line.local, expected->local);
    assert_string_equal(line.peer, expected->peer);
}

static void test_tcp_sockets_have_addresses_state_and_queues(void **state)
{
    (void)state;
    assert_parsed(SOCKET_TCP,
                  "   0: 0100007F:1538 00000000:0000 0A 00000000:00000003 00:00000000 00000000  "
                  "1000        0 12345 1 0000000000000000 100 0 0 10 0",
                  &(struct socket_line){12345, "listen", true, true, 0, 3, "127.0.0.1:5432", ""});
    assert_parsed(SOCKET_TCP,
                  "1234: 0A00020F:0016 0202000A:D1A4 01 0039CE5B:00020000 01:00000014 00000000     "
                  "0        0 4294967295 4 0000000000000000 20 4 30 10 -1",
                  &(struct socket_line){4294967295, "established", false, true, 0x39ce5b, 0x20000,
                                        "15.2.0.10:22", "10.0.2.2:53668"});
    assert_parsed(
        SOCKET_TCP6,
        "   1: 0000000000000000FFFF00000100007F:1F90 "
        "B80D01200000000000000000010000FE:C350 08 00000000:00000001 00:00000000 00000000  "
        "  33        0 99 1 0000000000000000 20 4 24 10 -1",
        &(struct socket_line){99, "close_wait", false, true, 0, 1, "[::ffff:127.0.0.1]:8080",
                              "[2001:db8::fe00:1]:50000"});
}

static void test_udp_sockets_are_connected_or_not(void **state)
{
    (void)state;
    assert_parsed(
        SOCKET_UDP,
        "  271: 00000000:14E9 00000000:0000 07 00000000:00000340 00:00000000 00000000   "
        "105        0 18163 2 0000000000000000 0",
        &(struct socket_line){18163, "unconnected", false, true, 0, 0x340, "0.0.0.0:5353", ""});
    assert_parsed(
        SOCKET_UDP6,
        "  271: 00000000000000000000000001000000:14E9 "
        "00000000000000000000000001000000:0035 01 00000001:00000000 00:00000000 00000000 "
        "  105        0 7 2 0000000000000000 0",
        &(struct socket_line){7, "connected", false, true, 1, 0, "[::1]:5353", "[::1]:53"});
}

static void test_unix_sockets_have_a_path_or_none(void **state)
{
    (void)state;
    assert_parsed(SOCKET_UNIX,
                  "0000000000000000: 00000002 00000000 00010000 0001 01 22013 /run/a b",
                  &(struct socket_line){22013, "listen", true, false, 0, 0, "/run/a b", ""});
    assert_parsed(SOCKET_UNIX, "0000000000000000: 00000003 00000000 00000000 0001 03   881",
                  &(struct socket_line){881, "connected", false, false, 0, 0, "", ""});
}

static void test_other_lines_are_no_sockets(void **state)
{
    static const char *const lines[] = {
        "",
        "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  "
        "timeout",
        /* without inode; inode 0 (time_wait) */
        "   0: 0100007F:1538 00000000:0000 0A 00000000:00000003 00:00000000 00000000  1000        "
        "0",
        "   0: 0100007F:1538 00000000:0000 06 00000000:00000000 00:00000000 00000000  0 0 0 1",
        /* addresses and ports that are too long, too short, or none */
        "   0: 0100007F00:1538 00000000:0000 0A 00000000:00000003 00:00000000 00000000  0 0 5 1",
        "   0: 01007F:1538 00000000:0000 0A 00000000:00000003 00:00000000 00000000  0 0 5 1",
        "   0: 0100007F:15380 00000000:0000 0A 00000000:00000003 00:00000000 00000000  0 0 5 1",
        "   0: 0100007G:1538 00000000:0000 0A 00000000:00000003 00:00000000 00000000  0 0 5 1",
        /* states that do not exist */
        "   0: 0100007F:1538 00000000:0000 00 00000000:00000003 00:00000000 00000000  0 0 5 1",
        "   0: 0100007F:1538 00000000:0000 FF 00000000:00000003 00:00000000 00000000  0 0 5 1",
    };
    struct socket_line line;

    (void)state;
    for (size_t i = 0; i < sizeof(lines) / sizeof(*lines); i++) {
        if (socket_table_parse_line(SOCKET_TCP, lines[i], &line))
            fail_msg("'%s' is a TCP socket", lines[i]);
        assert_false(socket_table_parse_line(SOCKET_TCP6, lines[i], &line));
        assert_false(socket_table_parse_line(SOCKET_UNIX, lines[i], &line));
    }
    assert_false(socket_table_parse_line(SOCKET_UNIX, "0: 2 0 10000 1 09 22013 /a", &line));
    assert_false(socket_table_parse_line(SOCKET_UNIX, "0: 2 0 10000 1 00 22013 /a", &line));
    assert_false(
        socket_table_parse_line(SOCKET_UNIX, "Num RefCount Protocol Flags Type St Inode", &line));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tcp_sockets_have_addresses_state_and_queues),
        cmocka_unit_test(test_udp_sockets_are_connected_or_not),
        cmocka_unit_test(test_unix_sockets_have_a_path_or_none),
        cmocka_unit_test(test_other_lines_are_no_sockets),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
