// SPDX-License-Identifier: Apache-2.0
/* The memory of a dump, as text and JSON. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "output/dump/writers.h"

static const struct memory_use use = {
    .resident = 81200000,
    .anonymous = 70000000,
    .atoms = {21345, 1048576},
    .processes = {330, 1048576},
    .ports = {41, 0},
    .allocators = {{{"ets_alloc", 3, 2000000, 0, 0, 1500000, 1500000},
                    {"eheap_alloc", 3, 30000000, 20000000, 10000000, 36000000, 35000000},
                    {"x_alloc", 1, 0, 0, 0, 0, 1000000}},
                   3},
};

static char *text_of(const struct memory_use *memory)
{
    char *text = NULL;
    size_t size;
    FILE *file = open_memstream(&text, &size);

    dump_memory_text(file, &(struct dump){.memory = *memory});
    fclose(file);
    return text;
}

static char *json_of(const struct memory_use *memory)
{
    char *text = NULL;
    size_t size;
    FILE *file = open_memstream(&text, &size);
    struct json json = {file, .compact = true};

    json_open(&json, NULL, '{');
    dump_memory_json(&json, &(struct dump){.memory = *memory});
    json_close(&json, '}');
    fclose(file);
    return text;
}

/* The sums come first, then the tables, then the allocators with the largest first. */
static void test_text_has_sums_tables_and_allocators(void **state)
{
    char *text = text_of(&use);

    (void)state;
    assert_string_equal(
        text,
        "memory\n"
        "  RSS 81.2 MB (70.0 MB anonymous), carriers 62.0 MB, blocks 37.5 MB: 60.5 % of the "
        "carriers in use\n"
        "  atoms 21,345 of 1,048,576 (2.0 %), processes 330 of 1,048,576 (0.0 %), ports unknown\n"
        "  allocator          blocks   carriers   in use  multi-block single-block    in pool  "
        "instances  contents\n"
        "  eheap_alloc       36.0 MB    60.0 MB   60.0 %      30.0 MB      20.0 MB    10.0 MB  "
        "        3  heaps and messages of processes\n"
        "  ets_alloc          1.5 MB     2.0 MB   75.0 %       2.0 MB          0 B        0 B  "
        "        3  ETS tables\n"
        "  x_alloc               0 B        0 B        -          0 B          0 B        0 B  "
        "        1  \n");
    free(text);
}

static void test_json_has_bytes(void **state)
{
    char *text = json_of(&use);

    (void)state;
    assert_non_null(strstr(
        text, "\"resident\":81200000,\"resident_anonymous\":70000000,\"atoms\":{\"count\":21345,"
              "\"limit\":1048576}"));
    assert_non_null(
        strstr(text, "\"ports\":null,\"total\":{\"instances\":7,\"carriers\":62000000,"));
    assert_non_null(strstr(text, "{\"name\":\"eheap_alloc\",\"instances\":3,\"carriers\":60000000,"
                                 "\"multi_block_carriers\":30000000,"
                                 "\"single_block_carriers\":20000000,\"pooled_carriers\":10000000,"
                                 "\"blocks\":36000000,\"allocated\":35000000}"));
    free(text);
}

/* Unknown values are shown as unknown, with the reason. */
static void test_unknown_memory_is_said_to_be_unknown(void **state)
{
    const struct memory_use unknown = {.unknown = {ERROR_UNSUPPORTED, "the reason"}};
    char *text = text_of(&unknown), *json = json_of(&unknown);

    (void)state;
    assert_string_equal(text, "memory\n  RSS unknown; the reason\n"
                              "  atoms unknown, processes unknown, ports unknown\n");
    assert_string_equal(json, "{\"memory\":{\"resident\":null,\"atoms\":null,\"processes\":null,"
                              "\"ports\":null,\"allocators\":null,\"unknown\":\"the reason\"}}");
    free(text);
    free(json);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_text_has_sums_tables_and_allocators),
        cmocka_unit_test(test_json_has_bytes),
        cmocka_unit_test(test_unknown_memory_is_said_to_be_unknown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
