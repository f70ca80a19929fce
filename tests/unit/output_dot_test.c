// SPDX-License-Identifier: Apache-2.0
/* Who sends to whom, as a graph. */
#include "small_output.h"

/* The samples of the small profile become those of messages. */
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

/* Sending and receiving are one edge. */
static void test_exact(void **state)
{
    const struct output_settings settings = {{.group_by = GROUP_NAME}, "msg", NULL};
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
        text, "digraph beamflame {\n"
              "    graph [rankdir=LR, labelloc=t, fontname=\"sans-serif\", "
              "label=\"shop@\\\"web\\\", pid 100, OTP 27\\nmsg by count, 2.5 s\"];\n"
              "    node [shape=box, style=\"rounded,filled\", fillcolor=\"#fdebd8\", "
              "color=\"#c9a27e\", fontname=\"sans-serif\"];\n"
              "    edge [color=\"#5b6270\", fontname=\"sans-serif\", fontsize=10];\n"
              "    \"cart\" -> \"d\\\"b\\\\\" [label=\"1,000 messages, 400.0/s\\n5.0 words each\\n"
              "delay 1.0 us\", penwidth=6.0, \"count\"=1000, \"words\"=5000, \"delay\"=4000, "
              "\"received\"=4, \"signals\"=0];\n"
              "    \"d\\\"b\\\\\" -> \"cart\" [label=\"250 messages, 100.0/s\\n0.0 words each\\n"
              "1 signal\", penwidth=3.5, \"count\"=250, \"words\"=0, \"delay\"=0, "
              "\"received\"=0, \"signals\"=1];\n"
              "}\n");
    free(text);
}

/* A process that only its stack names has that name as a peer too; those of one name are one,
 * unless they are to be told apart. */
static void test_names(void **state)
{
    struct messages messages;
    struct sample *samples = messages.small.samples;

    (void)state;
    for (int apart = 0; apart < 2; apart++) {
        const struct output_settings settings = {
            {.group_by = apart ? GROUP_PID : GROUP_NAME}, "msg", NULL};
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

/* What is no process sends too; a sample that knows no other process says nothing. */
static void test_port(void **state)
{
    const struct output_settings settings = {{.group_by = GROUP_NAME}, "msg", NULL};
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

/* The value that is asked for decides which edges there are, and in which order. */
static void test_value(void **state)
{
    const struct output_settings settings = {{.group_by = GROUP_NAME}, "msg", "delay"};
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
    assert_has(text, "msg by delay");
    assert_null(strstr(text, "apply"));
    assert_true(strstr(text, "\"cart\" -> ") > strstr(text, "-> \"cart\""));
    free(text);
}

/* Of other events the peer acts on the process; all of their values are shown. */
static void test_other_event(void **state)
{
    const struct output_settings settings = {{.group_by = GROUP_NAME}, "sched", NULL};
    struct messages messages;
    struct sample *samples = messages.small.samples;
    char *text;

    (void)state;
    make(&messages);
    for (int i = 0; i < SMALL_SAMPLES; i++)
        samples[i].event = event_define(messages.small.profile, "sched");
    samples[0].process = messages.cart;
    samples[0].peer = messages.db;
    samples[0].values[SCHED_WAIT] = 1500;
    samples[0].values[SCHED_COUNT] = 3;
    text = graph(&messages, &settings);
    assert_has(text, "\"d\\\"b\\\\\" -> \"cart\" [label=\"wait 1.5 us\\ncount 3 times\", ");
    free(text);
}

/* Too many edges are cut, the smallest first, and that is said. */
static void test_many(void **state)
{
    struct messages messages;
    struct output_source source;
    struct error error;
    void *dot;
    char *text;
    size_t size;
    FILE *file = open_memstream(&text, &size);

    (void)state;
    make(&messages);
    source = (struct output_source){
        .header = &small_header,
        .profile = messages.small.profile,
        .view = view_new(messages.small.profile, &(struct view_options){.group_by = GROUP_NAME}),
        .event = messages.small.samples[0].event,
    };
    dot = dot_format.begin(file, &source, &error);
    for (uint64_t i = 1; i <= 1000; i++) {
        struct sample sample = messages.small.samples[0];
        char name[16];

        snprintf(name, sizeof(name), "to_%u", (unsigned)i);
        send(&sample, messages.cart,
             process(messages.small.profile, 0x1000 + i, "<0.1.0>", name, NULL), i, 0);
        assert_int_equal(dot_format.sample(dot, &sample, &error), 0);
    }
    assert_int_equal(dot_format.finish(dot, &messages.small.totals, &error), 0);
    fclose(file);
    assert_has(text, "; the greatest 200 of 1000 edges\"");
    assert_has(text, "\"to_1000\"");
    assert_has(text, "\"to_801\"");
    assert_null(strstr(text, "\"to_800\""));
    free(text);
    view_free(source.view);
    profile_free(messages.small.profile);
}

/* The summary has them as a table. */
static void test_summary(void **state)
{
    const struct output_settings settings = {{.group_by = GROUP_NAME}, "msg", NULL};
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
                     "         count      a second     words       delay\n"
                     "         1,000         400.0       5.0      1.0 us  cart -> d\"b\\\n"
                     "           250         100.0       0.0              d\"b\\ -> cart\n");
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_exact),   cmocka_unit_test(test_names),
        cmocka_unit_test(test_port),    cmocka_unit_test(test_value),
        cmocka_unit_test(test_many),    cmocka_unit_test(test_other_event),
        cmocka_unit_test(test_summary),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
