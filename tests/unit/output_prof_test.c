// SPDX-License-Identifier: Apache-2.0
/* Tables of functions, of recordings with CPU samples, allocation and counted calls. */
#include "small_output.h"

#include "output/prof/prof.h"

enum { SMALL = 40, GREAT = 160, RARE = 3 };

struct load {
    struct small_profile small;
    process_id cart, bag;
    event_id md5;
    struct recording_writer *writer;
    uint64_t time;
};

static process_id add_process(struct profile *p, unsigned number, const char *name)
{
    char pid[32];

    snprintf(pid, sizeof(pid), "<0.%u.0>", number);
    return profile_process(p, &(struct process_entry){.identity = number,
                                                      .target = 1,
                                                      .pid = profile_string_z(p, pid),
                                                      .name = profile_string_z(p, name)});
}

static void append(struct load *load, event_id event, process_id process, stack_id stack,
                   uint64_t first, uint64_t second, uint8_t flags)
{
    struct sample sample = {.time = load->time += 1000000,
                            .event = event,
                            .stack = stack,
                            .process = process,
                            .values = {first, second},
                            .flags = flags};
    struct error error;

    assert_int_equal(recording_append(load->writer, load->small.profile, &sample, &error), 0);
    load->small.totals.samples++;
}

/* Samples of 10 ms of CPU: 160 of shop:'get, all'/1 in cart, 40 of erlang:md5/1 in bag (below it
 * C code), 3 of lists:map/2 in bag, and 40 without a process. */
static void add_cpu(struct load *load)
{
    struct profile *p = load->small.profile;
    event_id cpu = event_define(p, EVENT_CPU);
    stack_id get = profile_stack(p, 0, small_frame(p, "shop:'get, all'/1", "", FRAME_ERLANG, 1));
    stack_id md5 = profile_stack(p, get, small_frame(p, "erlang:md5/1", "", FRAME_BIF, 2));
    stack_id c = profile_stack(p, md5, small_frame(p, "MD5Update", SMALL_FILE, FRAME_NATIVE, 3));
    stack_id map = profile_stack(p, 0, small_frame(p, "lists:map/2", "", FRAME_ERLANG, 4));
    stack_id spin = profile_stack(p, 0, small_frame(p, "spin", SMALL_FILE, FRAME_NATIVE, 5));

    for (int i = 0; i < GREAT; i++)
        append(load, cpu, load->cart, get, 10000000, 0, SAMPLE_ERLANG);
    for (int i = 0; i < SMALL; i++) {
        append(load, cpu, load->bag, c, 10000000, 0, SAMPLE_ERLANG);
        append(load, cpu, 0, spin, 10000000, 0, 0);
    }
    for (int i = 0; i < RARE; i++)
        append(load, cpu, load->bag, map, 10000000, 0, SAMPLE_ERLANG);
}

static void load_begin(struct load *load)
{
    struct error error;

    *load = (struct load){.time = small_header.start_monotonic};
    small_profile_make(&load->small);
    load->small.totals.samples = 0;
    load->cart = add_process(load->small.profile, 90, "cart, \"1\"");
    load->bag = add_process(load->small.profile, 91, "");
    load->writer = recording_create(NULL, "/tmp", &small_header, &error);
    assert_non_null(load->writer);
}

/* Each of 10 calls of erlang:md5/1 in bag. */
static void add_calls(struct load *load)
{
    struct profile *p = load->small.profile;
    struct error error;

    load->md5 = event_define(p, "bif:erlang:md5/1");
    for (int i = 0; i < 10; i++)
        append(load, load->md5, load->bag, 0, 1000, 1, SAMPLE_EXACT);
    recording_put_values(load->writer, load->md5, 1, (uint64_t[EVENT_VALUES]){10000, 10});
    assert_int_equal(recording_put_summary(load->writer, p,
                                           &(struct event_summary){.event = load->md5,
                                                                   .hits = 10,
                                                                   .span_ns = 10000000000,
                                                                   .covered_ns = 10000000000,
                                                                   .sums = {10000, 10}},
                                           &error),
                     0);
}

/* 30 calls of shop:'get, all'/1: 20 in cart, 10 in bag, in samples of several calls. */
static void add_erlang_calls(struct load *load)
{
    struct profile *p = load->small.profile;
    event_id event = event_define(p, "call:shop:'get, all'/1");
    stack_id get = profile_stack(p, 0, small_frame(p, "shop:'get, all'/1", "", FRAME_ERLANG, 0));
    struct error error;

    append(load, event, load->cart, get, 15, 0, SAMPLE_EXACT);
    append(load, event, load->bag, get, 10, 0, SAMPLE_EXACT);
    append(load, event, load->cart, get, 5, 0, SAMPLE_EXACT);
    assert_int_equal(recording_put_summary(load->writer, p,
                                           &(struct event_summary){.event = event,
                                                                   .hits = 30,
                                                                   .span_ns = 10000000000,
                                                                   .covered_ns = 10000000000,
                                                                   .sums = {30}},
                                           &error),
                     0);
}

static int load_finish(struct load *load)
{
    struct error error;
    int fd;

    load->small.totals.end_monotonic = load->time + 1;
    assert_int_equal(
        recording_finish(load->writer, load->small.profile, &load->small.totals, &fd, &error), 0);
    profile_free(load->small.profile);
    return fd;
}

static int cpu_and_calls(void)
{
    struct load load;

    load_begin(&load);
    add_cpu(&load);
    add_calls(&load);
    return load_finish(&load);
}

static int cpu_and_erlang_calls(void)
{
    struct load load;

    load_begin(&load);
    event_define(load.small.profile, EVENT_CPU);
    event_define(load.small.profile, "call:shop:'get, all'/1");
    add_cpu(&load);
    add_erlang_calls(&load);
    return load_finish(&load);
}

static void assert_prof_of(int fd, const struct prof_options *options, const char *expected)
{
    const struct output_settings settings = {.view.grouping = {{GROUP_NAME}}, .prof = options};
    size_t size;
    char *text = output_of_fd(fd, &prof_format, &settings, &size);

    assert_string_equal(text, expected);
    free(text);
}

static void assert_prof(const struct prof_options *options, const char *expected)
{
    assert_prof_of(cpu_and_calls(), options, expected);
}

static void assert_no_prof(int fd, const struct prof_options *options, const char *expected)
{
    const struct output_settings settings = {.prof = options};
    struct output_result result;
    struct error error = {0};
    struct recording *recording = recording_open(fd, "test", &error);
    char *text = NULL;
    size_t size;
    FILE *file = open_memstream(&text, &size);
    struct output_request request = {.path = "-", .format = &prof_format, .file = file};

    assert_non_null(recording);
    if (!output_write(recording, &settings, &request, 1, &result, &error)) {
        error = result.given;
        output_result_free(&result);
    }
    assert_int_equal(error.code, ERROR_NO_SAMPLES);
    assert_string_equal(error.text, expected);
    recording_close(recording);
    fclose(file);
    free(text);
}

/* Own time is that of the Erlang function or BIF nearest to the leaf, and adds up to that of all
 * samples. What chance explains is `other`. Calls are those that an event counted. */
static void test_text_has_tprofs_columns_and_intervals(void **state)
{
    (void)state;
    assert_prof(&(struct prof_options){.type = PROF_TIME},
                "TIME of event cpu: from samples, +- is half of the 95 % interval\n"
                "CALLS where events counted them: exact\n"
                "\n"
                "FUNCTION              CALLS  TIME (us)         +-  PER CALL           +-       %  "
                "SAMPLES\n"
                "shop:'get, all'/1         -    1600000  +- 151675         -                65.84  "
                "    160\n"
                "[no Erlang function]      -     400000  +- 130540         -                16.46  "
                "     40\n"
                "erlang:md5/1             10     400000  +- 130540  40000.00  +- 13053.94   16.46  "
                "     40\n"
                "other (1 function)               30000                                      1.23  "
                "      3\n"
                "                               2430000                                    100.00  "
                "    243\n");
}

static void test_tprof_has_its_layout(void **state)
{
    (void)state;
    assert_prof(&(struct prof_options){.form = PROF_TPROF, .per = PROF_PER_PROCESS},
                "TIME of event cpu: from samples\n"
                "CALLS where events counted them: exact\n"
                "\n"
                "****** Process <0.90.0>  --  65.84% of total *** \n"
                "FUNCTION           CALLS  TIME (μs)  PER CALL  [     %]\n"
                "shop:'get, all'/1      -    1600000         -  [100.00]\n"
                "                            1600000            [ 100.0]\n"
                "\n"
                "****** Process <0.91.0>  --  17.70% of total *** \n"
                "FUNCTION            CALLS  TIME (μs)  PER CALL  [    %]\n"
                "erlang:md5/1           10     400000  40000.00  [93.02]\n"
                "other (1 function)      -      30000         -  [ 6.98]\n"
                "                              430000            [100.0]\n"
                "\n"
                "****** no process  --  16.46% of total *** \n"
                "FUNCTION              CALLS  TIME (μs)  PER CALL  [     %]\n"
                "[no Erlang function]      -     400000         -  [100.00]\n"
                "                                400000            [ 100.0]\n");
}

static void test_csv_quotes_what_separates_fields(void **state)
{
    (void)state;
    assert_prof(&(struct prof_options){.form = PROF_CSV, .per = PROF_PER_PROCESS},
                "node,pid,process,function,calls,calls_half,time_us,time_half_us,us_per_call,us_"
                "per_call_half,percent,samples\r\n"
                "\"shop@\"\"web\"\"\",<0.90.0>,\"cart, \"\"1\"\"\",\"shop:'get, "
                "all'/1\",,,1600000.000,151674.572,,,100.00,160\r\n"
                "\"shop@\"\"web\"\"\",<0.91.0>,,erlang:md5/"
                "1,10,0,400000.000,130539.401,40000.000,13053.940,93.02,40\r\n"
                "\"shop@\"\"web\"\"\",<0.91.0>,,other,,,30000.000,,,,6.98,3\r\n"
                ",,,[no Erlang function],,,400000.000,130539.401,,,100.00,40\r\n");
}

static void test_json_has_exact_numbers(void **state)
{
    (void)state;
    assert_prof(
        &(struct prof_options){.form = PROF_JSON},
        "{\n"
        "  \"type\": \"time\",\n"
        "  \"unit\": \"ns\",\n"
        "  \"event\": \"cpu\",\n"
        "  \"sum\": 2430000000,\n"
        "  \"samples\": 243,\n"
        "  \"tables\": [\n"
        "    {\"sum\": 2430000000, \"sum_half\": 0, \"samples\": 243, \"functions\": [\n"
        "      {\"function\": \"shop:'get, all'/1\", \"calls\": null, \"calls_half\": null, "
        "\"own\": 1600000000, \"own_half\": 151674572, \"own_per_call\": null, "
        "\"own_per_call_half\": null, \"samples\": 160},\n"
        "      {\"function\": \"[no Erlang function]\", \"calls\": null, \"calls_half\": null, "
        "\"own\": 400000000, \"own_half\": 130539401, \"own_per_call\": null, "
        "\"own_per_call_half\": null, \"samples\": 40},\n"
        "      {\"function\": \"erlang:md5/1\", \"calls\": 10, \"calls_half\": 0, \"own\": "
        "400000000, \"own_half\": 130539401, \"own_per_call\": 40000000.000, "
        "\"own_per_call_half\": 13053940.069, \"samples\": 40}\n"
        "    ], \"other\": {\"functions\": 1, \"sum\": 30000000, \"samples\": 3}}\n"
        "  ]\n"
        "}\n");
}

static void test_calls_are_exact(void **state)
{
    (void)state;
    assert_prof(&(struct prof_options){.type = PROF_COUNT},
                "CALLS where events counted them: exact\n"
                "\n"
                "FUNCTION      CALLS       %  SAMPLES\n"
                "erlang:md5/1     10  100.00       10\n"
                "                 10  100.00       10\n");
}

/* Functions that the pattern does not select keep their part of the total. */
/* Calls of Erlang functions stand beside their time, and by process; a sample can have several. */
static void test_calls_of_erlang_functions_are_exact(void **state)
{
    struct function_name pattern;
    struct error error;

    (void)state;
    assert_int_equal(function_name_parse("shop:_/_", &pattern, &error), 0);
    assert_prof_of(
        cpu_and_erlang_calls(), &(struct prof_options){.pattern = &pattern},
        "TIME of event cpu: from samples, +- is half of the 95 % interval\n"
        "CALLS where events counted them: exact\n"
        "\n"
        "FUNCTION           CALLS  TIME (us)         +-  PER CALL          +-       %  SAMPLES\n"
        "shop:'get, all'/1     30    1600000  +- 151675  53333.33  +- 5055.82   65.84      160\n"
        "other                        830000                                    34.16       83\n"
        "                            2430000                                   100.00      243\n");
    assert_prof_of(
        cpu_and_erlang_calls(),
        &(struct prof_options){.type = PROF_COUNT, .per = PROF_PER_PROCESS, .form = PROF_TPROF},
        "CALLS where events counted them: exact\n"
        "\n"
        "****** Process <0.90.0>  --  66.67% of total *** \n"
        "FUNCTION           CALLS  [     %]\n"
        "shop:'get, all'/1     20  [100.00]\n"
        "                          [ 100.0]\n"
        "\n"
        "****** Process <0.91.0>  --  33.33% of total *** \n"
        "FUNCTION           CALLS  [     %]\n"
        "shop:'get, all'/1     10  [100.00]\n"
        "                          [ 100.0]\n");
}

static void test_pattern_selects_functions(void **state)
{
    struct function_name pattern;
    struct error error;

    (void)state;
    assert_int_equal(function_name_parse("erlang:_/_", &pattern, &error), 0);
    assert_prof(
        &(struct prof_options){.pattern = &pattern},
        "TIME of event cpu: from samples, +- is half of the 95 % interval\n"
        "CALLS where events counted them: exact\n"
        "\n"
        "FUNCTION      CALLS  TIME (us)         +-  PER CALL           +-       %  SAMPLES\n"
        "erlang:md5/1     10     400000  +- 130540  40000.00  +- 13053.94   16.46       40\n"
        "other                  2030000                                     83.54      203\n"
        "                       2430000                                    100.00      243\n");
    assert_int_equal(function_name_parse("maps:_/_", &pattern, &error), 0);
    assert_no_prof(cpu_and_calls(), &(struct prof_options){.pattern = &pattern},
                   "no function of the samples fits --pattern");
}

static void test_missing_events_are_refused(void **state)
{
    struct small_profile small;

    (void)state;
    assert_no_prof(cpu_and_calls(), &(struct prof_options){.type = PROF_MEMORY},
                   "the recording has no event 'alloc'; it has: cpu, bif:erlang:md5/1");
    small_profile_make(&small);
    assert_no_prof(small_recording(&small), &(struct prof_options){.type = PROF_COUNT},
                   "the recording has no counts of calls: record them with -e call:M:F/A, "
                   "bif:M:F/A, nif:M:F/A or probe:SYMBOL");
    profile_free(small.profile);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_text_has_tprofs_columns_and_intervals),
        cmocka_unit_test(test_tprof_has_its_layout),
        cmocka_unit_test(test_csv_quotes_what_separates_fields),
        cmocka_unit_test(test_json_has_exact_numbers),
        cmocka_unit_test(test_calls_are_exact),
        cmocka_unit_test(test_calls_of_erlang_functions_are_exact),
        cmocka_unit_test(test_pattern_selects_functions),
        cmocka_unit_test(test_missing_events_are_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
