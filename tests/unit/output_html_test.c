// SPDX-License-Identifier: Apache-2.0
/* The page: its data block, as src/output/html/html.c describes it. */
#include "small_output.h"

#include <zlib.h>

#include "output/html/html_internal.h"
#include "util/cursor.h"
#include "util/encode.h"

/* ---- reading a page ---- */

static const char *element(const char *page, const char *id, size_t *ret_size)
{
    const char *start = strstr(page, id), *end;

    assert_non_null(start);
    start = strchr(start, '>') + 1;
    end = strstr(start, "</script>");
    assert_non_null(end);
    *ret_size = (size_t)(end - start);
    return start;
}

static unsigned char *ascii_bytes(const char *text, size_t size)
{
    unsigned char *bytes = malloc(size), *at = bytes;
    uint32_t bits = 0, count = 0;

    for (size_t i = 0; i < size; i++) {
        unsigned char character = (unsigned char)text[i];

        assert_true(character && character < 0x80 && character != '\r' && character != '<');
        if (character == '^')
            character = (unsigned char)text[++i] ^ 0x40;
        bits |= (uint32_t)character << count;
        count += 7;
        if (count < 8)
            continue;
        *at++ = (unsigned char)bits;
        bits >>= 8;
        count -= 8;
    }
    assert_int_equal(bits, 0);
    return bytes;
}

struct column {
    unsigned char bytes[4096];
    struct cursor cursor;
};

/* Find a column by its position in the header's list. */
static void column_open(struct column *column, const char *page, const char *name)
{
    size_t size, packed = 0, offset = 0;
    uLongf unpacked = 0, room = sizeof(column->bytes);
    const char *at = strstr(element(page, "id=\"header\"", &size), "\"columns\": ["), *data;
    char found[32] = "";
    unsigned char *bytes;

    assert_non_null(at);
    for (at = strchr(at, '[') + 1; strcmp(found, name) != 0; at = strchr(at, ']') + 1) {
        offset += packed;
        at = strchr(at, '[');
        assert_non_null(at);
        assert_int_equal(sscanf(at, "[\"%31[^\"]\", %zu, %lu]", found, &packed, &unpacked), 3);
    }
    data = element(page, "id=\"recording\"", &size);
    bytes = ascii_bytes(data, size);
    assert_int_equal(uncompress(column->bytes, &room, bytes + offset, packed), Z_OK);
    assert_int_equal(room, unpacked);
    column->cursor = cursor_over(column->bytes, room);
    free(bytes);
}

static void assert_end(const struct column *column)
{
    assert_null(column->cursor.problem);
    assert_ptr_equal(column->cursor.at, column->cursor.end);
}

static void assert_numbers(const char *page, const char *name, const uint64_t *numbers,
                           size_t count)
{
    struct column column;

    column_open(&column, page, name);
    for (size_t i = 0; i < count; i++)
        assert_int_equal(cursor_varint(&column.cursor, UINT64_MAX, ""), numbers[i]);
    assert_end(&column);
}

static void assert_signed(const char *page, const char *name, const int64_t *numbers, size_t count)
{
    struct column column;

    column_open(&column, page, name);
    for (size_t i = 0; i < count; i++)
        assert_int_equal((int64_t)cursor_delta(&column.cursor, 0, UINT64_MAX, ""), numbers[i]);
    assert_end(&column);
}

static void assert_bytes(const char *page, const char *name, const uint8_t *bytes, size_t size)
{
    struct column column;

    column_open(&column, page, name);
    assert_int_equal(column.cursor.end - column.cursor.at, size);
    assert_memory_equal(column.bytes, bytes, size);
}

#define NUMBERS(page, name, ...)                                                                   \
    assert_numbers(page, name, (const uint64_t[]){__VA_ARGS__},                                    \
                   sizeof((const uint64_t[]){__VA_ARGS__}) / sizeof(uint64_t))
#define SIGNED(page, name, ...)                                                                    \
    assert_signed(page, name, (const int64_t[]){__VA_ARGS__},                                      \
                  sizeof((const int64_t[]){__VA_ARGS__}) / sizeof(int64_t))

static char *page_of(struct small_profile *small)
{
    return small_output(small, &html_format, &(struct view_options){.grouping = {{GROUP_NAME}}});
}

/* ---- tests ---- */

/* Columns of samples are in order of time, columns of processes in order of processes. */
static void test_columns_of_samples_are_in_order_of_time(void **state)
{
    struct small_profile small;
    char *page;

    (void)state;
    small_profile_make(&small);
    page = page_of(&small);
    NUMBERS(page, "time", 1000, 10, 10, 980);
    SIGNED(page, "process", 1, 0, -1, 1);
    NUMBERS(page, "event", 1, 1, 1, 1);
    SIGNED(page, "value 0", 10000000, 0, 0, 0);
    NUMBERS(page, "stack", 0, 0, 0, 2);
    SIGNED(page, "leaf", 5, -3, 2);
    NUMBERS(page, "thread", 1, 1, 1, 1);
    NUMBERS(page, "status", 0, STATUS_RUNNING, STATUS_RUNNING, STATUS_RUNNING);
    NUMBERS(page, "activity", ACTIVITY_BUSY_WAIT, 0, 0, 0);
    NUMBERS(page, "complete", 0, 1, 1, 1);
    free(page);
}

static void test_columns_of_metrics_have_the_known_values(void **state)
{
    struct small_profile small;
    struct metrics *first, *last;
    char *page;

    (void)state;
    small_profile_make(&small);
    first = &small.samples[0].metrics;
    last = &small.samples[3].metrics;
    metrics_set(first, METRIC_YOUNG, 1500);
    metrics_set(first, METRIC_MBUF, 400);
    metrics_set(first, METRIC_STACK, 20);
    metrics_set(first, METRIC_MSGQ, 7);
    metrics_set(last, METRIC_YOUNG, 300);
    metrics_set(last, METRIC_MBUF, 0);
    metrics_set(last, METRIC_STACK, 25);
    metrics_set(last, METRIC_MSGQ, 5);
    page = page_of(&small);
    NUMBERS(page, "known", first->known, first->known ^ 1 << METRIC_REDUCTIONS,
            first->known ^ 1 << METRIC_REDUCTIONS);
    SIGNED(page, "metric 1", 7, -2);
    NUMBERS(page, "metric 2", 400, 0);
    SIGNED(page, "metric 3", 100, 300);
    SIGNED(page, "metric 4", 20, 5);
    NUMBERS(page, "metric 5", 1500, 300);
    free(page);
}

/* Reductions of 1000, 1500 and 300000, in separate bytes. */
static void test_large_numbers_are_split_into_bytes(void **state)
{
    struct small_profile small;
    char *page;

    (void)state;
    small_profile_make(&small);
    small.samples[3].metrics.values[METRIC_REDUCTIONS] = 300000;
    page = page_of(&small);
    assert_bytes(page, "metric 0", (const uint8_t[]){0xd0, 0xe8, 0x88}, 3);
    assert_bytes(page, "metric 0+", (const uint8_t[]){2000 >> 7, 1000 >> 7, 0x80 | 56}, 3);
    assert_bytes(page, "metric 0++", (const uint8_t[]){36}, 1);
    free(page);
}

/* Each event has its own values, and some have fewer. */
static void test_each_event_has_its_own_columns_of_values(void **state)
{
    struct small_profile small;
    char *page;

    (void)state;
    small_profile_make(&small);
    small_profile_add_events(&small);
    small.samples[1].values[GC_HEAP_BEFORE] = 700;
    small.samples[1].values[GC_HEAP_AFTER] = 50;
    page = page_of(&small);
    NUMBERS(page, "event", 1, 2, 1, 2);
    SIGNED(page, "value 0", 10000000, 12300, 0, 4567890 - 12300);
    SIGNED(page, "value 1", 3, 1 - 3);
    SIGNED(page, "value 2", 1000 - 700 + 50, 0);
    SIGNED(page, "value 4", 700, -700);
    assert_non_null(strstr(page, "{\"name\": \"gc\", \"values\": [{\"name\": \"time\", "
                                 "\"unit\": \"ns\"}"));
    assert_non_null(strstr(page, "\"summaries\": [{\"hits\": 1234, \"lost\": 2, "
                                 "\"spanNs\": 2500000000, \"coveredNs\": 1000000000, "
                                 "\"windows\": 13, \"sums\": [4600000, 3085, 1000, 0, 0, 0], "
                                 "\"errors\": [100000, 100, 0, 0, 0, 0]}]"));
    free(page);
}

/* Of hits of event sched, a sample with the time and the process of the one before is a part of the
 * same hit, though the page has times in ms. */
static void test_parts_of_one_hit_are_noted(void **state)
{
    struct small_profile small;
    char *page;

    (void)state;
    small_profile_make(&small);
    for (int i = 0; i < SMALL_SAMPLES; i++) {
        small.samples[i] = small.samples[0];
        small.samples[i].event = event_define(small.profile, EVENT_SCHED);
    }
    small.samples[1].time += 1;
    small.samples[2].time += 1;
    small.samples[3].time += 2;
    page = page_of(&small);
    NUMBERS(page, "time", 1000, 0, 0, 0);
    NUMBERS(page, "part", 2);
    free(page);
}

/* Of two spans of one trace, and one of another. A page of samples without traces has no column. */
static void test_traces_are_listed_by_their_number_of_samples(void **state)
{
    static const char ids[] = "000000000000000000000000000000ff\0"
                              "4bf92f3577b34da6a3ce929d0e0e4736";
    const struct trace_span other = {0x4bf92f3577b34da6, 0xa3ce929d0e0e4736, 5};
    struct small_profile small;
    struct column traces;
    char *page;

    (void)state;
    small_profile_make(&small);
    small.samples[0].trace_span = profile_trace_span(small.profile, &other);
    for (int i = 1; i < SMALL_SAMPLES; i += 2)
        small.samples[i].trace_span =
            profile_trace_span(small.profile, &(struct trace_span){0, 0xff, (uint64_t)i});
    page = page_of(&small);
    column_open(&traces, page, "traces");
    assert_int_equal(traces.cursor.end - traces.cursor.at, sizeof(ids));
    assert_memory_equal(traces.bytes, ids, sizeof(ids));
    NUMBERS(page, "trace", 0, 2, 1, 1); /* sample 2 has no process, which is first */
    assert_non_null(strstr(page, "\"traces\": 2, \"tracesNotListed\": 0}"));
    free(page);
    small_profile_make(&small);
    page = page_of(&small);
    assert_null(strstr(page, "[\"trace\","));
    assert_null(strstr(page, "[\"traces\","));
    free(page);
}

/* Each trace has one sample, but the last one has two, and is the first of the list. */
static void test_traces_beyond_the_limit_are_counted(void **state)
{
    struct html_columns columns = {0};
    struct trace_span span = {.span = 1};
    struct html_traces traces;

    (void)state;
    html_traces_init(&traces);
    for (span.trace_low = 1; span.trace_low <= HTML_TRACES_MAX + 5; span.trace_low++)
        html_traces_add(&traces, &span);
    html_traces_add(&traces, &(struct trace_span){0, HTML_TRACES_MAX + 5, 2});
    html_traces_finish(&traces, &columns);
    assert_int_equal(traces.keys.count - traces.listed, 5);
    for (span.trace_low = 1; span.trace_low <= HTML_TRACES_MAX + 4; span.trace_low++)
        assert_int_equal(html_traces_place(&traces, &span), span.trace_low < HTML_TRACES_MAX
                                                                ? span.trace_low + 1
                                                                : HTML_TRACES_MAX + 1);
    assert_int_equal(html_traces_place(&traces, &span), 1);
    html_column_close(columns.list[0]);
    assert_int_equal(columns.list[0]->size, 33 * HTML_TRACES_MAX);
    html_columns_free(&columns);
    html_traces_free(&traces);
}

static void test_page_has_tables_of_stacks_processes_and_strings(void **state)
{
    struct small_profile small;
    struct process_entry named;
    struct column strings;
    struct frame unnamed;
    string_id build;
    char *page;

    (void)state;
    small_profile_make(&small);
    unnamed = (struct frame){
        .symbol = profile_string_z(small.profile, "libc.so.6+0x12"),
        .kind = FRAME_NATIVE,
        .unresolved = 1,
        .module = profile_get_frame(small.profile, 5)->module,
    };
    profile_frame(small.profile, &unnamed);
    build = profile_string_z(small.profile, SMALL_BUILD_ID);
    named = *profile_get_process(small.profile, 1);
    named.label = profile_string_z(small.profile, "labelled");
    named.label_is_detail = 1;
    small.samples[3].process = profile_process(small.profile, &named);
    page = page_of(&small);
    NUMBERS(page, "stack.distance", 1, 1, 2, 1, 5);
    SIGNED(page, "stack.frame", 1, 1, 1, 1, 1);
    SIGNED(page, "frame.kind", FRAME_ERLANG, 0, FRAME_NATIVE - FRAME_ERLANG, 1, -1, 0);
    SIGNED(page, "frame.build", 0, 0, 0, 0, build, 0);
    SIGNED(page, "frame.unnamed", 0, 0, 0, 0, 0, 1);
    NUMBERS(page, "process.same", 0, 1);
    SIGNED(page, "process.labelIsDetail", 0, 1);
    SIGNED(page, "thread.tid", 102);
    column_open(&strings, page, "strings");
    assert_string_equal((char *)strings.bytes, "shop@\"web\"");
    assert_non_null(strstr(page, "\"node\": \"shop@\\\"web\\\"\""));
    assert_non_null(strstr(page, "\"processes\": 2"));
    free(page);
}

static void test_header_has_the_options_and_the_losses(void **state)
{
    struct output_settings settings = {
        .view = {.grouping = {{GROUP_STATUS, GROUP_NAME}}, .fold_recursion = true},
        .event = "cpu",
        .value = "heap",
        .change = true,
        .selection = {.from_ns = 500000000, .to_ns = 2000000000, .has_end = true},
    };
    struct small_profile small;
    char *page;

    (void)state;
    small_profile_make(&small);
    page = small_output_of(&small, &html_format, &settings);
    assert_non_null(
        strstr(page, "\"choice\": {\"event\": \"cpu\", \"weight\": \"heap\", "
                     "\"change\": true, \"idle\": false, \"groupBy\": [\"status\", \"name\"], "
                     "\"foldRecursion\": true}"));
    assert_non_null(strstr(page, "\"from\": 500, \"to\": 2000, \"startRealtime\": 1763697012000, "
                                 "\"hostname\": \"web-1\""));
    assert_non_null(strstr(page, "\"losses\": [{\"name\": \"ring_full\", "));
    assert_non_null(strstr(page, "\"leftOut\": 1,"));
    assert_non_null(strstr(page, "\"counts\": {\"samples\": 3,"));
    free(page);
}

/* No name ends its element, or is parsed as markup. */
static void test_hostile_name_is_not_parsed_as_markup(void **state)
{
    struct small_profile small;
    const char *header;
    size_t size;
    char *page;

    (void)state;
    small_profile_make(&small);
    profile_target(small.profile,
                   &(struct target_entry){
                       .pid = 2,
                       .node = profile_string_z(small.profile, "</script><script>alert(1)<!--"),
                   });
    page = page_of(&small);
    header = element(page, "id=\"header\"", &size);
    assert_null(memchr(header, '<', size));
    assert_non_null(strstr(header, "\\u003c/script>\\u003cscript>alert(1)\\u003c!--"));
    free(page);
}

/* The page contains every module of web/, and loads nothing from elsewhere. */
static void test_page_is_complete_and_loads_nothing(void **state)
{
    struct small_profile small;
    char *page;

    (void)state;
    small_profile_make(&small);
    page = page_of(&small);
    assert_int_equal(strncmp(page, "<!DOCTYPE html>", 15), 0);
    assert_non_null(
        strstr(page, "\"#recording/recording\": \"data:text/javascript;base64,Ly8gU1BEWC"));
    assert_non_null(strstr(page, "\"#main\": \"data:text/javascript;base64,Ly8gU1BEWC"));
    assert_non_null(strstr(page, "</html>\n"));
    assert_null(strstr(page, " src="));
    assert_null(strstr(page, " href="));
    free(page);
}

/* Every pair of bytes, so that every character appears. */
static void test_ascii_encoding_restores_any_bytes(void **state)
{
    unsigned char *bytes = malloc(2 * 65536), *back;
    char *text;
    size_t size;
    FILE *file = open_memstream(&text, &size);

    (void)state;
    for (uint32_t i = 0; i < 65536; i++) {
        bytes[2 * i] = (unsigned char)(i >> 8);
        bytes[2 * i + 1] = (unsigned char)i;
    }
    encode_ascii(file, bytes, 2 * 65536);
    fclose(file);
    back = ascii_bytes(text, size);
    assert_memory_equal(back, bytes, 2 * 65536);
    assert_true(size < 2 * 65536 * 6 / 5);
    free(bytes);
    free(back);
    free(text);
}

static void test_base64_matches_the_examples_of_rfc_4648(void **state)
{
    struct buffer text = {0};
    char bytes[3073];

    (void)state;
    encode_base64(&text, "\x14\xfb\x9c\x03\xd9\x7e", 6); /* RFC 4648, 9, and 10 */
    encode_base64(&text, "fooba", 5);
    encode_base64(&text, "foob", 4);
    buffer_byte(&text, '\0');
    assert_string_equal(text.data, "FPucA9l+Zm9vYmE=Zm9vYg==");
    buffer_free(&text);
    memset(bytes, 'M', sizeof(bytes));
    encode_base64(&text, bytes, sizeof(bytes));
    assert_int_equal(text.size, 4100);
    assert_memory_equal(text.data + 4088, "TU1NTU1NTQ==", 12);
    buffer_free(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_columns_of_samples_are_in_order_of_time),
        cmocka_unit_test(test_columns_of_metrics_have_the_known_values),
        cmocka_unit_test(test_large_numbers_are_split_into_bytes),
        cmocka_unit_test(test_each_event_has_its_own_columns_of_values),
        cmocka_unit_test(test_parts_of_one_hit_are_noted),
        cmocka_unit_test(test_traces_are_listed_by_their_number_of_samples),
        cmocka_unit_test(test_traces_beyond_the_limit_are_counted),
        cmocka_unit_test(test_page_has_tables_of_stacks_processes_and_strings),
        cmocka_unit_test(test_header_has_the_options_and_the_losses),
        cmocka_unit_test(test_hostile_name_is_not_parsed_as_markup),
        cmocka_unit_test(test_page_is_complete_and_loads_nothing),
        cmocka_unit_test(test_base64_matches_the_examples_of_rfc_4648),
        cmocka_unit_test(test_ascii_encoding_restores_any_bytes),
    };

    return cmocka_run_group_tests_name("output_html", tests, NULL, NULL);
}
