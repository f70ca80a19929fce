// SPDX-License-Identifier: Apache-2.0
#include "small_output.h"

#include "output/json/json.h"

/* All keys with their numbers, byte for byte; a quote in the node's name is escaped. */
#define TARGET                                                                                     \
    "{\"pid\": 100, \"node\": \"shop@\\\"web\\\"\", \"otp_release\": \"27\", \"erts\": null, "     \
    "\"flavor\": null, \"schedulers\": 2, \"dirty_cpu_schedulers\": 0, "                           \
    "\"dirty_io_schedulers\": 0, \"processes\": 50, \"executable\": null, \"container\": null, "   \
    "\"layout\": \"table\", \"attributes\": null, \"stopped_ms\": 0.000, \"ended_ms\": null}"
static const char expected_stats[] =
    "{\n"
    "  \"samples\": 4,\n"
    "  \"left_out\": 0,\n"
    "  \"idle\": 0,\n"
    "  \"unknown_weight\": 0,\n"
    "  \"erlang_samples\": 3,\n"
    "  \"complete_stacks\": 3,\n"
    "  \"truncated_stacks\": 0,\n"
    "  \"frames\": 8,\n"
    "  \"erlang_frames\": 5,\n"
    "  \"unknown_frames\": 1,\n"
    "  \"unknown_erlang_frames\": 0,\n"
    "  \"unknown_native_frames\": 1,\n"
    "  \"lost_events\": 2,\n"
    "  \"attach_ms\": 12.345,\n"
    "  \"duration_ms\": 2500.000,\n"
    "  \"gaps_ms\": 0.000,\n"
    "  \"profiler_cpu_ms\": 5.000,\n"
    "  \"peak_rss_kb\": 4096,\n"
    "  \"cpu_samples\": 0,\n"
    "  \"cpu_sampled_ms\": 0.000,\n"
    "  \"cpu_accounted_ms\": 0.000,\n"
    "  \"cpu_sampled_ratio\": null,\n"
    "  \"cut\": false,\n"
    "  \"trigger\": null,\n"
    "  \"target\": " TARGET ",\n"
    "  \"targets\": [\n"
    "    " TARGET "\n"
    "  ],\n"
    "  \"microstates\": [\n"
    "    {\"pid\": 100, \"type\": \"scheduler\", \"id\": 1, \"tid\": 102, "
    "\"samples\": 4, \"span_ms\": 2500.000, \"sampled_ms\": 40.000, "
    "\"cpu_ms\": null, \"no_cpu_ms\": null, "
    "\"states_ms\": {\"unknown\": 0.000, \"emulator\": 20.000, \"bif\": 0.000, "
    "\"nif\": 0.000, \"gc_minor\": 0.000, \"gc_major\": 0.000, \"gc\": 0.000, "
    "\"gc_hibernate\": 0.000, \"port\": 10.000, \"check_io\": 0.000, "
    "\"aux\": 0.000, \"busy_wait\": 10.000, \"other\": 0.000, "
    "\"sleep\": 2460.000}}\n"
    "  ],\n"
    "  \"losses\": {\n"
    "    \"ring_full\": 2,\n"
    "    \"bad_sample\": 0,\n"
    "    \"stack_incomplete\": 0,\n"
    "    \"stack_truncated\": 0,\n"
    "    \"stack_pointer\": 0,\n"
    "    \"native_unwind\": 0,\n"
    "    \"unknown_erlang\": 0,\n"
    "    \"unknown_native\": 1,\n"
    "    \"kernel_stack\": 0,\n"
    "    \"out_of_order\": 0,\n"
    "    \"kernel_entry\": 0,\n"
    "    \"clock_stopped\": 0,\n"
    "    \"thread_times\": 0,\n"
    "    \"memory\": 0,\n"
    "    \"node_metrics\": 0,\n"
    "    \"read_fault\": 0,\n"
    "    \"sweeps\": 0,\n"
    "    \"trace\": 0\n"
    "  }\n"
    "}\n";

static void test_statistics_are_exact(void **state)
{
    struct small_profile small;

    (void)state;
    small_profile_make(&small);
    assert_output(&small, &stats_json_format, expected_stats);
}

static char *text;
static size_t text_size;

static struct json begin(bool compact)
{
    return (struct json){open_memstream(&text, &text_size), compact};
}

static void assert_written(struct json *json, const char *expected)
{
    fclose(json->file);
    assert_string_equal(text, expected);
    free(text);
}

/* Characters that are special in JSON are escaped in values and keys, others stay. '<' is escaped
 * in a page, where it could end the script element. */
static void test_special_characters_are_escaped(void **state)
{
    struct json json = begin(false);

    (void)state;
    json_open(&json, NULL, '{');
    json_text(&json, "a\"b\\c", "a\"b\\c\nd\x01</script>\x7f\xc3\xa9");
    json_text(&json, "b", "");
    json_text_or_null(&json, "c", "");
    json_text_or_null(&json, "d", "e");
    json_close(&json, '}');
    assert_written(&json, "{\"a\\\"b\\\\c\": "
                          "\"a\\\"b\\\\c\\u000ad\\u0001</script>\\u007f\xc3\xa9\", "
                          "\"b\": \"\", \"c\": null, \"d\": \"e\"}");
    json = begin(false);
    json.in_script = true;
    json_text(&json, NULL, "</script>");
    assert_written(&json, "\"\\u003c/script>\"");
}

static void test_numbers_of_all_kinds_are_exact(void **state)
{
    struct json json = begin(false);

    (void)state;
    json_open(&json, NULL, '[');
    json_number(&json, NULL, 0);
    json_number(&json, NULL, UINT64_MAX);
    json_signed(&json, NULL, INT64_MIN);
    json_signed(&json, NULL, -1);
    json_signed(&json, NULL, INT64_MAX);
    json_thousandths(&json, NULL, 7);
    json_thousandths(&json, NULL, UINT64_MAX);
    json_ms(&json, NULL, 12345999);
    json_decimal(&json, NULL, 0.99996, 4);
    json_decimal(&json, NULL, 12.34567, 3);
    json_number_if(&json, NULL, 0);
    json_number_if(&json, NULL, 10);
    json_bool(&json, NULL, true);
    json_bool(&json, NULL, false);
    json_close(&json, ']');
    assert_written(&json, "[0, 18446744073709551615, -9223372036854775808, -1, "
                          "9223372036854775807, 0.007, 18446744073709551.615, 12.345, 1.0000, "
                          "12.346, 10, true, false]");
}

/* Write values of each layout inside of each other. */
static void put_nested(struct json *json)
{
    json_open_lines(json, NULL, '{');
    json_open_lines(json, "lines", '[');
    json_open(json, NULL, '[');
    json_number(json, NULL, 1);
    json_number(json, NULL, 2);
    json_close(json, ']');
    json_open(json, NULL, '{');
    json_open_lines(json, "in a row", '[');
    json_null(json, NULL);
    json_close(json, ']');
    json_number(json, "next", 3);
    json_close(json, '}');
    json_close(json, ']');
    json_open_lines(json, "empty lines", '[');
    json_close(json, ']');
    json_open(json, "empty", '{');
    json_close(json, '}');
    json_close(json, '}');
}

static void test_json_is_indented_or_compact(void **state)
{
    struct json json = begin(false);

    (void)state;
    put_nested(&json);
    assert_written(&json, "{\n"
                          "  \"lines\": [\n"
                          "    [1, 2],\n"
                          "    {\"in a row\": [\n"
                          "      null\n"
                          "    ], \"next\": 3}\n"
                          "  ],\n"
                          "  \"empty lines\": [],\n"
                          "  \"empty\": {}\n"
                          "}");
    json = begin(true);
    put_nested(&json);
    assert_written(&json, "{\n\"lines\":[\n[1,2],\n{\"in a row\":[\nnull\n],\"next\":3}\n],\n"
                          "\"empty lines\":[],\n\"empty\":{}\n}");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_statistics_are_exact),
        cmocka_unit_test(test_special_characters_are_escaped),
        cmocka_unit_test(test_numbers_of_all_kinds_are_exact),
        cmocka_unit_test(test_json_is_indented_or_compact),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
