// SPDX-License-Identifier: Apache-2.0
#include "small_profile.h"

/* Equal strings have one id, others their own; 0 is the empty text. */
static void test_equal_strings_have_one_id(void **state)
{
    struct profile *p = profile_new();
    string_id a = profile_string(p, "lists:map/2 and more", 11);

    (void)state;
    assert_int_equal(a, 1);
    assert_int_equal(profile_string_z(p, "lists:map/2"), a);
    assert_int_equal(profile_string_z(p, "lists:map/20"), 2);
    assert_int_equal(profile_string_z(p, "lists:map/"), 3);
    assert_int_equal(profile_string_z(p, ""), 0);
    assert_string_equal(profile_text(p, a), "lists:map/2");
    assert_string_equal(profile_text(p, 0), "");
    profile_free(p);
}

/* Bad UTF-8 and control characters become U+FFFD, one each, and good UTF-8 stays. */
static void test_bad_utf8_and_control_characters_are_replaced(void **state)
{
    static const struct {
        const char *in, *out;
    } cases[] = {
        {"caf\xc3\xa9 \xf0\x9f\x94\xa5", "caf\xc3\xa9 \xf0\x9f\x94\xa5"},
        {"a\nb\tc", "a\xef\xbf\xbd"
                    "b\xef\xbf\xbd"
                    "c"},
        {"x\xff", "x\xef\xbf\xbd"},
        {"\xc3", "\xef\xbf\xbd"},
        {"\xc0\xaf", "\xef\xbf\xbd\xef\xbf\xbd"},                 /* '/' in two bytes */
        {"\xed\xa0\x80", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"}, /* surrogate */
        {"\xc2\x85", "\xef\xbf\xbd"},                             /* C1 */
        {"\xe2\x80\xa8", "\xef\xbf\xbd"},                         /* line separator */
    };
    struct profile *p = profile_new();

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        assert_string_equal(profile_text(p, profile_string_z(p, cases[i].in)), cases[i].out);
    assert_string_equal(profile_text(p, profile_string(p, "a\0b", 3)), "a\xef\xbf\xbd"
                                                                       "b");
    profile_free(p);
}

/* A string of absurd length is cut between characters, and marked as cut. */
static void test_long_string_is_cut(void **state)
{
    enum { size = 100001 };
    struct profile *p = profile_new();
    char *text = malloc(size);
    const char *cut;

    (void)state;
    assert_non_null(text);
    text[0] = 'x';
    for (int i = 1; i < size; i += 2)
        memcpy(text + i, "\xc3\xa9", 2);
    cut = profile_text(p, profile_string(p, text, size));
    assert_in_range(strlen(cut), 1000, 20000);
    assert_string_equal(cut + strlen(cut) - 5, "\xc3\xa9...");
    free(text);
    profile_free(p);
}

/* Texts do not move while others are added: views keep pointers to them. */
static void test_texts_do_not_move_while_others_are_added(void **state)
{
    struct profile *p = profile_new();
    const char *first = profile_text(p, profile_string_z(p, "first"));
    char text[32];

    (void)state;
    for (int i = 0; i < 20000; i++) {
        snprintf(text, sizeof(text), "symbol %d", i);
        assert_int_equal(profile_string_z(p, text), i + 2);
    }
    assert_ptr_equal(profile_text(p, 1), first);
    assert_string_equal(first, "first");
    assert_string_equal(profile_text(p, 20001), "symbol 19999");
    profile_free(p);
}

/* Entries that differ in any field differ; padding bytes do not count. */
static void test_entries_that_differ_in_any_field_are_separate(void **state)
{
    struct profile *p = profile_new();
    struct frame a, b;

    (void)state;
    memset(&a, 0x00, sizeof(a));
    memset(&b, 0xff, sizeof(b));
    a.address = b.address = 0x1000;
    a.likeness = b.likeness = 0;
    a.symbol = b.symbol = a.module = b.module = a.file = b.file = 0;
    a.line = b.line = 7;
    a.kind = b.kind = FRAME_NATIVE;
    a.unresolved = b.unresolved = 0;
    assert_int_equal(profile_frame(p, &a), 1);
    assert_int_equal(profile_frame(p, &b), 1);
    b.unresolved = 1;
    assert_int_equal(profile_frame(p, &b), 2);
    b.kind = FRAME_KERNEL;
    assert_int_equal(profile_frame(p, &b), 3);
    b.likeness = 1;
    assert_int_equal(profile_frame(p, &b), 4);
    assert_int_equal(profile_get_frame(p, 2)->unresolved, 1);
    assert_int_equal(profile_process(p, &(struct process_entry){.identity = 1}), 1);
    assert_int_equal(profile_process(p, &(struct process_entry){.identity = 2}), 2);
    assert_int_equal(profile_process(p, &(struct process_entry){.identity = 1}), 1);
    profile_free(p);
}

/* Many stacks: ids are dense, parents have lower ids, and each stack is found again. */
static void test_ids_of_many_stacks_are_dense_and_found_again(void **state)
{
    enum { width = 100, depth = 300 };
    struct profile *p = profile_new();

    (void)state;
    for (int round = 0; round < 2; round++) {
        for (uint32_t i = 0; i < width; i++) {
            stack_id at = 0;

            for (uint32_t j = 0; j < depth; j++) {
                at = profile_stack(p, at, i + 1);
                assert_int_equal(at, i * depth + j + 1);
                assert_true(profile_get_stack(p, at)->parent < at);
                assert_int_equal(profile_get_stack(p, at)->frame, i + 1);
            }
        }
    }
    assert_int_equal(profile_counts(p).stacks, width * depth);
    profile_free(p);
}

static frame_id numbered_frame(struct profile *p, uint64_t number)
{
    char name[32];

    snprintf(name, sizeof(name), "m:f%llu/1", (unsigned long long)number);
    return small_frame(p, name, "", FRAME_ERLANG, 0);
}

static const char *leaf_of(const struct profile *p, stack_id id)
{
    return profile_text(p, profile_get_frame(p, profile_get_stack(p, id)->frame)->symbol);
}

/* A full profile finds the stacks that it has. A new one keeps its leaf, below a frame that says
 * so, and all stacks with that leaf are one. */
static void test_full_profile_takes_only_leaves_of_new_stacks(void **state)
{
    struct profile *p = profile_new();
    frame_id a = numbered_frame(p, 1), b = numbered_frame(p, 2), c = numbered_frame(p, 3);
    stack_id known = profile_stack(p, profile_stack(p, 0, a), b);
    struct sample sample = {.stack = known};
    stack_id lost;

    (void)state;
    assert_false(profile_is_full(p));
    profile_fill(p);
    assert_true(profile_is_full(p));
    assert_int_equal(profile_stack(p, profile_stack(p, 0, a), b), known);
    assert_false(profile_has_left_out(p, &sample));
    lost = profile_stack(p, known, c);
    assert_string_equal(leaf_of(p, lost), "m:f3/1");
    assert_string_equal(leaf_of(p, profile_get_stack(p, lost)->parent), "[left out: --max-memory]");
    assert_int_equal(profile_get_stack(p, profile_get_stack(p, lost)->parent)->parent, 0);
    assert_int_equal(profile_stack(p, profile_stack(p, 0, b), c), lost);
    sample.stack = lost;
    assert_true(profile_has_left_out(p, &sample));
    profile_free(p);
}

/* Add a process and the string of its pid. */
static process_id numbered_process(struct profile *p, uint64_t number, const char *initial_call)
{
    char pid[32];

    snprintf(pid, sizeof(pid), "<0.%llu.0>", (unsigned long long)number);
    return profile_process(p, &(struct process_entry){
                                  .identity = number,
                                  .pid = profile_string_z(p, pid),
                                  .initial_call = profile_string_z(p, initial_call),
                              });
}

/* A full profile has one entry for all new processes of an initial call. */
static void test_full_profile_merges_new_processes(void **state)
{
    struct profile *p = profile_new();
    process_id known = numbered_process(p, 1, "a:init/1"), lost;
    struct sample sample = {.process = known};

    (void)state;
    profile_fill(p);
    assert_int_equal(numbered_process(p, 1, "a:init/1"), known);
    assert_false(profile_has_left_out(p, &sample));
    lost = numbered_process(p, 2, "a:init/1");
    assert_int_equal(numbered_process(p, 3, "a:init/1"), lost);
    assert_int_not_equal(numbered_process(p, 4, "b:init/1"), lost);
    assert_int_not_equal(lost, known);
    assert_string_equal(profile_text(p, profile_get_process(p, lost)->initial_call), "a:init/1");
    assert_true(profile_process_is_left_out(p, lost));
    assert_int_equal(profile_get_process(p, lost)->identity, 0);
    sample.peer = lost;
    assert_true(profile_has_left_out(p, &sample));
    profile_free(p);
}

/* However much a target shows, the tables of a limited profile stay below three eighths of the
 * memory and what it adds last, and a reader with the same limit accepts them. */
static void test_limited_profile_does_not_grow_without_end(void **state)
{
    enum { memory = 8 << 20 };
    struct profile *p = profile_new();
    stack_id stack = 0;
    uint64_t size, stacks_at_end;

    (void)state;
    profile_limit(p, memory);
    for (uint64_t i = 1; i < 200000; i++) {
        stack = profile_stack(p, i % 100 ? stack : 0, numbered_frame(p, i));
        numbered_process(p, i, leaf_of(p, stack));
        profile_ancestor(p, 0, profile_string_z(p, leaf_of(p, stack)));
        assert_false(profile_exceeds(p, memory));
    }
    size = profile_size(p);
    stacks_at_end = profile_counts(p).stacks;
    assert_true(size < memory / 2);
    for (uint64_t i = 200000; i < 300000; i++) {
        stack = profile_stack(p, i % 100 ? stack : 0, numbered_frame(p, i));
        numbered_process(p, i, leaf_of(p, stack));
    }
    assert_int_equal(profile_size(p), size);
    assert_int_equal(profile_counts(p).stacks, stacks_at_end);
    assert_true(profile_exceeds(p, memory / 4));
    profile_free(p);
}

/* Each loss, status and activity has a name, and no two losses have the same. */
static void test_each_loss_status_and_activity_has_a_name(void **state)
{
    (void)state;
    for (int i = 0; i < LOSS_COUNT; i++) {
        assert_true(strlen(profile_loss_name(i)) > 3 && strlen(profile_loss_sentence(i)) > 10);
        for (int j = 0; j < i; j++)
            assert_string_not_equal(profile_loss_name(i), profile_loss_name(j));
    }
    for (int i = 0; i < STATUS_COUNT; i++)
        assert_non_null(profile_status_name(i));
    for (int i = 0; i < ACTIVITY_COUNT; i++)
        assert_non_null(profile_activity_name(i));
    assert_string_equal(profile_status_name(STATUS_GARBAGE_COLLECTING), "garbage_collecting");
    assert_string_equal(profile_activity_name(ACTIVITY_BUSY_WAIT), "busy-wait");
    assert_string_equal(profile_loss_name(LOSS_RING_FULL), "ring_full");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_equal_strings_have_one_id),
        cmocka_unit_test(test_bad_utf8_and_control_characters_are_replaced),
        cmocka_unit_test(test_long_string_is_cut),
        cmocka_unit_test(test_texts_do_not_move_while_others_are_added),
        cmocka_unit_test(test_entries_that_differ_in_any_field_are_separate),
        cmocka_unit_test(test_ids_of_many_stacks_are_dense_and_found_again),
        cmocka_unit_test(test_full_profile_takes_only_leaves_of_new_stacks),
        cmocka_unit_test(test_full_profile_merges_new_processes),
        cmocka_unit_test(test_limited_profile_does_not_grow_without_end),
        cmocka_unit_test(test_each_loss_status_and_activity_has_a_name),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
