// SPDX-License-Identifier: Apache-2.0
#include "small_profile.h"

#include "profile/profile_remap.h"
#include "view/view.h"

#include <time.h>

static void profile_remap_one(const struct profile *from, struct sample *sample, struct profile *to)
{
    struct profile_remap remap = {.from = from, .to = to};

    profile_remap_sample(&remap, sample);
    profile_remap_free(&remap);
}

/* Write all that an output shows of a sample, and its thread. */
static void describe(struct profile *profile, const struct sample *sample, char *text, size_t size)
{
    struct view *view = view_new(profile, &(struct view_options){.grouping = {{GROUP_PID}}});
    const struct thread_entry *thread = profile_get_thread(profile, sample->thread);
    const struct target_entry *target = profile_get_target(profile, thread->target);
    const struct view_frame *frames;
    size_t count = view_frames(view, view_of_sample(view, sample), &frames);
    int at = snprintf(text, size, "%s of %s, %u processes, detail '%s', peer %u:",
                      profile_text(profile, thread->name), profile_text(profile, target->node),
                      target->processes, profile_text(profile, sample->detail), sample->peer != 0);

    for (size_t i = 0; i < count; i++)
        at += snprintf(text + at, size - (size_t)at, ";%s", frames[i].text);
    view_free(view);
}

/* Make a profile with other ids for the same entries. */
static struct profile *other_profile(void)
{
    struct profile *profile = profile_new();

    event_define(profile, EVENT_CPU);
    profile_string_z(profile, "something else");
    profile_stack(profile, 0, small_frame(profile, "main", "", FRAME_NATIVE, 1));
    profile_process(profile, &(struct process_entry){.identity = 1});
    profile_thread(profile, &(struct thread_entry){.tid = 1});
    return profile;
}

/* A sample that was carried over reads the same as before, even after the old profile is freed. */
static void test_remapped_sample_reads_the_same(void **state)
{
    struct profile *to = other_profile();
    struct small_profile small;
    char before[SMALL_SAMPLES][1024], after[1024];

    (void)state;
    small_profile_make(&small);
    small.samples[1].peer = small.samples[1].process;
    small.samples[2].detail = profile_string_z(small.profile, "tcp_inet");
    for (int i = 0; i < SMALL_SAMPLES; i++) {
        describe(small.profile, &small.samples[i], before[i], sizeof(before[i]));
        profile_remap_one(small.profile, &small.samples[i], to);
    }
    profile_free(small.profile);
    for (int i = 0; i < SMALL_SAMPLES; i++) {
        describe(to, &small.samples[i], after, sizeof(after));
        assert_string_equal(after, before[i]);
    }
    assert_int_equal(small.samples[0].stack, small.samples[3].stack);
    assert_int_equal(small.samples[1].peer, small.samples[1].process);
    profile_free(to);
}

static string_id text(struct profile *profile, const char *value)
{
    return profile_string_z(profile, value);
}

/* All fields of a process are carried over: its ancestors, its application, and its parent,
 * whatever its id. */
static void test_process_is_remapped_with_all_fields(void **state)
{
    struct profile *from = profile_new(), *to = other_profile();
    ancestor_id top = profile_ancestor(from, 0, text(from, "top_sup")),
                sup = profile_ancestor(from, top, text(from, "sup"));
    struct process_entry entry = {.identity = 7, .pid = text(from, "<0.1.0>")}, carried;
    struct sample sample;

    (void)state;
    entry.parent = profile_process(from, &entry);
    entry.identity = 8;
    entry.pid = text(from, "<0.2.0>");
    entry.name = text(from, "name");
    entry.label = text(from, "label");
    entry.label_is_detail = 1;
    entry.initial_call = text(from, "m:init/1");
    entry.application = text(from, "shop");
    entry.ancestors = sup;
    sample = (struct sample){.process = profile_process(from, &entry)};
    profile_remap_one(from, &sample, to);
    profile_free(from);
    carried = *profile_get_process(to, sample.process);
    assert_int_equal(carried.identity, 8);
    assert_string_equal(profile_text(to, carried.pid), "<0.2.0>");
    assert_string_equal(profile_text(to, carried.name), "name");
    assert_string_equal(profile_text(to, carried.label), "label");
    assert_int_equal(carried.label_is_detail, 1);
    assert_string_equal(profile_text(to, carried.initial_call), "m:init/1");
    assert_string_equal(profile_text(to, carried.application), "shop");
    assert_int_equal(profile_get_process(to, carried.parent)->identity, 7);
    sup = carried.ancestors;
    assert_string_equal(profile_text(to, profile_get_ancestor(to, sup)->name), "sup");
    top = profile_get_ancestor(to, sup)->up;
    assert_string_equal(profile_text(to, profile_get_ancestor(to, top)->name), "top_sup");
    assert_int_equal(profile_get_ancestor(to, top)->up, 0);
    profile_free(to);
}

static void test_module_is_remapped_with_its_build_id(void **state)
{
    struct profile *to = other_profile();
    const struct module *module;
    struct small_profile small;
    const struct frame *frame;

    (void)state;
    small_profile_make(&small);
    profile_remap_one(small.profile, &small.samples[2], to);
    profile_free(small.profile);
    frame = profile_get_frame(to, profile_get_stack(to, small.samples[2].stack)->frame);
    module = profile_get_module(to, frame->module);
    assert_string_equal(profile_text(to, module->path), SMALL_FILE);
    assert_string_equal(profile_text(to, module->build_id), SMALL_BUILD_ID);
    profile_free(to);
}

static void test_absent_fields_stay_absent(void **state)
{
    struct profile *from = profile_new(), *to = profile_new();
    struct sample sample = {.event = 1, .time = 5};

    (void)state;
    profile_remap_one(from, &sample, to);
    assert_int_equal(sample.stack | sample.process | sample.peer | sample.thread | sample.detail,
                     0);
    assert_int_equal(sample.time, 5);
    assert_int_equal(profile_counts(to).strings, profile_counts(from).strings);
    profile_free(from);
    profile_free(to);
}

/* The work grows with the entries, not with the lengths of their chains: a small file can have long
 * ones. */
static void test_long_chains_take_little_time(void **state)
{
    enum { LONG = 60000 };
    struct profile *from = profile_new(), *to = profile_new();
    struct profile_remap remap = {.from = from, .to = to};
    frame_id frame = profile_frame(from, &(struct frame){.kind = FRAME_ERLANG});
    struct sample sample = {0};
    clock_t began = clock();

    (void)state;
    for (uint32_t i = 1; i <= LONG; i++) {
        profile_stack(from, i - 1, frame);
        profile_process(from, &(struct process_entry){.identity = i, .parent = i - 1});
    }
    for (uint32_t i = 1; i <= LONG; i++) {
        sample = (struct sample){.stack = i, .process = i};
        profile_remap_sample(&remap, &sample);
        assert_int_equal(sample.stack, i);
        assert_int_equal(sample.process, i);
    }
    assert_int_equal(profile_counts(to).stacks, LONG);
    assert_int_equal(profile_get_process(to, LONG)->parent, LONG - 1);
    assert_true(clock() - began < 2 * CLOCKS_PER_SEC);
    profile_remap_free(&remap);
    profile_free(from);
    profile_free(to);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_remapped_sample_reads_the_same),
        cmocka_unit_test(test_process_is_remapped_with_all_fields),
        cmocka_unit_test(test_module_is_remapped_with_its_build_id),
        cmocka_unit_test(test_absent_fields_stay_absent),
        cmocka_unit_test(test_long_chains_take_little_time),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
