// SPDX-License-Identifier: Apache-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>
#include <sys/un.h>
#include <unistd.h>

#include "os/listen_address.h"
#include "util/alloc.h"

static void assert_address(const char *text, bool is_local)
{
    struct listen_address address;
    struct error error;

    assert_int_equal(listen_address_parse(text, "/spool", &address, &error), 0);
    assert_int_equal(address.is_local, is_local);
}

/* Only addresses that other hosts can't reach count as local. */
static void test_addresses_are_parsed(void **state)
{
    (void)state;
    assert_address("127.0.0.1:9466", true);
    assert_address("127.1.2.3:1", true);
    assert_address("[::1]:9466", true);
    assert_address("unix:/run/beamflame.sock", true);
    assert_address("unix:http.sock", true);
    assert_address("0.0.0.0:9466", false);
    assert_address("10.0.0.1:65535", false);
    assert_address("[::]:9466", false);
    assert_address("[fe80::1]:9466", false);
}

static void assert_path(const char *text, const char *path)
{
    struct listen_address address;
    struct error error;

    assert_int_equal(listen_address_parse(text, "/spool", &address, &error), 0);
    assert_string_equal(((const struct sockaddr_un *)&address.address)->sun_path, path);
}

/* A socket without a path is in the given directory. */
static void test_names_of_sockets_are_in_the_directory(void **state)
{
    (void)state;
    assert_path("unix:http.sock", "/spool/http.sock");
    assert_path("unix:/run/beamflame.sock", "/run/beamflame.sock");
}

static void test_what_is_no_address_is_refused(void **state)
{
    static const char *const bad[] = {
        "",
        "9466",
        ":9466",
        "127.0.0.1",
        "127.0.0.1:",
        "127.0.0.1:0",
        "127.0.0.1:65536",
        "127.0.0.1:-1",
        "127.0.0.1:80x",
        "localhost:9466",
        "[::1]",
        "::1:9466",
        "[::1:9466",
        "unix:a/b",
        "unix:",
        "[]:9466",
        "127.0.0.1: 80",
    };
    struct listen_address address;
    char *long_path = xasprintf("unix:/%0200d", 0);
    struct error error;

    (void)state;
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        assert_int_equal(listen_address_parse(bad[i], "/spool", &address, &error), -1);
        assert_int_equal(error.code, ERROR_USAGE);
    }
    assert_int_equal(listen_address_parse(long_path, "/spool", &address, &error), -1);
    assert_non_null(strstr(error.text, "more than 107 bytes"));
    assert_int_equal(listen_address_parse("unix:a", long_path, &address, &error), -1);
    free(long_path);
}

/* The socket file of a killed agent is replaced; a running agent's is not. */
static void test_socket_file_is_replaced_if_nobody_uses_it(void **state)
{
    char directory[] = "/tmp/beamflame-http-XXXXXX", *text, *path;
    struct listen_address address;
    struct error error;
    int first;

    (void)state;
    assert_non_null(mkdtemp(directory));
    text = xasprintf("unix:%s/socket", directory);
    path = text + strlen("unix:");
    assert_int_equal(listen_address_parse(text, "", &address, &error), 0);
    first = listen_address_open(&address, text, &error);
    assert_true(first >= 0);
    assert_int_equal(listen_address_open(&address, text, &error), -1);
    assert_non_null(strstr(error.text, "in use"));
    close(first);
    first = listen_address_open(&address, text, &error);
    assert_true(first >= 0);
    close(first);
    unlink(path);
    rmdir(directory);
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_addresses_are_parsed),
        cmocka_unit_test(test_names_of_sockets_are_in_the_directory),
        cmocka_unit_test(test_what_is_no_address_is_refused),
        cmocka_unit_test(test_socket_file_is_replaced_if_nobody_uses_it),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
