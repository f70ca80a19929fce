// SPDX-License-Identifier: Apache-2.0
/* The graph of senders and receivers. */
#include "small_output.h"

/* The samples of the small profile become samples of messages. */
struct messages {
    struct small_profile small;
    process_id cart, db, worker, other_worker;
    stack_id work;
};

static process_id process(struct profile *p, uint64_t identity, const char *pid, const char *name,
                          const char *initial_call)
{
    return profile_process(p,
                           &(struct process_entry){
                               .identity = identity,
                               .target = 1,
                               .pid = profile_string_z(p, pid),
                               .name = name ? profile_string_z(p, name) : 0,
                               .initial_call = initial_call ? profile_string_z(p, initial_call) : 0,
                           });
}

static void make(struct messages *messages)
{
    struct small_profile *small = &messages->small;
    struct profile *p;

    small_profile_make(small);
    p = small->profile;
    messages->cart = small->samples[0].process;
    messages->db = process(p, 0x563, "<0.86.0>", "d\"b\\", NULL);
    messages->worker = process(p, 0x573, "<0.87.0>", NULL, "erlang:apply/2");
    messages->other_worker = process(p, 0x583, "<0.88.0>", NULL, "erlang:apply/2");
    messages->work =
        profile_stack(p, 0, small_frame(p, "pool:work/1", "", FRAME_ERLANG, 0x7f20aabb1000));
    for (int i = 0; i < SMALL_SAMPLES; i++)
        small->samples[i] = (struct sample){.time = small->samples[i].time,
                                            .event = event_define(p, EVENT_MSG),
                                            .flags = SAMPLE_ERLANG | SAMPLE_COMPLETE};
}

static void send(struct sample *sample, process_id from, process_id to, uint64_t count,
                 uint64_t words)
{
    sample->process = from;
    sample->peer = to;
    sample->values[MSG_COUNT] = count;
    sample->values[MSG_WORDS] = words;
}

static void receive(struct sample *sample, process_id from, process_id to, uint64_t count,
                    uint64_t delay)
{
    sample->process = to;
    sample->peer = from;
    sample->values[MSG_RECEIVED] = count;
    sample->values[MSG_DELAY] = delay;
}

static char *graph(struct messages *messages, const struct output_settings *settings)
{
    return small_output_of(&messages->small, &dot_format, settings);
}

static void assert_has(const char *text, const char *part)
{
    if (!strstr(text, part))
        fail_msg("no \"%s\" in:\n%s", part, text);
}

/* A message that is sent and received is on one edge. */
static void test_sent_and_received_messages_are_one_edge(void **state)
{
    const struct output_settings settings = {{.grouping = {{GROUP_NAME}}}, "msg", NULL};
    struct messages messages;
    struct sample *samples = messages.small.samples;
    char *text;

    (void)state;
    make(&messages);
    send(&samples[0], messages.cart, messages.db, 1000, 5000);
    receive(&samples[1], messages.cart, messages.db, 2, 3000);
    receive(&samples[2], messages.cart, messages.db, 2, 1000);
    send(&samples[3], messages.db, messages.cart, 250, 0);
    samples[3].values[MSG_SIGNALS] = 1;
    text = graph(&messages, &settings);
    assert_string_equal(
        text,
        "digraph beamflame {\n"
        "    graph [rankdir=LR, labelloc=t, fontname=\"sans-serif\", "
        "label=\"shop@\\\"web\\\", pid 100, OTP 27\\nmsg in 2.5 s; width: count; "
        "red: waited long in the message queue\"];\n"
        "    node [shape=box, style=\"rounded,filled\", fillcolor=\"#fdebd8\", "
        "color=\"#c9a27e\", fontname=\"sans-serif\"];\n"
        "    edge [fontname=\"sans-serif\", fontsize=10];\n"
        "    \"cart\" [tooltip=\"sends: count 1,000 times, 1 sample\\nreceives: count 250 times, "
        "1 sample\"];\n"
        "    \"d\\\"b\\\\\" [tooltip=\"sends: count 250 times, 1 sample\\nreceives: count 1,000 "
        "times, 1 sample\"];\n"
        "    \"cart\" -> \"d\\\"b\\\\\" [label=\"1,000 messages, 400/s\\n5.0 words each\\n"
        "1.0 us in the queue\\n1 sample\", penwidth=6.0, color=\"#5c6270\", \"count\"=1000, "
        "\"words\"=5000, \"delay\"=4000, "
        "\"received\"=4, \"signals\"=0, \"samples\"=1];\n"
        "    \"d\\\"b\\\\\" -> \"cart\" [label=\"250 messages, 100/s\\n0.0 words each\\n"
        "1 signal\\n1 sample\", penwidth=3.5, color=\"#5b6270\", \"count\"=250, \"words\"=0, "
        "\"delay\"=0, "
        "\"received\"=0, \"signals\"=1, \"samples\"=1];\n"
        "}\n");
    free(text);
}

/* A process that is named only by its stack has that name as a peer too. Processes with one name
 * are one node, unless grouped by pid. */
static void test_processes_of_one_name_are_one_node_unless_by_pid(void **state)
{
    struct messages messages;
    struct sample *samples = messages.small.samples;

    (void)state;
    for (int apart = 0; apart < 2; apart++) {
        const struct output_settings settings = {
            {.grouping = {{apart ? GROUP_PID : GROUP_NAME}}}, "msg", NULL};
        char *text;

        make(&messages);
        send(&samples[0], messages.cart, messages.worker, 1, 2);
        send(&samples[1], messages.cart, messages.other_worker, 2, 2);
        send(&samples[2], messages.worker, messages.cart, 4, 2);
        send(&samples[3], messages.other_worker, messages.cart, 8, 2);
        samples[2].stack = samples[3].stack = messages.work;
        text = graph(&messages, &settings);
        if (apart) {
            assert_has(text, "\"cart <0.85.0>\" -> \"<0.87.0>\" [label=\"1 message,");
            assert_has(text, "\"<0.88.0>\" -> \"cart <0.85.0>\" [label=\"8 messages,");
        } else {
            assert_has(text, "\"cart\" -> \"pool:work/1\" [label=\"3 messages,");
            assert_has(text, "\"pool:work/1\" -> \"cart\" [label=\"12 messages,");
        }
        free(text);
    }
}

/* A port can be a sender; a sample without another process gives no edge. */
static void test_port_can_be_a_sender(void **state)
{
    const struct output_settings settings = {{.grouping = {{GROUP_NAME}}}, "msg", NULL};
    struct messages messages;
    struct sample *samples = messages.small.samples;
    char *text;

    (void)state;
    make(&messages);
    send(&samples[0], 0, messages.cart, 7, 0);
    samples[0].flags = 0;
    samples[0].activity = ACTIVITY_PORT;
    samples[0].detail = profile_string_z(messages.small.profile, "tcp_inet");
    receive(&samples[1], 0, messages.cart, 7, 100);
    receive(&samples[2], 0, messages.db, 7, 100);
    send(&samples[3], messages.db, 0, 7, 100);
    text = graph(&messages, &settings);
    assert_has(text, "\"[port] tcp_inet\" -> \"cart\" [label=\"7 messages,");
    assert_null(strstr(text, "d\\\"b"));
    free(text);
}

static void test_small_edge_has_its_text_in_the_tooltip(void **state)
{
    const struct output_settings settings = {{.grouping = {{GROUP_NAME}}}, "msg", NULL};
    struct messages messages;
    char *text;

    (void)state;
    make(&messages);
    send(&messages.small.samples[0], messages.cart, messages.db, 1000, 0);
    send(&messages.small.samples[1], messages.cart, messages.worker, 10, 0);
    send(&messages.small.samples[2], messages.db, messages.cart, 9, 0);
    text = graph(&messages, &settings);
    assert_has(text, " [label=\"1,000 messages,");
    assert_has(text, " [label=\"10 messages,");
    assert_has(text, " [label=\"\", tooltip=\"9 messages,");
    free(text);
}

/* Edges with long waits are red; a wait below 10 ms is never long. */
static void test_edges_with_long_waits_are_red(void **state)
{
    const struct output_settings settings = {{.grouping = {{GROUP_NAME}}}, "msg", NULL};
    static const struct {
        uint64_t to_db, to_cart;
        const char *db, *cart;
    } cases[] = {
        {10000000, 2500000, "#d02c1c", "#954746"},
        {40000000, 10000000, "#d02c1c", "#954746"},
        {100000, 1000, "#665d68", "#5c6270"},
    };

    (void)state;
    for (size_t i = 0; i < 3; i++) {
        struct messages messages;
        struct sample *samples = messages.small.samples;
        char *text, *line;

        make(&messages);
        send(&samples[0], messages.cart, messages.db, 1000, 0);
        receive(&samples[1], messages.cart, messages.db, 2, 2 * cases[i].to_db);
        send(&samples[2], messages.db, messages.cart, 10, 0);
        receive(&samples[3], messages.db, messages.cart, 2, 2 * cases[i].to_cart);
        text = graph(&messages, &settings);
        line = strstr(text, "\"cart\" -> ");
        assert_has(line, cases[i].db);
        assert_has(strstr(line, "\n"), cases[i].cart);
        free(text);
    }
}

static void test_selected_value_decides_the_edges_and_their_order(void **state)
{
    const struct output_settings settings = {{.grouping = {{GROUP_NAME}}}, "msg", "delay"};
    struct messages messages;
    struct sample *samples = messages.small.samples;
    char *text;

    (void)state;
    make(&messages);
    send(&samples[0], messages.cart, messages.db, 1000, 0);
    receive(&samples[1], messages.cart, messages.db, 1, 10);
    receive(&samples[2], messages.db, messages.cart, 1, 11);
    send(&samples[3], messages.db, messages.worker, 1000, 0);
    text = graph(&messages, &settings);
    assert_has(text, "width: delay;");
    assert_null(strstr(text, "apply"));
    assert_true(strstr(text, "\"cart\" -> ") > strstr(text, "-> \"cart\""));
    free(text);
}

/* Make a sample of event sched: one process wakes another. */
static void wake(struct messages *messages, int i, process_id waker, process_id woken,
                 const uint64_t *values)
{
    struct sample *sample = &messages->small.samples[i];

    sample->event = event_define(messages->small.profile, EVENT_SCHED);
    sample->process = woken;
    sample->peer = waker;
    memcpy(sample->values, values, sizeof(sample->values));
}

static void make_wakes(struct messages *messages)
{
    static const uint64_t values[SMALL_SAMPLES][EVENT_VALUES] = {
        {[SCHED_WAIT] = 900000, [SCHED_COUNT] = 1},
        {[SCHED_WAIT] = 1500, [SCHED_COUNT] = 4},
        {[SCHED_WAIT] = 500, [SCHED_DELAY] = 500},
        {[SCHED_WAIT] = 5000000, [SCHED_DELAY] = 5000000, [SCHED_COUNT] = 1},
    };

    make(messages);
    wake(messages, 0, messages->cart, messages->db, values[0]);
    wake(messages, 1, messages->db, messages->cart, values[1]);
    wake(messages, 2, messages->db, messages->cart, values[2]); /* the same, in the run queue */
    wake(messages, 3, 0, messages->cart, values[3]);            /* without a waker */
}

/* The graph of wake-ups: by count, if no value is selected. */
static void test_graph_of_wakeups_is_by_count_by_default(void **state)
{
    const struct output_settings settings = {{.grouping = {{GROUP_NAME}}}, "sched", NULL};
    const struct output_settings by_wait = {{.grouping = {{GROUP_NAME}}}, "sched", "wait"};
    struct messages messages;
    char *text;

    (void)state;
    make_wakes(&messages);
    text = graph(&messages, &settings);
    assert_has(text, "sched in 2.5 s; width: count; red: waited long in the run queue");
    assert_has(
        text,
        "\"d\\\"b\\\\\" -> \"cart\" [label=\"woken 4 times, 1.6/s\\nafter 375 ns\\n"
        "125 ns in the run queue\\n1 sample\", penwidth=6.0, color=\"#5b6270\", \"wait\"=2000, "
        "\"delay\"=500, ");
    free(text);
    make_wakes(&messages);
    text = graph(&messages, &by_wait);
    assert_has(text, "\"cart\" -> \"d\\\"b\\\\\" [label=\"woken 1 time, 0.4/s\\nafter 900.0 us\\n"
                     "0 ns in the run queue\\nwait 900.0 us, 1 sample\", penwidth=6.0, ");
    free(text);
}

/* The summary has the wake-ups as a table, and the time in run queues by scheduler. */
static void test_summary_has_wakeups_and_run_queues(void **state)
{
    const struct output_settings settings = {{.grouping = {{GROUP_NAME}}}, "sched", NULL};
    const struct thread_entry dirty = {
        .target = 1, .tid = 103, .scheduler_kind = SCHEDULER_DIRTY_CPU, .scheduler_number = 1};
    const struct thread_entry other_dirty = {
        .target = 1, .tid = 104, .scheduler_kind = SCHEDULER_DIRTY_CPU, .scheduler_number = 2};
    const struct thread_entry normal = {
        .target = 1, .tid = 105, .scheduler_kind = SCHEDULER_NORMAL, .scheduler_number = 2};
    struct messages messages;
    struct sample *samples = messages.small.samples;
    char *text;

    (void)state;
    make_wakes(&messages);
    samples[0].thread = profile_thread(messages.small.profile, &other_dirty);
    samples[0].values[SCHED_DELAY] = 300000;
    samples[1].thread = samples[2].thread = profile_thread(messages.small.profile, &normal);
    samples[2].time = samples[1].time; /* a part of the same hit */
    samples[3].thread = profile_thread(messages.small.profile, &dirty);
    text = small_output_of(&messages.small, &summary_format, &settings);
    assert_has(text,
               "\nrun queues\n"
               "                               count         delay       average   samples\n"
               "  dirty cpu                        2        5.3 ms        2.6 ms         2\n"
               "  scheduler 2                      4        500 ns        125 ns         1\n");
    assert_has(text,
               "\nwho woke whom\n"
               "         count            +-    per second      waited       delay   samples\n"
               "             4                         1.6      375 ns      125 ns         1"
               "  d\"b\\ -> cart\n"
               "             1                         0.4    600.0 us    300.0 us         1"
               "  cart -> d\"b\\\n");
    free(text);
}

/* Two of the four samples are parts of one hit. */
static void test_hit_with_two_samples_counts_once(void **state)
{
    static const struct output_format *const formats[] = {&folded_format, &stats_json_format,
                                                          &json_format};
    static const char *const texts[] = {
        "[no stack] 3\n", "\n    \"sched\": {\n      \"samples\": 3,\n",
        "\"totals\", \"duration_ns\": 2500000000, \"samples\": 3, "};
    const struct output_settings settings = {.event = "sched", .value = "samples"};

    (void)state;
    for (size_t i = 0; i < 3; i++) {
        struct messages messages;
        char *text;

        make_wakes(&messages);
        messages.small.samples[2].thread = messages.small.samples[1].thread;
        messages.small.samples[2].time = messages.small.samples[1].time;
        text = small_output_of(&messages.small, formats[i], &settings);
        assert_has(text, texts[i]);
        free(text);
    }
}

/* A graph without edges is no error, unless the recording has no event with edges. */
static void test_graph_without_edges_is_no_error(void **state)
{
    struct messages messages;
    struct error error;
    struct output_result result;
    const struct output_request request = {.path = "/tmp/output-dot-test.dot"};
    const struct output_settings of_msg = {{.grouping = {{GROUP_NAME}}}, "msg", NULL};
    const struct output_settings of_all = {.view.grouping = {{GROUP_NAME}}};
    struct recording *recording;
    char *text;

    (void)state;
    make(&messages);
    text = graph(&messages, &of_msg);
    assert_has(text, "red: waited long in the message queue; none seen\"");
    assert_null(strstr(text, "->"));
    free(text);
    small_profile_make(&messages.small);
    recording = recording_open(small_recording(&messages.small), "test", &error);
    assert_int_equal(output_write(recording, &of_all, &request, 1, &result, &error), -1);
    assert_int_equal(error.code, ERROR_NO_SAMPLES);
    assert_non_null(strstr(error.text, "neither event msg"));
    recording_close(recording);
    profile_free(messages.small.profile);
}

/* Return the graph of messages from one process to many; the i-th receiver gets i messages. Its
 * name begins with `to_`, followed by its number, in digits or in letters from 'a' on. */
static char *graph_of_many(uint64_t count, bool has_numbers, enum group_by group_by)
{
    struct messages messages;
    struct output_source source;
    struct error error;
    void *dot;
    char *text;
    size_t size;
    FILE *file = open_memstream(&text, &size);

    make(&messages);
    source = (struct output_source){
        .header = &small_header,
        .profile = messages.small.profile,
        .view = view_new(messages.small.profile, &(struct view_options){.grouping = {{group_by}}}),
        .event = messages.small.samples[0].event,
        .recording = recording_open(small_recording(&messages.small), "test", &error),
    };
    dot = dot_format.begin(file, &source, &error);
    for (uint64_t i = 1; i <= count; i++) {
        struct sample sample = messages.small.samples[0];
        char name[16], pid[16];

        snprintf(name, sizeof(name), "to_%u", (unsigned)i);
        for (char *at = name + 3; *at && !has_numbers; at++)
            *at = (char)(*at - '0' + 'a');
        snprintf(pid, sizeof(pid), "<0.%u.0>", (unsigned)i);
        send(&sample, messages.cart, process(messages.small.profile, 0x1000 + i, pid, name, NULL),
             i, 0);
        assert_int_equal(dot_format.sample(dot, &sample, &error), 0);
    }
    assert_int_equal(dot_format.finish(dot, &messages.small.totals, &error), 0);
    fclose(file);
    view_free(source.view);
    recording_close((struct recording *)source.recording);
    profile_free(messages.small.profile);
    return text;
}

/* If there are too many edges, the smallest ones are cut, and the graph says so. */
static void test_smallest_edges_are_cut(void **state)
{
    char *text = graph_of_many(1000, false, GROUP_NAME);

    (void)state;
    assert_has(text, "; the largest 60 of 1000 edges\"");
    assert_has(text, "\"to_baaa\"");
    assert_has(text, "\"to_jeb\"");
    assert_null(strstr(text, "\"to_jea\""));
    free(text);
}

/* If there are many processes, those whose names differ only in numbers become one node, unless
 * grouped by pid. */
static void test_many_processes_of_similar_names_become_one_node(void **state)
{
    char *text = graph_of_many(30, true, GROUP_NAME);

    (void)state;
    assert_has(text, "\"cart\" -> \"to_30\" [label=\"30 messages,");
    free(text);
    text = graph_of_many(31, true, GROUP_NAME);
    assert_has(text, "\"cart\" -> \"to_*\" [label=\"496 messages,");
    assert_null(strstr(text, "to_31"));
    free(text);
    text = graph_of_many(31, true, GROUP_PID);
    assert_has(text, "\"cart <0.85.0>\" -> \"to_31 <0.31.0>\" [label=\"31 messages,");
    free(text);
}

static void test_summary_has_the_edges_as_a_table(void **state)
{
    const struct output_settings settings = {{.grouping = {{GROUP_NAME}}}, "msg", NULL};
    struct messages messages;
    struct sample *samples = messages.small.samples;
    char *text;

    (void)state;
    make(&messages);
    send(&samples[0], messages.cart, messages.db, 1000, 5000);
    receive(&samples[1], messages.cart, messages.db, 4, 4000);
    send(&samples[2], messages.db, messages.cart, 250, 0);
    text = small_output_of(&messages.small, &summary_format, &settings);
    assert_has(text, "\nmessages by sender and receiver\n"
                     "         count            +-    per second     words       delay   samples\n"
                     "         1,000                         400       5.0      1.0 us         1"
                     "  cart -> d\"b\\\n"
                     "           250                         100       0.0                     1"
                     "  d\"b\\ -> cart\n\n"
                     "messages by receiver\n"
                     "         count            +-    per second     words       delay   samples\n"
                     "         1,000                         400       5.0      1.0 us         1"
                     "  d\"b\\\n"
                     "           250                         100       0.0                     1"
                     "  cart\n");
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sent_and_received_messages_are_one_edge),
        cmocka_unit_test(test_processes_of_one_name_are_one_node_unless_by_pid),
        cmocka_unit_test(test_port_can_be_a_sender),
        cmocka_unit_test(test_edges_with_long_waits_are_red),
        cmocka_unit_test(test_small_edge_has_its_text_in_the_tooltip),
        cmocka_unit_test(test_hit_with_two_samples_counts_once),
        cmocka_unit_test(test_graph_without_edges_is_no_error),
        cmocka_unit_test(test_selected_value_decides_the_edges_and_their_order),
        cmocka_unit_test(test_smallest_edges_are_cut),
        cmocka_unit_test(test_many_processes_of_similar_names_become_one_node),
        cmocka_unit_test(test_graph_of_wakeups_is_by_count_by_default),
        cmocka_unit_test(test_summary_has_the_edges_as_a_table),
        cmocka_unit_test(test_summary_has_wakeups_and_run_queues),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
