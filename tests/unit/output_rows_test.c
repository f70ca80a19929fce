// SPDX-License-Identifier: Apache-2.0
/* Rows of tables of an event that was recorded in windows. */
#include "small_output.h"

enum { WINDOWS = 40, RARE = 30, TOTAL = 680000 };

struct load {
    struct small_profile small;
    event_id event;
    process_id receivers[2], senders[3], rare[RARE];
    stack_id stacks[3];
    struct recording_writer *writer;
    uint8_t flags; /* of all samples */
};

static process_id add_process(struct profile *profile, unsigned number, const char *name)
{
    char pid[32];

    snprintf(pid, sizeof(pid), "<0.%u.0>", number);
    return profile_process(profile,
                           &(struct process_entry){.identity = number << 4 | 3,
                                                   .target = 1,
                                                   .pid = profile_string_z(profile, pid),
                                                   .name = profile_string_z(profile, name)});
}

static void load_begin(struct load *load, uint8_t flags)
{
    static const char *const places[] = {"a:send/1", "b:send/1", "c:send/1"};
    struct error error;
    struct profile *p;

    *load = (struct load){.flags = flags};
    small_profile_make(&load->small);
    p = load->small.profile;
    load->event = event_define(p, EVENT_MSG);
    load->receivers[0] = add_process(p, 200, "log");
    load->receivers[1] = add_process(p, 201, "stock");
    for (unsigned i = 0; i < 3; i++) {
        load->senders[i] = add_process(p, 300 + i, places[i]);
        load->stacks[i] = profile_stack(p, 0, small_frame(p, places[i], "", FRAME_ERLANG, i + 1));
    }
    for (unsigned i = 0; i < RARE; i++) {
        char name[16];

        snprintf(name, sizeof(name), "rare_%u", i);
        load->rare[i] = add_process(p, 400 + i, name);
    }
    load->writer = recording_create(NULL, "/tmp", &small_header, &error);
    assert_non_null(load->writer);
}

static void send(struct load *load, int window, process_id from, process_id to, stack_id stack)
{
    struct sample sample = {
        .time = small_header.start_monotonic + (uint64_t)window * 250000000,
        .event = load->event,
        .stack = stack,
        .process = from,
        .peer = to,
        .values = {[MSG_COUNT] = 100, [MSG_WORDS] = 300},
        .flags = (uint8_t)(SAMPLE_ERLANG | SAMPLE_COMPLETE | load->flags),
    };
    struct error error;

    assert_int_equal(recording_append(load->writer, load->small.profile, &sample, &error), 0);
    load->small.totals.samples++;
}

/* In each window: 10 messages from a to log, 5 from b to log, 2 from c to stock, and now and then
 * one from one of many to stock. */
static void load_samples(struct load *load)
{
    for (int window = 0; window < WINDOWS; window++) {
        for (int i = 0; i < 10; i++)
            send(load, window, load->senders[0], load->receivers[0], load->stacks[0]);
        for (int i = 0; i < 5; i++)
            send(load, window, load->senders[1], load->receivers[0], load->stacks[1]);
        for (int i = 0; i < 2; i++)
            send(load, window, load->senders[2], load->receivers[1], load->stacks[2]);
        if (window < RARE)
            send(load, window, load->rare[window], load->receivers[1], load->stacks[2]);
    }
}

static int load_finish(struct load *load, const struct event_summary *summary)
{
    struct error error;
    int fd;

    load->small.totals.end_monotonic = small_header.start_monotonic + 10000000000;
    recording_put_values(load->writer, load->event, 1, summary->sums);
    assert_int_equal(recording_put_summary(load->writer, load->small.profile, summary, &error), 0);
    assert_int_equal(
        recording_finish(load->writer, load->small.profile, &load->small.totals, &fd, &error), 0);
    return fd;
}

static struct event_summary in_windows(const struct load *load)
{
    return (struct event_summary){.event = load->event,
                                  .hits = WINDOWS * 17 + RARE,
                                  .span_ns = 10000000000,
                                  .covered_ns = 100000000,
                                  .windows = WINDOWS,
                                  .sums = {TOTAL, 3 * TOTAL},
                                  .errors = {10000, 30000}};
}

static char *text_of(struct load *load, int fd, const struct output_format *format)
{
    const char *event = profile_text(load->small.profile,
                                     profile_get_event(load->small.profile, load->event)->name);
    const struct output_settings settings = {{.grouping = {{GROUP_NAME}}}, event, NULL};
    size_t size;
    char *text = output_of_fd(fd, format, &settings, &size);

    profile_free(load->small.profile);
    return text;
}

/* A table of a text: from a heading to an empty line or the end. To be freed. */
static char *table_of(const char *text, const char *heading)
{
    const char *start = strstr(text, heading), *end;

    if (!start)
        fail_msg("no \"%s\" in:\n%s", heading, text);
    start += strlen(heading);
    end = strstr(start, "\n\n");
    return end ? strndup(start, (size_t)(end - start + 1)) : strdup(start);
}

/* Read a number with commas. */
static uint64_t number_at(const char *text)
{
    uint64_t number = 0;

    for (text += strspn(text, " "); (*text >= '0' && *text <= '9') || *text == ','; text++)
        number = *text == ',' ? number : number * 10 + (uint64_t)(*text - '0');
    return number;
}

/* Add up the first number of each row, and the percentages. */
static uint64_t sum_of(const char *table, double *ret_percent)
{
    uint64_t sum = 0;

    *ret_percent = 0;
    for (const char *row = table; *row; row = strchr(row, '\n') + 1) {
        const char *percent = strstr(row, " %"), *end = strchr(row, '\n');

        sum += number_at(row);
        if (percent && percent < end)
            *ret_percent += strtod(percent - 5, NULL);
    }
    return sum;
}

static void assert_row(const char *table, const char *row)
{
    if (!strstr(table, row))
        fail_msg("no \"%s\" in:\n%s", row, table);
}

#define COLUMNS "         count            +-    per second     words       delay   samples\n"

/* Rows have intervals and numbers of samples; rare ones are folded; all rows add up to the total.
 */
static void test_rows_add_up_to_the_total(void **state)
{
    static const char *const headings[] = {
        "\ncall sites of msg by count\n",
        "\nprocesses of msg by count\n",
        "\nmessages by sender and receiver\n" COLUMNS,
        "\nmessages by receiver\n" COLUMNS,
    };
    struct load load;
    struct event_summary summary;
    char *text, *table;

    (void)state;
    load_begin(&load, 0);
    load_samples(&load);
    summary = in_windows(&load);
    text = text_of(&load, load_finish(&load, &summary), &summary_format);
    assert_row(text, "count             680,000 times +- 19,600\n");
    for (int i = 0; i < 4; i++) {
        double percent;

        table = table_of(text, headings[i]);
        assert_in_range(sum_of(table, &percent), TOTAL - 4, TOTAL);
        if (i < 2)
            assert_true(percent > 99.8 && percent < 100.2);
        assert_null(strstr(table, "rare"));
        free(table);
    }
    table = table_of(text, headings[1]);
    assert_row(table, "     383,099 times +- 28,134 ");
    assert_row(table, "  56.3 %        400 samples  <0.300.0>  a:send/1\n");
    assert_row(table, "   4.2 %         30 samples  other (30 rows)\n");
    free(table);
    table = table_of(text, headings[2]);
    assert_row(table, "       3.0                   400  a:send/1 -> log\n");
    assert_row(table,
               "                       2,873       3.0                    30  other (30 pairs)\n");
    free(table);
    table = table_of(text, headings[3]);
    assert_row(table, "       3.0                   600  log\n");
    assert_row(table, "       3.0                   110  stock\n");
    free(table);
    free(text);
}

/* A row of one window may be there by chance, however many samples it has. */
static void test_row_of_one_window_is_folded(void **state)
{
    struct load load;
    struct event_summary summary;
    char *text, *table;

    (void)state;
    load_begin(&load, 0);
    load_samples(&load);
    for (int i = 0; i < 60; i++)
        send(&load, WINDOWS - 1, load.rare[0], load.receivers[1], load.stacks[2]);
    summary = in_windows(&load);
    text = text_of(&load, load_finish(&load, &summary), &summary_format);
    table = table_of(text, "\nmessages by sender and receiver\n" COLUMNS);
    assert_null(strstr(table, "rare_0"));
    assert_row(table, "    90  other (30 pairs)\n");
    free(table);
    free(text);
}

/* Where all hits were sampled, all rows are exact, and none is folded. */
static void test_rows_of_all_hits_are_exact(void **state)
{
    struct load load;
    struct event_summary summary;
    char *text, *table;

    (void)state;
    load_begin(&load, SAMPLE_EXACT);
    send(&load, 0, load.senders[0], load.receivers[0], load.stacks[0]);
    send(&load, 1, load.rare[0], load.receivers[1], load.stacks[2]);
    summary = (struct event_summary){.event = load.event,
                                     .hits = 2,
                                     .span_ns = 10000000000,
                                     .covered_ns = 10000000000,
                                     .sums = {200, 600}};
    text = text_of(&load, load_finish(&load, &summary), &summary_format);
    assert_null(strstr(text, " times +-"));
    assert_null(strstr(text, "  other"));
    table = table_of(text, "\nmessages by sender and receiver\n" COLUMNS);
    assert_row(table, "           100                        10.0       3.0                     1  "
                      "rare_0 -> stock\n");
    free(table);
    free(text);
}

/* A table that is sorted by another value says so: the interval is this value's. */
static void test_table_names_the_value_that_it_is_sorted_by(void **state)
{
    const struct output_settings settings = {{.grouping = {{GROUP_NAME}}}, "msg", "words"};
    struct load load;
    struct event_summary summary;
    size_t size;
    char *text;

    (void)state;
    load_begin(&load, 0);
    load_samples(&load);
    summary = in_windows(&load);
    text = output_of_fd(load_finish(&load, &summary), &summary_format, &settings, &size);
    profile_free(load.small.profile);
    assert_row(text, "\nmessages by sender and receiver, by words\n"
                     "         words            +-         count    per second     words       "
                     "delay   samples\n");
    assert_row(text, " 383,099        38,310       3.0                   400  a:send/1 -> ");
    free(text);
}

/* The report has the interval and samples of each function, of all samples that contain it. */
static void test_functions_of_the_report_have_intervals(void **state)
{
    struct load load;
    struct event_summary summary;
    stack_id deep, rare;
    char *text;

    (void)state;
    load_begin(&load, 0);
    load_samples(&load);
    deep = profile_stack(load.small.profile, load.stacks[0],
                         small_frame(load.small.profile, "a:pack/1", "", FRAME_ERLANG, 9));
    rare = profile_stack(load.small.profile, load.stacks[0],
                         small_frame(load.small.profile, "a:rare/1", "", FRAME_ERLANG, 10));
    for (int window = 0; window < WINDOWS; window++)
        send(&load, WINDOWS - 1, load.senders[0], load.receivers[0], deep);
    for (int i = 0; i < 4; i++)
        send(&load, WINDOWS - 1, load.senders[0], load.receivers[0], rare);
    summary = in_windows(&load);
    text = text_of(&load, load_finish(&load, &summary), &text_format);
    assert_row(text, "\nfunctions of msg by count, of 680,000 times +- 19,600\n"
                     "                              with callees                    self   samples "
                     " function\n"
                     "  400,424 times +- 36,202           58.9 %        0 times   0.0 %       444 "
                     " a:send/1\n");
    assert_null(strstr(text, "a:pack/1:"));
    assert_row(text, "   36,074 times   9.0 %        40  a:pack/1\n");
    assert_row(text, " more, with too few samples or windows to be sure of\n");
    free(text);
}

/* Edges and nodes of the graph have the intervals and numbers of samples of the tables. The total
 * has the share of time that windows cover. */
static void test_graph_has_intervals_and_numbers_of_samples(void **state)
{
    struct load load;
    struct event_summary summary;
    char *text;

    (void)state;
    load_begin(&load, 0);
    load_samples(&load);
    summary = in_windows(&load);
    text = text_of(&load, load_finish(&load, &summary), &dot_format);
    assert_row(text,
               "\\nall messages: count 680,000 times +- 19,600 in 710 hits, 1.0 % of the time "
               "covered in 40 windows\"];\n");
    assert_row(text, "\"a:send/*\" -> \"log\" [label=\"383,099 messages +- 28,134, 38,310/s\\n"
                     "3.0 words each\\n400 samples\", ");
    assert_row(text, ", \"samples\"=400, \"plus_minus\"=28134];\n");
    assert_row(text, "\"log\" [tooltip=\"sends: count 0 times +- 3,514, 0 samples\\n"
                     "receives: count 574,647 times +- 25,115, 600 samples\"];\n");
    free(text);
}

/* Append the parts of a hit of sched: 70 us waiting and 30 us in the run queue. */
static void schedule(struct load *load, int window, stack_id stack)
{
    struct profile *p = load->small.profile;
    struct sample sample = {
        .time = small_header.start_monotonic + (uint64_t)window * 250000000,
        .event = load->event,
        .process = load->senders[0],
        .peer = load->senders[1],
        .flags = SAMPLE_ERLANG | SAMPLE_COMPLETE,
    };
    struct error error;

    sample.stack = profile_stack(p, stack, small_frame(p, "[waiting]", "", FRAME_MARK, 0));
    sample.status = STATUS_WAITING;
    sample.values[SCHED_WAIT] = 70000;
    sample.values[SCHED_COUNT] = 1;
    assert_int_equal(recording_append(load->writer, p, &sample, &error), 0);
    sample.stack = profile_stack(p, stack, small_frame(p, "[runnable]", "", FRAME_MARK, 0));
    sample.status = STATUS_RUNNABLE;
    sample.values[SCHED_WAIT] = sample.values[SCHED_DELAY] = 30000;
    sample.values[SCHED_COUNT] = 0;
    assert_int_equal(recording_append(load->writer, p, &sample, &error), 0);
    load->small.totals.samples += 2;
}

/* The two parts of a hit are one sample of all rows that have both. */
static void test_parts_of_a_hit_are_one_sample(void **state)
{
    const struct output_settings settings = {{.grouping = {{GROUP_NAME}}}, "sched", NULL};
    struct load load;
    struct event_summary summary;
    char *text, *table;
    size_t size;

    (void)state;
    load_begin(&load, 0);
    load.event = event_define(load.small.profile, EVENT_SCHED);
    for (int window = 0; window < WINDOWS; window++)
        schedule(&load, window, load.stacks[0]);
    summary = in_windows(&load);
    summary.hits = WINDOWS;
    summary.sums[SCHED_WAIT] = WINDOWS * 4000000;
    text = output_of_fd(load_finish(&load, &summary), &text_format, &settings, &size);
    profile_free(load.small.profile);
    assert_row(text, "\nevent sched: 40 samples, 40 hits, ");
    table = table_of(text, "\ncall sites of sched by wait\n");
    assert_row(table, "100.0 %         40 samples  a:send/1\n");
    free(table);
    table = table_of(text, "\nfunctions of sched by wait, of 160.000 ms +- 0.020 ms\n");
    assert_row(table, "       40  a:send/1\n");
    assert_row(table, "       40  [waiting]\n");
    assert_row(table, "       40  [runnable]\n");
    free(table);
    assert_row(text, "\na:send/1: 160.000 ms +- ");
    assert_row(text, ", 100.0 %, 40 samples\n");
    free(text);
}

/* Append a sweep that reads 10 of 100 processes: 7 wait, 2 are idle, 1 is suspended. */
static void sweep(struct load *load, int number)
{
    for (int i = 0; i < 10; i++) {
        struct sample sample = {
            .time = small_header.start_monotonic + (uint64_t)number * 250000000,
            .event = load->event,
            .process = load->rare[i],
            .stack = load->stacks[i < 7   ? 0
                                  : i < 9 ? 1
                                          : 2],
            .status = i < 7   ? STATUS_WAITING
                      : i < 9 ? STATUS_IDLE
                              : STATUS_SUSPENDED,
            .values = {[WALL_TIME] = 2500000000, [WALL_COUNT] = 1},
            .flags = SAMPLE_ERLANG | SAMPLE_COMPLETE,
        };
        struct error error;

        assert_int_equal(recording_append(load->writer, load->small.profile, &sample, &error), 0);
        load->small.totals.samples++;
    }
}

/* Of 400 readings, a tenth of the population, 280 are waiting: 8.7 is the standard error, the root
 * of 280 * 0.3 * 0.9. With Student's t of 40 windows, the interval is 17.9 readings of 2.5 s. */
static void test_rows_of_sweeps_have_intervals(void **state)
{
    struct load load;
    struct event_summary summary;
    char *text, *table;

    (void)state;
    load_begin(&load, 0);
    load.event = event_define(load.small.profile, EVENT_WALL);
    for (int number = 0; number < WINDOWS; number++)
        sweep(&load, number);
    summary = in_windows(&load);
    summary.hits = WINDOWS * 10;
    summary.covered_ns = summary.span_ns / 10;
    summary.sums[WALL_TIME] = WINDOWS * 10 * 2500000000;
    summary.sums[WALL_COUNT] = WINDOWS * 10;
    summary.errors[WALL_TIME] = summary.errors[WALL_COUNT] = 0;
    text = text_of(&load, load_finish(&load, &summary), &text_format);
    assert_row(text,
               "\nevent wall: 400 samples, 40 sweeps, each read 10 of 100 processes on average "
               "(10.0 %)\n");
    table = table_of(text, "\nstatus of wall by time\n");
    assert_row(table,
               "             700 s +- 45 s             70.0 %        280 samples  waiting\n");
    free(table);
    table = table_of(text, "\ncall sites, without idle processes, of wall by time\n");
    assert_row(table,
               "             700 s +- 45 s             87.5 %        280 samples  a:send/1\n");
    free(table);
    assert_row(
        text,
        "         700 s +- 45 s             87.5 %        700.0 s  87.5 %       280  a:send/1\n");
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows_add_up_to_the_total),
        cmocka_unit_test(test_row_of_one_window_is_folded),
        cmocka_unit_test(test_rows_of_all_hits_are_exact),
        cmocka_unit_test(test_functions_of_the_report_have_intervals),
        cmocka_unit_test(test_graph_has_intervals_and_numbers_of_samples),
        cmocka_unit_test(test_parts_of_a_hit_are_one_sample),
        cmocka_unit_test(test_rows_of_sweeps_have_intervals),
        cmocka_unit_test(test_table_names_the_value_that_it_is_sorted_by),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
