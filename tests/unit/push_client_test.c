// SPDX-License-Identifier: Apache-2.0
/* Descriptions of services, and their files of secrets. (With a server: tests/tools/push_test.py.)
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "push/push_client.h"
#include "push/transfer.h"
#include "util/files.h"
#include "test_folder.h"

static bool is_never_set(void *context)
{
    (void)context;
    return false;
}

static const struct push_stop never = {.is_set = is_never_set};

static void test_path_is_added_to_the_url(void **state)
{
    static const struct {
        char *url;
        const char *whole, *host;
    } cases[] = {
        {"http://host:4040", "http://host:4040/v1/x", "host"},
        {"https://host/", "https://host/v1/x", "host"},
        {"https://host/otlp//", "https://host/otlp/v1/x", "host"},
        {"HTTP://[::1]:80/a%20b", "http://[::1]:80/a%20b/v1/x", "[::1]"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct push_service service = {.name = "a", .url = cases[i].url};
        struct error error;
        char *host, *url = push_url_of(&service, "/v1/x", &host, &error);

        assert_string_equal(url, cases[i].whole);
        assert_string_equal(host, cases[i].host);
        free(url);
        free(host);
    }
}

static void test_bad_service_is_refused_without_its_secrets(void **state)
{
    static const struct {
        struct push_service service;
        const char *word;
    } cases[] = {
        {{.url = "host:4040"}, "neither http"},
        {{.url = "ftp://host"}, "neither http"},
        {{.url = "gopher2://host"}, "neither http"},
        {{.url = "/tmp/secret"}, "url of service 'a'"},
        {{.url = ""}, "url of service 'a'"},
        {{.url = "http://"}, "url of service 'a'"},
        {{.url = "http://ho st"}, "url of service 'a'"},
        {{.url = "https://u:secret@host"}, "it has a user"},
        {{.url = "https://secret@host"}, "it has a user"},
        {{.url = "https://u:secret@ho st"}, "url of service 'a'"},
        {{.url = "https://host/?key=secret"}, "a query"},
        {{.url = "https://host/#secret"}, "a fragment"},
        {{.url = "http://h", .user = "u"}, "need each other"},
        {{.url = "http://h", .password_file = "p"}, "need each other"},
        {{.url = "http://h", .user = "u", .password_file = "p", .token_file = "t"}, "not both"},
        {{.url = "http://h", .user = "u:v", .password_file = "p"}, "':'"},
        {{.url = "http://h", .tenant = "a\r\nX-Evil: 1"}, "control character"},
        {{.url = "http://h", .user = "a\nb", .password_file = "p"}, "control character"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct push_service service = cases[i].service;
        struct error error = {0};

        service.name = "a";
        assert_null(push_client_new(&service, &error));
        assert_int_equal(error.code, ERROR_USAGE);
        assert_non_null(strstr(error.text, cases[i].word));
        assert_null(strstr(error.text, "secret"));
    }
}

static void write_file(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");

    fputs(text, file);
    fclose(file);
}

static void test_line_break_at_the_end_is_no_part_of_a_secret(void **state)
{
    static const char *const texts[] = {"s3 cret", "s3 cret\n", "s3 cret\r\n", "s3 cret\n\n"};

    (void)state;
    assert_int_equal(folder_enter(), 0);
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        struct buffer content = {0};
        struct error error;

        write_file("secret", texts[i]);
        assert_int_equal(small_file_secret("secret", &content, &error), 0);
        assert_int_equal(content.size, 7);
        assert_string_equal(content.data, "s3 cret");
        small_file_free(&content);
    }
}

/* A line break within a secret would make a header of its own. */
static void test_file_that_is_no_secret_is_refused(void **state)
{
    static const char *const texts[] = {"", "\n", "a\nb", "a\r\nX: secret", "a\tb", "secret\x7f"};
    struct buffer content = {0};
    struct error error;

    (void)state;
    assert_int_equal(folder_enter(), 0);
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        write_file("file", texts[i]);
        assert_int_equal(small_file_secret("file", &content, &error), -1);
        assert_null(content.data);
        assert_null(strstr(error.text, "secret"));
        assert_non_null(strstr(error.text, "'file'"));
    }
    assert_int_equal(mkfifo("file2", 0600), 0);
    assert_int_equal(small_file_secret("file2", &content, &error), -1);
    assert_int_equal(small_file_secret(".", &content, &error), -1);
    assert_int_equal(small_file_secret("/dev/zero", &content, &error), -1);
    assert_int_equal(truncate("file", (1 << 20) + 1), 0);
    assert_int_equal(small_file_secret("file", &content, &error), -1);
    assert_null(content.data);
}

/* The file may be there soon: an operator or Kubernetes renews it. */
static void test_missing_file_is_a_reason_to_try_later(void **state)
{
    static const struct {
        struct push_service service;
        const char *reason;
    } cases[] = {
        {{.user = "u", .password_file = "absent"},
         "password_file: can't read 'absent': No such file or directory"},
        {{.token_file = "absent"}, "token_file: can't read 'absent': No such file or directory"},
        {{.ca_file = "absent"}, "ca_file: can't read 'absent': No such file or directory"},
    };
    struct push_profile profile = {"x", 1};

    (void)state;
    assert_int_equal(folder_enter(), 0);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct push_service service = cases[i].service;
        struct push_client *client;
        struct push_reply reply;
        struct error error;

        service.name = "a";
        service.url = "http://127.0.0.1:1";
        client = push_client_new(&service, &error);
        assert_non_null(client);
        reply = push_client_send(client, &profile, 1, &never);
        assert_int_equal(reply.outcome, PUSH_LATER);
        assert_int_equal(reply.sent, 0);
        assert_string_equal(reply.reason, cases[i].reason);
        push_client_free(client);
    }
}

static void test_otlp_takes_one_profile_a_request(void **state)
{
    struct push_service service = {PUSH_OTLP, .name = "a", .url = "http://127.0.0.1:1"};
    struct push_profile profiles[2] = {{"x", 1}, {"y", 1}};
    struct error error;
    struct push_client *client = push_client_new(&service, &error);
    struct push_reply reply = push_client_send(client, profiles, 2, &never);

    (void)state;
    assert_int_equal(reply.outcome, PUSH_REFUSED);
    assert_string_equal(reply.reason, "otlp takes 1 profile a request");
    push_client_free(client);
}

static void test_protocols_have_names(void **state)
{
    (void)state;
    assert_string_equal(push_service_protocol_name(PUSH_OTLP), "otlp");
    assert_string_equal(push_service_protocol_name(PUSH_PYROSCOPE), "pyroscope");
    assert_string_equal(push_service_protocol_name(PUSH_PARCA), "parca");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_path_is_added_to_the_url),
        cmocka_unit_test(test_bad_service_is_refused_without_its_secrets),
        cmocka_unit_test_teardown(test_line_break_at_the_end_is_no_part_of_a_secret, leave_folder),
        cmocka_unit_test_teardown(test_file_that_is_no_secret_is_refused, leave_folder),
        cmocka_unit_test_teardown(test_missing_file_is_a_reason_to_try_later, leave_folder),
        cmocka_unit_test(test_otlp_takes_one_profile_a_request),
        cmocka_unit_test(test_protocols_have_names),
    };

    return cmocka_run_group_tests_name("push_client", tests, NULL, NULL);
}
