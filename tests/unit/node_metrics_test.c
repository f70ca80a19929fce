// SPDX-License-Identifier: Apache-2.0
/* Metrics of whole VMs over time: in memory, in recordings, and in outputs. */
#include "small_output.h"

#include "profile/node_metrics.h"
#include "recording/recording_join.h"

#define SECOND 1000000000ull

/* ---- in memory ---- */

static struct node_series *series_of(struct node_metrics *metrics, uint32_t metric, string_id of)
{
    const struct node_series_key key = {.target = 1, .metric = metric, .of = of};

    return node_metrics_place(metrics, &key);
}

static void test_a_reading_holds_until_the_next(void **state)
{
    struct node_metrics metrics = {0};
    struct node_series *series = series_of(&metrics, NODE_ATOMS, 0);

    (void)state;
    node_metrics_add(&metrics, series, 30, 3);
    node_metrics_add(&metrics, series, 10, 1);
    node_metrics_add(&metrics, series, 20, 2);
    node_metrics_settle(&metrics);
    assert_int_equal(node_metrics_series_at(series, 0)->value, 1);
    assert_int_equal(node_metrics_series_at(series, 10)->value, 1);
    assert_int_equal(node_metrics_series_at(series, 19)->value, 1);
    assert_int_equal(node_metrics_series_at(series, 20)->value, 2);
    assert_int_equal(node_metrics_series_at(series, 99)->value, 3);
    node_metrics_free(&metrics);
}

static void test_each_thing_has_a_series_of_its_own(void **state)
{
    struct node_metrics metrics = {0};

    (void)state;
    series_of(&metrics, NODE_BLOCKS, 1)->owner = 7;
    series_of(&metrics, NODE_BLOCKS, 2);
    series_of(&metrics, NODE_CARRIERS, 1);
    assert_int_equal(metrics.count, 3);
    assert_int_equal(series_of(&metrics, NODE_BLOCKS, 1)->owner, 7);
    assert_int_equal(metrics.count, 3);
    assert_null(node_metrics_find(&metrics, &(struct node_series_key){1, NODE_BLOCKS, 3, 0}));
    node_metrics_free(&metrics);
}

/* The first and the newest readings of each series stay. */
static void test_too_many_readings_become_coarser(void **state)
{
    struct node_metrics metrics = {0};
    struct node_series *series = series_of(&metrics, NODE_ATOMS, 0);

    (void)state;
    for (uint64_t i = 0; i < 3 * (uint64_t)NODE_READINGS_MAX; i++)
        node_metrics_add(&metrics, series, i, i);
    assert_in_range(metrics.readings, NODE_READINGS_MAX / 2, NODE_READINGS_MAX);
    assert_int_equal(metrics.readings, series->count);
    assert_int_equal(series->list[0].value, 0);
    assert_int_equal(series->list[series->count - 1].value, 3 * NODE_READINGS_MAX - 1);
    node_metrics_free(&metrics);
}

static void test_series_are_bounded(void **state)
{
    struct node_metrics metrics = {0};

    (void)state;
    for (string_id of = 1; of <= NODE_SERIES_MAX; of++)
        assert_non_null(series_of(&metrics, NODE_TABLE_BYTES, of));
    assert_null(series_of(&metrics, NODE_TABLE_BYTES, NODE_SERIES_MAX + 1));
    assert_non_null(series_of(&metrics, NODE_TABLE_BYTES, NODE_SERIES_MAX));
    node_metrics_free(&metrics);
}

/* ---- in recordings ---- */

static void add(struct node_metrics *metrics, const struct node_series_key *key, process_id owner,
                uint64_t time, uint64_t value)
{
    struct node_series *series = node_metrics_place(metrics, key);

    series->owner = owner;
    node_metrics_add(metrics, series, time, value);
}

/* Write a recording of the small target: its resident memory, and a table that grows to `bytes`, is
 * owned by the process of the first sample, and is written in two parts. */
static int recording_with_metrics(uint64_t shift, uint64_t bytes)
{
    struct small_profile small;
    struct recording_header header = small_header;
    struct node_metrics metrics = {0};
    struct node_series_key resident = {.target = 1, .metric = NODE_RESIDENT};
    struct node_series_key table = {.target = 1, .metric = NODE_TABLE_BYTES};
    struct recording_writer *writer;
    struct error error;
    int fd = -1;

    small_profile_make(&small);
    table.of = profile_string_z(small.profile, "cache");
    table.id = profile_string_z(small.profile, "#Ref<0.1.2.3>");
    header.start_monotonic += shift;
    header.start_realtime += shift;
    small.totals.end_monotonic += shift;
    small.samples[0].time += shift;
    writer = recording_create(NULL, "/tmp", &header, &error);
    assert_int_equal(recording_append(writer, small.profile, &small.samples[0], &error), 0);
    add(&metrics, &resident, 0, shift + SECOND, 50000000);
    add(&metrics, &table, small.samples[0].process, shift + SECOND, 0);
    add(&metrics, &table, small.samples[0].process, shift + 2 * SECOND, 70000);
    assert_int_equal(recording_put_node_metrics(writer, small.profile, &metrics, &error), 0);
    node_metrics_clear(&metrics);
    assert_int_equal(recording_put_node_metrics(writer, small.profile, &metrics, &error), 0);
    add(&metrics, &table, small.samples[0].process, shift + 3 * SECOND, bytes);
    assert_int_equal(recording_put_node_metrics(writer, small.profile, &metrics, &error), 0);
    node_metrics_free(&metrics);
    assert_int_equal(recording_finish(writer, small.profile, &small.totals, &fd, &error), 0);
    profile_free(small.profile);
    return fd;
}

struct read {
    struct profile *profile;
    struct recording *recording;
    const struct node_series *resident, *table;
};

static struct read read_whole(int fd)
{
    struct read read = {.profile = profile_new()};
    struct sample sample;
    struct error error;
    bool cut;

    read.recording = recording_open(fd, "test", &error);
    assert_non_null(read.recording);
    while (recording_next(read.recording, read.profile, &sample, &cut, &error) > 0)
        ;
    return read;
}

static struct read read_metrics(int fd)
{
    struct read read = read_whole(fd);
    const struct node_metrics *metrics = recording_get_node_metrics(read.recording);

    assert_int_equal(metrics->count, 2);
    read.resident = &metrics->of[0];
    read.table = &metrics->of[1];
    return read;
}

static void close_read(struct read *read)
{
    recording_close(read->recording);
    profile_free(read->profile);
}

static void assert_readings(const struct node_series *series, const struct node_reading *expected,
                            size_t count)
{
    assert_int_equal(series->count, count);
    assert_memory_equal(series->list, expected, count * sizeof(*expected));
}

#define READINGS(series, ...)                                                                      \
    assert_readings(series, (const struct node_reading[]){__VA_ARGS__},                            \
                    sizeof((const struct node_reading[]){__VA_ARGS__}) /                           \
                        sizeof(struct node_reading))

static void assert_is_table(const struct read *read)
{
    const struct node_series *table = read->table;
    const struct process_entry *owner = profile_get_process(read->profile, table->owner);

    assert_int_equal(table->key.metric, NODE_TABLE_BYTES);
    assert_string_equal(profile_text(read->profile, table->key.of), "cache");
    assert_string_equal(profile_text(read->profile, table->key.id), "#Ref<0.1.2.3>");
    assert_string_equal(profile_text(read->profile, owner->name), "cart");
}

static void assert_has_metrics(int fd)
{
    struct read read = read_metrics(fd);

    assert_int_equal(read.resident->key.metric, NODE_RESIDENT);
    READINGS(read.resident, {SECOND, 50000000});
    assert_is_table(&read);
    READINGS(read.table, {SECOND, 0}, {2 * SECOND, 70000}, {3 * SECOND, 100000000});
    close_read(&read);
}

static void test_recording_has_the_readings_that_were_added(void **state)
{
    (void)state;
    assert_has_metrics(recording_with_metrics(0, 100000000));
}

/* Joined by time, the second recording follows later; its table is the same. */
static void test_joined_recording_has_the_readings_of_both(void **state)
{
    const struct join_part parts[] = {{recording_with_metrics(0, 100000), "one"},
                                      {recording_with_metrics(10 * SECOND, 200000), "two"}};
    struct error error;
    struct read read;
    int fd;

    (void)state;
    if (recording_join(parts, 2, &(struct join_options){.order = JOIN_BY_TIME}, memory_file(), &fd,
                       &error))
        fail_msg("%s", error.text);
    read = read_metrics(fd);
    READINGS(read.resident, {SECOND, 50000000}, {11 * SECOND, 50000000});
    assert_is_table(&read);
    READINGS(read.table, {SECOND, 0}, {2 * SECOND, 70000}, {3 * SECOND, 100000}, {11 * SECOND, 0},
             {12 * SECOND, 70000}, {13 * SECOND, 200000});
    close_read(&read);
}

/* Write a recording with a reading of each of `count` tables. */
static int recording_of_tables(const char *prefix, unsigned int count)
{
    struct small_profile small;
    struct node_metrics metrics = {0};
    struct recording_writer *writer;
    struct error error;
    int fd = -1;

    small_profile_make(&small);
    for (unsigned int i = 0; i < count; i++) {
        struct node_series_key key = {.target = 1, .metric = NODE_TABLE_BYTES};
        char id[32];

        snprintf(id, sizeof(id), "%s %u", prefix, i);
        key.id = profile_string_z(small.profile, id);
        add(&metrics, &key, 0, SECOND, i);
    }
    writer = recording_create(NULL, "/tmp", &small_header, &error);
    assert_int_equal(recording_put_node_metrics(writer, small.profile, &metrics, &error), 0);
    assert_int_equal(recording_finish(writer, small.profile, &small.totals, &fd, &error), 0);
    node_metrics_free(&metrics);
    profile_free(small.profile);
    return fd;
}

/* Two recordings can have more series than one. */
static void test_joined_recording_counts_the_readings_that_it_leaves_out(void **state)
{
    enum { OF_ONE = 3000 };
    const struct join_part parts[] = {{recording_of_tables("one", OF_ONE), "one"},
                                      {recording_of_tables("two", OF_ONE), "two"}};
    struct read read;
    struct error error;
    int fd;

    (void)state;
    if (recording_join(parts, 2, &(struct join_options){.order = JOIN_BY_TIME}, memory_file(), &fd,
                       &error))
        fail_msg("%s", error.text);
    read = read_whole(fd);
    assert_int_equal(recording_get_node_metrics(read.recording)->count, NODE_SERIES_MAX);
    assert_int_equal(recording_get_totals(read.recording)->losses[LOSS_METRICS],
                     2 * OF_ONE - NODE_SERIES_MAX);
    close_read(&read);
}

/* More readings than a chunk can have. */
static void test_many_readings_are_written_in_several_chunks(void **state)
{
    enum { COUNT = 200000 };
    struct small_profile small;
    struct node_metrics metrics = {0};
    struct node_series *series = series_of(&metrics, NODE_ATOMS, 0);
    struct recording_writer *writer;
    struct recording *recording;
    struct sample sample;
    struct error error;
    bool cut;
    int fd = -1;

    (void)state;
    small_profile_make(&small);
    for (uint64_t i = 0; i < COUNT; i++)
        node_metrics_add(&metrics, series, i << 40, i % 2 ? UINT64_MAX - i : i);
    writer = recording_create(NULL, "/tmp", &small_header, &error);
    if (recording_put_node_metrics(writer, small.profile, &metrics, &error) ||
        recording_finish(writer, small.profile, &small.totals, &fd, &error))
        fail_msg("%s", error.text);
    profile_free(small.profile);
    small.profile = profile_new();
    recording = recording_open(fd, "test", &error);
    if (recording_next(recording, small.profile, &sample, &cut, &error) < 0)
        fail_msg("%s", error.text);
    assert_readings(recording_get_node_metrics(recording)->of, series->list, COUNT);
    recording_close(recording);
    node_metrics_free(&metrics);
    profile_free(small.profile);
}

static void refuse(const void *bytes, size_t size, const char *problem)
{
    struct small_profile small;
    struct node_metrics metrics = {0};
    struct cursor cursor = cursor_over(bytes, size);
    struct id_map strings = {0};

    small_profile_make(&small);
    for (string_id id = 1; id <= profile_counts(small.profile).strings; id++)
        id_map_add(&strings, id);
    node_metrics_decode_series(&metrics, small.profile, &strings, &cursor);
    assert_non_null(cursor.problem);
    if (problem)
        assert_string_equal(cursor.problem, problem);
    id_map_free(&strings);
    node_metrics_free(&metrics);
    profile_free(small.profile);
}

static void test_damaged_series_are_refused(void **state)
{
    (void)state;
    refuse("\x09\x00\x00\x00\x00\x00", 6, "target is not defined");
    refuse("\x00\x00\x00\x00\x00\x00", 6, "metric without a target");
    refuse("\x01\x7f\x00\x00\x00\x00", 6, "unknown metric of the VM");
    refuse("\x01\x00\xff\x7f\x00\x00\x00", 7, "string is not defined");
    refuse("\x01\x00\x00\xff\x7f\x00\x00", 7, "string is not defined");
    refuse("\x01\x00\x00\x00\xff\x7f\x00", 7, "process is not defined");
    refuse("\x01\x00\x00\x00\x00\x02\x01\x01\x01", 9, NULL);
    refuse("\x01", 1, NULL);
}

/* ---- in outputs ---- */

/* A copy as a whole, and of one event. */
static void test_copies_have_the_readings(void **state)
{
    (void)state;
    assert_has_metrics(output_file_of(recording_with_metrics(0, 100000000), &bfr_format,
                                      &(struct output_settings){0}));
    assert_has_metrics(output_file_of(recording_with_metrics(0, 100000000), &bfr_format,
                                      &(struct output_settings){.event = "cpu"}));
}

static void assert_shows(const struct output_format *format, struct output_settings *settings,
                         const char *expected)
{
    assert_output_contains(recording_with_metrics(0, 100000000), format, settings, expected);
}

static void test_summary_says_what_has_grown(void **state)
{
    struct output_settings all = {0}, first = {.selection = {.to_ns = 3 * SECOND / 2}};

    (void)state;
    assert_shows(&summary_format, &all,
                 "\nmetrics of shop@\"web\", pid 100, OTP 27\n"
                 "         start           end        change       highest\n"
                 "       50.0 MB       50.0 MB           0 B       50.0 MB  RSS\n"
                 "           0 B      100.0 MB     +100.0 MB      100.0 MB  table cache, <0.85.0> "
                 "cart\n");
    first.selection.has_end = true;
    assert_shows(&summary_format, &first,
                 "           0 B       70.0 kB      +70.0 kB       70.0 kB  table cache, ");
}

/* Times are since the start of the recording. */
static void test_json_has_all_readings(void **state)
{
    (void)state;
    assert_shows(&json_format, &(struct output_settings){0},
                 "{\"type\": \"node_metric\", \"target\": 1, \"metric\": \"rss\", \"unit\": "
                 "\"bytes\", \"readings\": [[0, 50000000]]}\n"
                 "{\"type\": \"node_metric\", \"target\": 1, \"metric\": \"table_bytes\", "
                 "\"unit\": \"bytes\", \"of\": \"cache\", \"id\": \"#Ref<0.1.2.3>\", \"owner\": 1, "
                 "\"readings\": [[0, 0], [1000000000, 70000], [2000000000, 100000000]]}\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_reading_holds_until_the_next),
        cmocka_unit_test(test_each_thing_has_a_series_of_its_own),
        cmocka_unit_test(test_too_many_readings_become_coarser),
        cmocka_unit_test(test_series_are_bounded),
        cmocka_unit_test(test_recording_has_the_readings_that_were_added),
        cmocka_unit_test(test_joined_recording_has_the_readings_of_both),
        cmocka_unit_test(test_joined_recording_counts_the_readings_that_it_leaves_out),
        cmocka_unit_test(test_many_readings_are_written_in_several_chunks),
        cmocka_unit_test(test_damaged_series_are_refused),
        cmocka_unit_test(test_copies_have_the_readings),
        cmocka_unit_test(test_summary_says_what_has_grown),
        cmocka_unit_test(test_json_has_all_readings),
    };

    return cmocka_run_group_tests_name("node_metrics", tests, NULL, NULL);
}
