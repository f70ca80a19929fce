// SPDX-License-Identifier: Apache-2.0
#include "small_profile.h"

#include "output/dump/writers.h"
#include "profile/dump.h"

static struct small_profile small;
static struct dump dump;

static void open_dump(uint32_t sections)
{
    small_profile_make(&small);
    dump = (struct dump){.profile = small.profile,
                         .target = 1,
                         .sections = sections,
                         .realtime = 1763697012345000000,
                         .tables.is_known = true};
}

static void close_dump(void)
{
    dump_free(&dump);
    profile_free(small.profile);
}

static void expect(void (*write)(FILE *file, const struct dump *dump), const char *expected)
{
    char *text = NULL;
    size_t size;
    FILE *file = open_memstream(&text, &size);

    write(file, &dump);
    fclose(file);
    assert_string_equal(text, expected);
    free(text);
}

static void add_table(const char *name, uint64_t bytes, const struct table_facts *facts)
{
    struct dump_table table = {.name = profile_string_z(small.profile, name), .facts = *facts};

    table.facts.bytes = bytes;
    table.facts.keypos = 1;
    dump_tables_add(&dump.tables, &table);
}

static void add_tables(void)
{
    add_table("unknown", 0, &(struct table_facts){.is_named = true});
    add_table("Shop.Cache", 1234568,
              &(struct table_facts){.objects = 12345,
                                    .is_counted = true,
                                    .type = TABLE_ORDERED_SET,
                                    .protection = TABLE_PUBLIC,
                                    .write_concurrency = TABLE_CONCURRENCY_AUTO,
                                    .is_compressed = true});
    dump.tables.list[1].owner = 1;
    dump.tables.list[1].reference = profile_string_z(small.profile, "#Ref<0.1.2.3>");
    dump_tables_sort(&dump.tables);
    dump.tables.lost = 3;
    dump.tables.deleted = 1;
}

static void test_text_has_totals_and_tables(void **state)
{
    (void)state;
    open_dump(1 << DUMP_TABLES);
    add_tables();
    expect(dump_write_text,
           "shop@\"web\", pid 100, OTP 27\n"
           "2 ETS tables: 1.2 MB\n"
           "the size of 1 is not known\n"
           "3 others could not be read\n"
           "     1.2 MB  Shop.Cache                          12,345 objects  ordered_set   public "
           "    <0.85.0> cart\n"
           "          ?  unknown                                  ? objects  set           private"
           "    ?\n");
    close_dump();
}

static void test_text_has_the_largest_tables(void **state)
{
    char *text = NULL;
    size_t size, lines = 0;
    FILE *file = open_memstream(&text, &size);

    (void)state;
    open_dump(1 << DUMP_TABLES);
    for (uint64_t i = 0; i < 12; i++)
        add_table("t", 1000 * i, &(struct table_facts){.is_counted = true});
    dump_tables_sort(&dump.tables);
    dump_write_text(file, &dump);
    fclose(file);
    assert_non_null(strstr(text, "\n12 ETS tables: 66.0 kB; the 10 largest:\n    11.0 kB  t "));
    for (const char *at = text; (at = strchr(at, '\n')); at++)
        lines++;
    assert_int_equal(lines, 12);
    assert_null(strstr(text, " 1.0 kB"));
    free(text);
    close_dump();
}

static void add_process(const char *pid, stack_id stack, uint64_t old)
{
    struct process_entry entry = {.target = 1, .pid = profile_string_z(small.profile, pid)};

    dump.processes = realloc(dump.processes, (dump.count + 1) * sizeof(*dump.processes));
    dump.processes[dump.count] = (struct dump_process){
        .process = profile_process(small.profile, &entry), .stack = stack, .status = STATUS_IDLE};
    metrics_set(&dump.processes[dump.count++].metrics, METRIC_OLD, old);
}

/* Processes that were selected by a metric are all shown, with the metric, the largest first.
 * Neighbours share their stack. */
static void test_text_has_the_largest_processes_first(void **state)
{
    char pid[16];

    (void)state;
    open_dump(1 << DUMP_PROCESSES);
    dump.is_top = true;
    dump.top = METRIC_OLD;
    for (uint64_t i = 1; i <= 6; i++) {
        snprintf(pid, sizeof(pid), "<0.%d.0>", (int)i);
        add_process(pid, small.samples[0].stack, i);
    }
    add_process("<0.7.0>", small.samples[2].stack, 1000);
    dump.processes[2].stack = small.samples[2].stack;
    expect(dump_write_text, "shop@\"web\", pid 100, OTP 27\n"
                            "7 processes: 7 idle\n\n"
                            "1 idle\n    spin\n"
                            "  <0.7.0>                                        old 8.0 kB\n\n"
                            "3 idle\n    erlang:+/2\n    proc_lib:init_p/5\n"
                            "  <0.6.0>                                        old 48 B\n"
                            "  <0.5.0>                                        old 40 B\n"
                            "  <0.4.0>                                        old 32 B\n\n"
                            "1 idle\n    spin\n"
                            "  <0.3.0>                                        old 24 B\n\n"
                            "2 idle\n    erlang:+/2\n    proc_lib:init_p/5\n"
                            "  <0.2.0>                                        old 16 B\n"
                            "  <0.1.0>                                        old 8 B\n");
    close_dump();
}

static void test_sections_are_separated(void **state)
{
    (void)state;
    open_dump(1 << DUMP_PROCESSES | 1 << DUMP_TABLES);
    dump.tables.is_known = false;
    expect(dump_write_text, "shop@\"web\", pid 100, OTP 27\n"
                            "0 processes: \n"
                            "\n"
                            "ETS tables: not known for this OTP release\n");
    close_dump();
}

#define JSON_HEAD                                                                                  \
    "{\n\"pid\":100,\n\"node\":\"shop@\\\"web\\\"\",\n\"otp_release\":\"27\",\n\"erts\":null,\n"   \
    "\"time\":1763697012.345,\n\"left_out\":0,\n\"gone\":0,\n\"torn\":0,\n"

static void test_json_has_all_facts(void **state)
{
    (void)state;
    open_dump(1 << DUMP_TABLES);
    add_tables();
    expect(dump_write_json, JSON_HEAD
           "\"tables_deleted\":1,\n\"tables_lost\":3,\n\"tables\":[\n"
           "{\"name\":\"Shop.Cache\",\"id\":\"#Ref<0.1.2.3>\",\"named_table\":false,"
           "\"type\":\"ordered_set\",\"protection\":\"public\",\"owner\":{\"pid\":\"<0.85.0>\","
           "\"name\":\"cart\",\"label\":null,\"initial_call\":null},\"size\":12345,"
           "\"memory\":1234568,\"keypos\":1,\"compressed\":true,\"fixed\":false,"
           "\"read_concurrency\":false,\"write_concurrency\":\"auto\"},\n"
           "{\"name\":\"unknown\",\"id\":null,\"named_table\":true,\"type\":\"set\","
           "\"protection\":\"private\",\"owner\":null,\"keypos\":1,\"compressed\":false,"
           "\"fixed\":false,\"read_concurrency\":false,\"write_concurrency\":false}\n]\n}\n");
    close_dump();
}

static void test_json_has_null_for_unknown_tables(void **state)
{
    (void)state;
    open_dump(1 << DUMP_TABLES);
    dump.tables.is_known = false;
    expect(dump_write_json, JSON_HEAD "\"tables\":null\n}\n");
    close_dump();
}

static void test_sections_are_parsed(void **state)
{
    static const struct {
        const char *text;
        uint32_t sections;
    } cases[] = {{"tables", 1 << DUMP_TABLES},
                 {"processes", 1 << DUMP_PROCESSES},
                 {"tables,processes,tables", 1 << DUMP_TABLES | 1 << DUMP_PROCESSES}};
    static const char *const bad[] = {"", "table", "tables,", ",tables", "tables processes"};
    struct error error;
    uint32_t sections;

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        assert_int_equal(dump_sections_parse(cases[i].text, DUMP_ALL, &sections, &error), 0);
        assert_int_equal(sections, cases[i].sections);
    }
    for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
        assert_int_equal(dump_sections_parse(bad[i], DUMP_ALL, &sections, &error), -1);
        assert_int_equal(error.code, ERROR_USAGE);
        assert_non_null(strstr(error.text, dump_section_names()));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_text_has_totals_and_tables),
        cmocka_unit_test(test_text_has_the_largest_tables),
        cmocka_unit_test(test_text_has_the_largest_processes_first),
        cmocka_unit_test(test_sections_are_separated),
        cmocka_unit_test(test_json_has_all_facts),
        cmocka_unit_test(test_json_has_null_for_unknown_tables),
        cmocka_unit_test(test_sections_are_parsed),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
