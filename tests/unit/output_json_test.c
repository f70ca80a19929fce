// SPDX-License-Identifier: Apache-2.0
#include "small_output.h"

#include "output/json/json.h"

/* All keys with their numbers, byte for byte; a quote in the node's name is escaped. */
static void test_exact(void **state)
{
    struct small_profile small;

    (void)state;
#define TARGET                                                                                     \
    "{\"pid\": 100, \"node\": \"shop@\\\"web\\\"\", \"otp_release\": \"27\", \"erts\": null, "     \
    "\"flavor\": null, \"schedulers\": 2, \"dirty_cpu_schedulers\": 0, "                           \
    "\"dirty_io_schedulers\": 0, \"processes\": 50, \"executable\": null, \"container\": null, "   \
    "\"layout\": \"table\"}"
    small_profile_make(&small);
    assert_output(&small, &stats_json_format,
                  "{\n"
                  "  \"samples\": 4,\n"
                  "  \"left_out\": 0,\n"
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
                  "\"cpu_ms\": null, \"no_cpu_ms\": null,\n"
                  "     \"states_ms\": {\"unknown\": 0.000, \"emulator\": 20.000, \"bif\": 0.000, "
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
                  "    \"clock_stopped\": 0\n"
                  "  }\n"
                  "}\n");
}

/* Characters that are special in JSON or HTML are escaped, others stay. */
static void test_string(void **state)
{
    char *text = NULL;
    size_t size;
    FILE *file = open_memstream(&text, &size);

    (void)state;
    json_string(file, "a\"b\\c\nd\x01</script>\xc3\xa9");
    json_string_or_null(file, "");
    fclose(file);
    assert_string_equal(text, "\"a\\\"b\\\\c\\u000ad\\u0001\\u003c/script>\xc3\xa9\"null");
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_exact),
        cmocka_unit_test(test_string),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
