// SPDX-License-Identifier: Apache-2.0
#include "small_profile.h"

#include "view/view.h"

/* Return "root;...;leaf" of a sample as the view shows it. */
static const char *shown(struct view *view, const struct sample *sample)
{
    static char text[4096];
    const struct view_frame *frames;
    size_t count = view_frames(view, view_of_sample(view, sample), &frames);

    text[0] = '\0';
    for (size_t i = 0; i < count; i++)
        snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s%s", i ? ";" : "",
                 frames[i].text);
    return text;
}

static void assert_shown(struct profile *profile, enum group_by group_by,
                         const struct sample *sample, const char *expected)
{
    struct view *view = view_new(profile, &(struct view_options){.grouping = {{group_by}}});

    assert_string_equal(shown(view, sample), expected);
    view_free(view);
}

/* Each grouping has its root frame, for a process and for a scheduler without a process. */
static void test_each_grouping_has_its_root_frame(void **state)
{
    static const struct {
        enum group_by group_by;
        const char *process, *none;
    } cases[] = {
        {GROUP_NONE, "proc_lib:init_p/5;erlang:+/2", "[scheduler] busy-wait;spin"},
        {GROUP_NAME, "cart;proc_lib:init_p/5;erlang:+/2", "[scheduler] busy-wait;spin"},
        {GROUP_PID, "cart <0.85.0>;proc_lib:init_p/5;erlang:+/2", "[scheduler] busy-wait;spin"},
        {GROUP_STATUS, "[running];proc_lib:init_p/5;erlang:+/2", "[scheduler] busy-wait;spin"},
        {GROUP_SCHEDULER, "[scheduler 1];proc_lib:init_p/5;erlang:+/2", "[scheduler 1];spin"},
        {GROUP_INITIAL_CALL, "[no initial call];proc_lib:init_p/5;erlang:+/2",
         "[scheduler] busy-wait;spin"},
        {GROUP_LABEL, "[no label];proc_lib:init_p/5;erlang:+/2", "[scheduler] busy-wait;spin"},
        {GROUP_NODE, "shop@\"web\";proc_lib:init_p/5;erlang:+/2", "shop@\"web\";spin"},
    };
    struct small_profile small;

    (void)state;
    small_profile_make(&small);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        assert_shown(small.profile, cases[i].group_by, &small.samples[0], cases[i].process);
        assert_shown(small.profile, cases[i].group_by, &small.samples[2], cases[i].none);
    }
    profile_free(small.profile);
}

static void assert_grouped(struct profile *profile, const char *keys, const struct sample *sample,
                           const char *expected)
{
    struct view_options options = {.fold_recursion = false};
    struct error error;
    struct view *view;

    assert_int_equal(grouping_parse(keys, &options.grouping, &error), 0);
    view = view_new(profile, &options);
    assert_string_equal(shown(view, sample), expected);
    view_free(view);
}

/* Several keys give one frame each, in their order; the activity of a scheduler is shown once. */
static void test_each_grouping_key_gives_one_frame(void **state)
{
    struct small_profile small;
    struct profile *p;
    struct process_entry process;
    struct sample sample;

    (void)state;
    small_profile_make(&small);
    p = small.profile;
    process = *profile_get_process(p, small.samples[0].process);
    process.label = profile_string_z(p, "{shop,7}");
    process.initial_call = profile_string_z(p, "shop:init/1");
    sample = small.samples[0];
    sample.process = profile_process(p, &process);
    assert_grouped(p, "status,initial_call,label,name", &sample,
                   "[running];shop:init/1;{shop,7};cart;proc_lib:init_p/5;erlang:+/2");
    assert_grouped(p, "name,scheduler", &sample, "cart;[scheduler 1];proc_lib:init_p/5;erlang:+/2");
    assert_grouped(p, "none", &sample, "proc_lib:init_p/5;erlang:+/2");
    assert_grouped(p, "node,status,scheduler,name", &small.samples[2],
                   "shop@\"web\";[scheduler] busy-wait;[scheduler 1];spin");
    assert_grouped(p, "none", &small.samples[2], "[scheduler] busy-wait;spin");
    profile_free(p);
}

static void assert_no_grouping(const char *keys, const char *expected)
{
    struct grouping grouping = {{GROUP_PID}};
    struct error error;

    assert_int_equal(grouping_parse(keys, &grouping, &error), -1);
    assert_int_equal(error.code, ERROR_USAGE);
    assert_non_null(strstr(error.text, expected));
    assert_int_equal(grouping.keys[0], GROUP_PID);
}

/* An unknown grouping is refused, and the message lists the valid ones. */
static void test_unknown_grouping_is_refused(void **state)
{
    (void)state;
    assert_no_grouping("statu", "'statu'; the keys are: none, name, pid, status, scheduler, ");
    assert_no_grouping("statuses", "'statuses'");
    assert_no_grouping("name,", "''");
    assert_no_grouping("", "''");
    assert_no_grouping("name,none", "can't be combined");
    assert_no_grouping("none,name", "can't be combined");
    assert_no_grouping("pid,name,pid", "has 'pid' twice");
}

/* The ancestors of a process are one frame each, the oldest first; so is its application. */
static void test_ancestors_are_root_frames_oldest_first(void **state)
{
    struct small_profile small;
    struct profile *p;
    struct process_entry process;
    ancestor_id above, nearest;
    struct sample sample;

    (void)state;
    small_profile_make(&small);
    p = small.profile;
    process = *profile_get_process(p, small.samples[0].process);
    sample = small.samples[0];
    assert_grouped(p, "application,ancestors,name", &sample,
                   "[no application];[no ancestors];cart;proc_lib:init_p/5;erlang:+/2");
    above = profile_ancestor(p, 0, profile_string_z(p, "shop_sup"));
    nearest = profile_ancestor(p, above, profile_string_z(p, "<0.7.0>"));
    process.ancestors = profile_ancestor(p, nearest, profile_string_z(p, "carts"));
    process.application = profile_string_z(p, "shop");
    sample.process = profile_process(p, &process);
    assert_grouped(p, "application,ancestors,name", &sample,
                   "shop;shop_sup;<0.7.0>;carts;cart;proc_lib:init_p/5;erlang:+/2");
    assert_grouped(p, "ancestors", &sample, "shop_sup;<0.7.0>;carts;proc_lib:init_p/5;erlang:+/2");
    assert_grouped(p, "application,ancestors", &small.samples[2], "[scheduler] busy-wait;spin");
    profile_free(p);
}

/* A process has its registered name, label or initial call as name, in this order; a process
 * started with a fun, the root function of its stack, if the stack reaches it. */
static void test_process_is_named_by_name_label_or_initial_call(void **state)
{
    struct small_profile small;
    struct profile *p;
    struct process_entry process = {.target = 1};
    struct sample sample;

    (void)state;
    small_profile_make(&small);
    p = small.profile;
    sample = small.samples[0];
    process.pid = profile_string_z(p, "<0.9.0>");
    sample.process = profile_process(p, &process);
    assert_shown(p, GROUP_NAME, &sample, "proc_lib:init_p/5;proc_lib:init_p/5;erlang:+/2");
    assert_shown(p, GROUP_PID, &sample, "<0.9.0>;proc_lib:init_p/5;erlang:+/2");
    process.initial_call = profile_string_z(p, "erlang:apply/2");
    sample.process = profile_process(p, &process);
    assert_shown(p, GROUP_NAME, &sample, "proc_lib:init_p/5;proc_lib:init_p/5;erlang:+/2");
    sample.flags &= (uint8_t)~SAMPLE_COMPLETE;
    assert_shown(p, GROUP_NAME, &sample, "erlang:apply/2;proc_lib:init_p/5;erlang:+/2");
    sample.flags |= SAMPLE_COMPLETE;
    process.initial_call = profile_string_z(p, "my_server:init/1");
    sample.process = profile_process(p, &process);
    assert_shown(p, GROUP_NAME, &sample, "my_server:init/1;proc_lib:init_p/5;erlang:+/2");
    process.label = profile_string_z(p, "{shop,7}");
    sample.process = profile_process(p, &process);
    assert_shown(p, GROUP_NAME, &sample, "{shop,7};proc_lib:init_p/5;erlang:+/2");
    process.name = profile_string_z(p, "shop");
    sample.process = profile_process(p, &process);
    assert_shown(p, GROUP_NAME, &sample, "shop;proc_lib:init_p/5;erlang:+/2");
    process.name = 0;
    process.label_is_detail = 1;
    sample.process = profile_process(p, &process);
    assert_shown(p, GROUP_NAME, &sample, "my_server:init/1;proc_lib:init_p/5;erlang:+/2");
    assert_shown(p, GROUP_PID, &sample, "{shop,7} <0.9.0>;proc_lib:init_p/5;erlang:+/2");
    assert_shown(p, GROUP_LABEL, &sample, "{shop,7};proc_lib:init_p/5;erlang:+/2");
    profile_free(p);
}

static void test_activity_is_the_root_frame_without_a_process(void **state)
{
    static const struct {
        enum activity activity;
        const char *root;
    } cases[] = {
        {ACTIVITY_SCHEDULING, "[scheduler] scheduling;spin"},
        {ACTIVITY_SLEEP, "[scheduler] sleep;spin"},
        {ACTIVITY_CHECK_IO, "[scheduler] check-io;spin"},
        {ACTIVITY_PORT, "[port] tcp_inet;spin"},
        {ACTIVITY_AUX_WORK, "[aux];spin"},
        {ACTIVITY_ASYNC, "[thread] erts_sched_1;spin"},
        {ACTIVITY_OTHER, "[thread] erts_sched_1;spin"},
        {ACTIVITY_PROCESS, "[process];spin"}, /* a process that could not be read */
    };
    struct small_profile small;
    struct sample sample;

    (void)state;
    small_profile_make(&small);
    sample = small.samples[2];
    sample.detail = profile_string_z(small.profile, "tcp_inet");
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        sample.activity = (uint8_t)cases[i].activity;
        assert_shown(small.profile, GROUP_NAME, &sample, cases[i].root);
    }
    sample.detail = 0;
    sample.activity = ACTIVITY_PORT;
    assert_shown(small.profile, GROUP_NAME, &sample, "[port];spin");
    profile_free(small.profile);
}

/* Each kind of scheduler has its root frame, and other threads have their names. */
static void test_each_kind_of_scheduler_has_its_root_frame(void **state)
{
    static const struct {
        enum scheduler_kind kind;
        const char *root;
    } cases[] = {
        {SCHEDULER_DIRTY_CPU, "[dirty cpu 2];spin"},
        {SCHEDULER_DIRTY_IO, "[dirty io 2];spin"},
        {SCHEDULER_NONE, "[thread] erts_sched_1;spin"},
    };
    struct small_profile small;
    struct thread_entry thread;
    struct sample sample;

    (void)state;
    small_profile_make(&small);
    sample = small.samples[2];
    thread = *profile_get_thread(small.profile, sample.thread);
    thread.scheduler_number = 2;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        thread.scheduler_kind = (uint16_t)cases[i].kind;
        sample.thread = profile_thread(small.profile, &thread);
        assert_shown(small.profile, GROUP_SCHEDULER, &sample, cases[i].root);
    }
    profile_free(small.profile);
}

/* Samples that look equal have one id, others different ids; ids are dense. */
static void test_samples_that_look_equal_have_one_id(void **state)
{
    struct small_profile small;
    struct view *view;
    struct process_entry other;
    struct sample sample;

    (void)state;
    small_profile_make(&small);
    view = view_new(small.profile, &(struct view_options){.grouping = {{GROUP_NAME}}});
    assert_int_equal(view_of_sample(view, &small.samples[0]), 1);
    assert_int_equal(view_of_sample(view, &small.samples[1]), 2);
    assert_int_equal(view_of_sample(view, &small.samples[3]), 1);
    /* Another process with the same name looks equal when grouped by name. */
    sample = small.samples[0];
    other = *profile_get_process(small.profile, sample.process);
    other.pid = profile_string_z(small.profile, "<0.99.0>");
    other.identity++;
    sample.process = profile_process(small.profile, &other);
    sample.status = STATUS_EXITING;
    assert_int_equal(view_of_sample(view, &sample), 1);
    view_free(view);
    view = view_new(small.profile, &(struct view_options){.grouping = {{GROUP_PID}}});
    assert_int_not_equal(view_of_sample(view, &sample), view_of_sample(view, &small.samples[0]));
    view_free(view);
    profile_free(small.profile);
}

/* With fold_recursion a run of one function is one frame; mutual recursion stays. */
static void test_folded_recursion_is_one_frame(void **state)
{
    struct small_profile small;
    struct profile *p;
    struct view *view;
    struct sample deep, flat;
    frame_id a, a_other_line, b;

    (void)state;
    small_profile_make(&small);
    p = small.profile;
    a = small_frame(p, "m:a/1", "", FRAME_ERLANG, 1);
    a_other_line = small_frame(p, "m:a/1", "", FRAME_ERLANG, 2);
    b = small_frame(p, "m:b/1", "", FRAME_ERLANG, 3);
    deep = flat = small.samples[0];
    flat.stack = profile_stack(p, profile_stack(p, profile_stack(p, 0, a), b), a);
    deep.stack = 0;
    for (int i = 0; i < 50; i++)
        deep.stack = profile_stack(p, deep.stack, i % 2 ? a : a_other_line);
    deep.stack = profile_stack(p, profile_stack(p, deep.stack, b), b);
    deep.stack = profile_stack(p, deep.stack, a);
    view = view_new(p, &(struct view_options){{{GROUP_NONE}}, true});
    assert_string_equal(shown(view, &deep), "m:a/1;m:b/1;m:a/1");
    view_free(view);
    view = view_new(p, &(struct view_options){{{GROUP_NONE}}, false});
    assert_string_equal(shown(view, &flat), "m:a/1;m:b/1;m:a/1");
    assert_int_not_equal(view_of_sample(view, &deep), view_of_sample(view, &flat));
    view_free(view);
    profile_free(p);
}

/* Of a stack that is too deep, the middle is cut out; what stays is from the root and the leaf.
 * Stacks that differ only there look the same, and get one id. Recursion is folded first. */
static void test_middle_of_a_deep_stack_is_cut_out(void **state)
{
    const struct view_options by_depth = {.grouping = {{GROUP_NONE}}, .max_depth = 5};
    struct small_profile small;
    struct profile *p;
    struct view *view;
    struct sample deep, deeper, fits;
    frame_id frames[8];

    (void)state;
    small_profile_make(&small);
    p = small.profile;
    for (int i = 0; i < 8; i++) {
        char name[] = "m:a/0";

        name[2] = (char)('a' + i);
        frames[i] = small_frame(p, name, "", FRAME_ERLANG, (uint64_t)i + 1);
    }
    deep = deeper = fits = small.samples[0];
    deep.stack = deeper.stack = fits.stack = 0;
    for (int i = 0; i < 8; i++) {
        deep.stack = profile_stack(p, deep.stack, frames[i]);
        deeper.stack = profile_stack(p, deeper.stack, frames[i]);
        if (i == 4)
            fits.stack = deep.stack;
        if (i == 3)
            deeper.stack = profile_stack(p, deeper.stack, frames[7]);
    }
    view = view_new(p, &by_depth);
    assert_string_equal(shown(view, &deep), "m:a/0;m:b/0;[frames truncated];m:g/0;m:h/0");
    assert_string_equal(shown(view, &fits), "m:a/0;m:b/0;m:c/0;m:d/0;m:e/0");
    assert_int_equal(view_of_sample(view, &deep), view_of_sample(view, &deeper));
    assert_int_not_equal(view_of_sample(view, &deep), view_of_sample(view, &fits));
    view_free(view);

    for (int i = 0; i < 100; i++)
        fits.stack = profile_stack(p, fits.stack, frames[4]);
    view = view_new(p, &(struct view_options){
                           .grouping = {{GROUP_NONE}}, .fold_recursion = true, .max_depth = 5});
    assert_string_equal(shown(view, &fits), "m:a/0;m:b/0;m:c/0;m:d/0;m:e/0");
    view_free(view);
    profile_free(p);
}

/* Modules have names as in perf: no spaces, no " (deleted)", a map for Erlang code. */
static void test_modules_are_named_as_in_perf(void **state)
{
    struct small_profile small;
    const struct view_frame *frames;
    struct view *view;

    (void)state;
    small_profile_make(&small);
    view = view_new(small.profile, &(struct view_options){.grouping = {{GROUP_NAME}}});
    assert_int_equal(view_frames(view, view_of_sample(view, &small.samples[1]), &frames), 4);
    assert_string_equal(frames[0].module, "/tmp/perf-100.map");
    assert_int_equal(frames[0].address, 0);
    assert_int_equal(frames[0].kind, FRAME_MARK);
    assert_string_equal(frames[1].module, "/tmp/perf-100.map");
    assert_int_equal(frames[1].address, 0x7f20aabb0000);
    assert_string_equal(frames[2].module, "/opt/my%20lib/libc.so.6");
    assert_string_equal(frames[3].module, "[kernel.kallsyms]");
    assert_int_equal(frames[3].kind, FRAME_KERNEL);
    view_free(view);
    profile_free(small.profile);
}

/* With two targets each stack begins with its target: the node's name, or the pid. */
static void test_stack_begins_with_its_target_if_there_are_two(void **state)
{
    struct small_profile small;
    struct profile *p;
    struct sample sample;
    struct thread_entry thread;

    (void)state;
    small_profile_make(&small);
    p = small.profile;
    sample = small.samples[2];
    thread = *profile_get_thread(p, sample.thread);
    thread.target = profile_target(
        p, &(struct target_entry){.pid = 7, .node = profile_string_z(p, "nonode@nohost")});
    sample.thread = profile_thread(p, &thread);
    assert_shown(p, GROUP_NAME, &sample, "beam 7;[scheduler] busy-wait;spin");
    assert_shown(p, GROUP_NAME, &small.samples[0],
                 "shop@\"web\";cart;proc_lib:init_p/5;erlang:+/2");
    assert_grouped(p, "name,node", &small.samples[0],
                   "cart;shop@\"web\";proc_lib:init_p/5;erlang:+/2");
    profile_free(p);
}

/* Targets with the same node name are distinguished by the pid as well. */
static void test_targets_of_one_name_have_their_pid(void **state)
{
    struct small_profile small;
    struct profile *p;

    (void)state;
    small_profile_make(&small);
    p = small.profile;
    profile_target(p,
                   &(struct target_entry){.pid = 7, .node = profile_string_z(p, "shop@\"web\"")});
    assert_shown(p, GROUP_NAME, &small.samples[0],
                 "shop@\"web\" 100;cart;proc_lib:init_p/5;erlang:+/2");
    profile_free(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_grouping_has_its_root_frame),
        cmocka_unit_test(test_each_grouping_key_gives_one_frame),
        cmocka_unit_test(test_unknown_grouping_is_refused),
        cmocka_unit_test(test_ancestors_are_root_frames_oldest_first),
        cmocka_unit_test(test_process_is_named_by_name_label_or_initial_call),
        cmocka_unit_test(test_activity_is_the_root_frame_without_a_process),
        cmocka_unit_test(test_each_kind_of_scheduler_has_its_root_frame),
        cmocka_unit_test(test_samples_that_look_equal_have_one_id),
        cmocka_unit_test(test_folded_recursion_is_one_frame),
        cmocka_unit_test(test_middle_of_a_deep_stack_is_cut_out),
        cmocka_unit_test(test_modules_are_named_as_in_perf),
        cmocka_unit_test(test_stack_begins_with_its_target_if_there_are_two),
        cmocka_unit_test(test_targets_of_one_name_have_their_pid),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
