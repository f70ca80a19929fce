// SPDX-License-Identifier: Apache-2.0
/* The text of metrics. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "agent/http/metric_text.h"

static const struct metric_family counter = {"beamflame_x_total", "counter", "Xs."};

static void check(const struct buffer *text, const char *expected)
{
    assert_int_equal(text->size, strlen(expected));
    assert_memory_equal(text->data, expected, text->size);
}

static void write_counter(struct buffer *text, bool is_open)
{
    const struct metric_text out = {text, is_open};

    metric_text_family(&out, &counter);
    metric_text_put(&out, &counter, "", "a=\"b\"", 0x1p52);
    metric_text_put(&out, &counter, "", "", 0.25);
    metric_text_end(&out);
}

static void test_openmetrics_names_families_of_counters_without_total(void **state)
{
    struct buffer text = {0};

    (void)state;
    write_counter(&text, true);
    check(&text, "# HELP beamflame_x Xs.\n# TYPE beamflame_x counter\n"
                 "beamflame_x_total{a=\"b\"} 4503599627370496\nbeamflame_x_total 0.25\n# EOF\n");
    buffer_free(&text);
}

static void test_prometheus_text_has_whole_names_and_no_end(void **state)
{
    struct buffer text = {0};

    (void)state;
    write_counter(&text, false);
    check(&text, "# HELP beamflame_x_total Xs.\n# TYPE beamflame_x_total counter\n"
                 "beamflame_x_total{a=\"b\"} 4503599627370496\nbeamflame_x_total 0.25\n");
    buffer_free(&text);
}

static void test_values_of_labels_are_escaped(void **state)
{
    struct buffer labels = {0};

    (void)state;
    metric_text_label(&labels, "a", "x\"y\\z\n");
    metric_text_label(&labels, "b", "");
    check(&labels, "a=\"x\\\"y\\\\z\\n\",b=\"\"");
    buffer_free(&labels);
}

static void test_openmetrics_is_written_only_on_request(void **state)
{
    (void)state;
    assert_false(metric_text_is_open(NULL));
    assert_false(metric_text_is_open("text/plain, */*"));
    assert_true(metric_text_is_open("application/openmetrics-text;version=1.0.0,text/plain;q=0.5"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_openmetrics_names_families_of_counters_without_total),
        cmocka_unit_test(test_prometheus_text_has_whole_names_and_no_end),
        cmocka_unit_test(test_values_of_labels_are_escaped),
        cmocka_unit_test(test_openmetrics_is_written_only_on_request),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
