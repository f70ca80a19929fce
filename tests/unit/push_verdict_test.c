// SPDX-License-Identifier: Apache-2.0
/* Verdicts on answers of services. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "push/push_format.h"
#include "util/utf8.h"

#define PROTOBUF "application/x-protobuf"
#define JSON     "application/json"
#define PLAIN    "text/plain; charset=utf-8"

static struct push_reply verdict(const struct push_format *format, long status, const char *type,
                                 const char *body, size_t size)
{
    struct push_answer answer = {status, type, {body, size}};
    struct push_reply reply = {0};

    push_verdict(format, &answer, &reply);
    assert_int_equal(reply.status, status);
    assert_true(utf8_is_clean(reply.reason, strlen(reply.reason)));
    return reply;
}

static void assert_outcomes(const struct push_format *format, const long *later, size_t count)
{
    for (long status = 200; status < 600; status++) {
        enum push_outcome expected = status < 300 ? PUSH_ACCEPTED : PUSH_REFUSED;

        for (size_t i = 0; i < count; i++)
            if (status == later[i])
                expected = PUSH_LATER;
        assert_int_equal(verdict(format, status, "", "", 0).outcome, expected);
    }
}

/* The table of OTLP's specification has all statuses that may be sent again. */
static void test_otlp_sends_again_after_the_statuses_of_its_table(void **state)
{
    static const long later[] = {429, 502, 503, 504};

    (void)state;
    assert_outcomes(&otlp_request_format, later, 4);
}

static void test_others_send_again_after_what_may_pass(void **state)
{
    long later[102] = {408, 429, 499};
    size_t count = 3;

    (void)state;
    for (long status = 500; status < 600; status++)
        if (status != 501 && status != 505)
            later[count++] = status;
    assert_outcomes(&pyroscope_request_format, later, count);
    assert_outcomes(&parca_request_format, later, count);
}

static void test_reason_is_in_the_words_of_the_service(void **state)
{
    static const struct {
        const struct push_format *format;
        long status;
        const char *type, *body, *reason;
    } cases[] = {
        {&pyroscope_request_format, 400, JSON,
         "{\"code\":\"invalid_argument\",\"message\":\"no labels\"}", "status 400: no labels"},
        {&parca_request_format, 400, JSON, "{\"code\":3, \"message\":\"bad\", \"details\":[]}",
         "status 400: bad"},
        {&otlp_request_format, 400, PROTOBUF,
         "\x08\x03\x12\x03"
         "bad",
         "status 400: bad"},
        {&otlp_request_format, 500, PLAIN, "missing dictionary\n",
         "status 500: missing dictionary"},
        {&otlp_request_format, 500, PROTOBUF, "\x12\xff", "status 500"},
        {&pyroscope_request_format, 503, "text/html", "<html>busy</html>", "status 503"},
        {&pyroscope_request_format, 503, "", "busy", "status 503"},
        {&pyroscope_request_format, 502, "Text/Plain", "busy", "status 502: busy"},
        {&parca_request_format, 400, JSON, "{\"message\":\"\"}", "status 400"},
        {&parca_request_format, 401, JSON, "{\"message\":\"no\"}",
         "status 401: no; check user and password_file, or token_file"},
        {&otlp_request_format, 404, "", "",
         "status 404; check url, and if the service takes profiles"},
        {&otlp_request_format, 413, "", "",
         "status 413; raise the limit of the service or of its proxy"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        assert_string_equal(verdict(cases[i].format, cases[i].status, cases[i].type, cases[i].body,
                                    strlen(cases[i].body))
                                .reason,
                            cases[i].reason);
}

/* A hostile service can neither change a terminal nor make two lines; a long text is cut between
 * two characters. */
static void test_words_of_a_service_are_made_safe(void **state)
{
    char body[1000] = "{\"message\":\"\\u001b[31m a\\r\\n\\tb ";
    struct push_reply reply;

    (void)state;
    reply = verdict(&parca_request_format, 400, JSON, body, strlen(strcat(body, " \"}")));
    assert_string_equal(reply.reason, "status 400: \xef\xbf\xbd[31m a b");
    for (size_t blanks = 0; blanks < 3; blanks++) {
        strcpy(body, "{\"message\":\"");
        memset(body + strlen(body), '.', blanks + 1);
        body[12 + blanks] = '\0';
        for (int i = 0; i < 200; i++)
            strcat(body, "\xe2\x82\xac");
        strcat(body, "\"}");
        reply = verdict(&parca_request_format, 400, JSON, body, strlen(body));
        assert_true(strlen(reply.reason) > sizeof(reply.reason) - 4);
        assert_string_equal(reply.reason + strlen(reply.reason) - 6, "\xe2\x82\xac...");
    }
}

static void test_page_for_browsers_is_no_acceptance(void **state)
{
    struct push_reply reply = verdict(&pyroscope_request_format, 200, "text/html", "<html>", 6);

    (void)state;
    assert_int_equal(reply.outcome, PUSH_REFUSED);
    assert_string_equal(reply.reason, "status 200 with a page for browsers; check url");
}

static void test_otlp_says_what_it_has_rejected(void **state)
{
    static const struct {
        const char *body;
        size_t size;
        uint64_t rejected;
        const char *reason;
    } cases[] = {
        {"", 0, 0, ""},
        {"\x0a\x00", 2, 0, ""},
        {"\x0a\x07\x08\x02\x12\x03"
         "bad",
         9, 2, "2 of its profiles rejected: bad"},
        {"\x0a\x05\x12\x03"
         "old",
         7, 0, "old"},
        /* -1 */
        {"\x0a\x0b\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 13, 0, ""},
        {"\x0a\x7f", 2, 0, ""}, /* cut */
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct push_reply reply =
            verdict(&otlp_request_format, 200, PROTOBUF, cases[i].body, cases[i].size);

        assert_int_equal(reply.outcome, PUSH_ACCEPTED);
        assert_int_equal(reply.rejected, cases[i].rejected);
        assert_string_equal(reply.reason, cases[i].reason);
    }
}

static void test_text_of_json_is_found(void **state)
{
    static const struct {
        const char *json, *value; /* of the key "a" */
    } cases[] = {
        {"{\"a\":\"x\"}", "x"},
        {" { \"a\" : \"x\" } ", "x"},
        {"{\"b\":1,\"a\":\"x\"}", "x"},
        {"{\"b\":{\"a\":\"no\"},\"a\":\"x\"}", "x"},
        {"{\"b\":[1,[\"}\",{\"a\":\"]\"}]],\"c\":null , \"a\":\"x\"}", "x"},
        {"{\"a\":1,\"a\":\"x\"}", "x"},
        {"{\"\":\"\",\"a\":\"\"}", ""},
        {"{\"a\":\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"}", "\"\\/\b\f\n\r\t"},
        {"{\"\\u0061\":\"\\u003c\\u00E9\\u20ac\\ud83d\\ude00\"}",
         "<\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80"},
        {"{\"a\":\"\\ud83d\\u0041\"}", "\xed\xa0\xbd"
                                       "A"}, /* half of a pair */
        {"{\"a\":\"cut", NULL},
        {"{\"a\":\"cut\\", NULL},
        {"{\"a\":\"\\u00\"}", NULL},
        {"{\"a\":\"\\u+123\"}", NULL},
        {"{\"a\":\"\\x\"}", NULL},
        {"{\"b\":\"x\"}", NULL},
        {"{\"b\":\"\\x\",\"a\":\"x\"}", NULL},
        {"{\"b\":[\"a\":\"x\"", NULL},
        {"{\"b\" \"x\",\"a\":\"x\"}", NULL},
        {"{\"a\":{\"a\":\"x\"}}", NULL},
        {"[\"a\",\"x\"]", NULL},
        {"{", NULL},
        {"", NULL},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char *value = answer_json_text((struct span){cases[i].json, strlen(cases[i].json)}, "a");

        if (cases[i].value)
            assert_string_equal(value, cases[i].value);
        else
            assert_null(value);
        free(value);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_otlp_sends_again_after_the_statuses_of_its_table),
        cmocka_unit_test(test_others_send_again_after_what_may_pass),
        cmocka_unit_test(test_reason_is_in_the_words_of_the_service),
        cmocka_unit_test(test_words_of_a_service_are_made_safe),
        cmocka_unit_test(test_page_for_browsers_is_no_acceptance),
        cmocka_unit_test(test_otlp_says_what_it_has_rejected),
        cmocka_unit_test(test_text_of_json_is_found),
    };

    return cmocka_run_group_tests_name("push_verdict", tests, NULL, NULL);
}
