// SPDX-License-Identifier: Apache-2.0
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#include "fake_sample.h"

enum { NATIVE = 0x7000, ERLANG = 0x9000, ROOT = 0xa000 };

static const uint64_t native[] = {1, 2, 3}, erlang[] = {11, 12, 13, 14}, root[] = {21, 22};

/* Make a sample with all kinds of regions; two of them are of the Erlang stack, with a gap
 * between. */
static void fill(struct fake_sample *sample)
{
    uint8_t scheduler[WIRE_SCHEDULER_BYTES];

    memset(sample, 0, sizeof(*sample));
    memset(scheduler, 0x55, sizeof(scheduler));
    sample->head.kernel_depth = 2;
    sample->kernel[0] = 0xffffffff81000001;
    sample->kernel[1] = 0xffffffff81000002;
    fake_region(sample, REGION_SCHEDULER, 0x5000, scheduler, sizeof(scheduler));
    fake_region(sample, REGION_NATIVE, NATIVE, native, sizeof(native));
    fake_region(sample, REGION_ERLANG, ERLANG, erlang, sizeof(erlang));
    fake_region(sample, REGION_ERLANG, ROOT, root, sizeof(root));
}

/* All parts of a complete sample are found. */
static void test_all_parts_of_a_sample_are_found(void **state)
{
    struct fake_sample sample;
    struct snapshot snapshot;
    const uint8_t *scheduler;

    (void)state;
    fill(&sample);
    sample.head.registers.value[7] = 0x1234;
    assert_true(fake_sample_open(&sample, &snapshot));
    assert_int_equal(snapshot.kernel_stack[0], 0xffffffff81000001);
    assert_int_equal(snapshot.kernel_stack[1], 0xffffffff81000002);
    assert_int_equal(snapshot_register(&snapshot, 7), 0x1234);
    scheduler = snapshot_region(&snapshot, REGION_SCHEDULER, WIRE_SCHEDULER_BYTES);
    assert_non_null(scheduler);
    assert_int_equal(scheduler[WIRE_SCHEDULER_BYTES - 1], 0x55);
    fake_sample_free(&sample);
}

/* A region that is absent, or smaller than needed, is NULL. */
static void test_missing_or_short_region_is_null(void **state)
{
    struct fake_sample sample;
    struct snapshot snapshot;

    (void)state;
    fill(&sample);
    assert_true(fake_sample_open(&sample, &snapshot));
    assert_null(snapshot_region(&snapshot, REGION_SCHEDULER, WIRE_SCHEDULER_BYTES + 1));
    assert_null(snapshot_region(&snapshot, REGION_PROCESS, 1));
    fake_sample_free(&sample);
}

/* A sample that is cut anywhere is refused; extra bytes do no harm. */
static void test_cut_sample_is_refused(void **state)
{
    struct fake_sample sample;
    struct snapshot snapshot;

    (void)state;
    fill(&sample);
    fake_sample_pack(&sample);
    for (size_t size = 0; size < sample.size; size++) {
        void *copy = malloc(size ? size : 1);

        memcpy(copy, sample.bytes, size);
        assert_false(snapshot_open(&snapshot, copy, size));
        free(copy);
    }
    assert_true(snapshot_open(&snapshot, sample.bytes, sample.size));
    fake_sample_free(&sample);
}

/* Counts beyond the limits of the format are refused, whatever follows. */
static void test_counts_beyond_the_format_are_refused(void **state)
{
    static uint8_t room[1 << 16] __attribute__((aligned(8)));
    struct wire_sample *head = (struct wire_sample *)room;
    struct snapshot snapshot;

    (void)state;
    head->kernel_depth = WIRE_KERNEL_DEPTH;
    head->region_count = WIRE_REGIONS;
    assert_true(snapshot_open(&snapshot, room, sizeof(room)));
    head->kernel_depth = WIRE_KERNEL_DEPTH + 1;
    assert_false(snapshot_open(&snapshot, room, sizeof(room)));
    head->kernel_depth = 0;
    head->region_count = WIRE_REGIONS + 1;
    assert_false(snapshot_open(&snapshot, room, sizeof(room)));
    head->region_count = 2;
    head->regions[0].size = UINT32_MAX;
    assert_false(snapshot_open(&snapshot, room, sizeof(room)));
    head->regions[0].size = sizeof(room) - sizeof(*head);
    head->regions[1].size = 1;
    assert_false(snapshot_open(&snapshot, room, sizeof(room)));
}

/* Structs are rebuilt from the words in a sample, with zeros between them; a wrong number of words
 * is ignored. */
static void test_structs_are_rebuilt_from_sampled_words(void **state)
{
    const struct wire_words process_words = {3, {0, 88, 640}}, scheduler_words = {2, {168, 248}};
    const uint64_t process[] = {1, 2, 3}, scheduler[] = {4, 5};
    struct fake_sample sample = {0};
    struct snapshot snapshot;
    const uint8_t *bytes;
    uint64_t whole[81] = {[0] = 1, [11] = 2, [80] = 3};

    (void)state;
    fake_region(&sample, REGION_PROCESS_WORDS, 0x6000, process, sizeof(process));
    fake_region(&sample, REGION_SCHEDULER_WORDS, 0x5000, scheduler, sizeof(scheduler));
    assert_true(fake_sample_open(&sample, &snapshot));
    assert_null(snapshot_region(&snapshot, REGION_PROCESS, 1));
    snapshot_expand(&snapshot, &process_words, sizeof(whole), &scheduler_words);
    bytes = snapshot_region(&snapshot, REGION_PROCESS, sizeof(whole));
    assert_non_null(bytes);
    assert_memory_equal(bytes, whole, sizeof(whole));
    assert_null(snapshot_region(&snapshot, REGION_PROCESS, sizeof(whole) + 1));
    assert_int_equal(snapshot_scheduler_word(&snapshot, 168), 4);
    assert_int_equal(snapshot_scheduler_word(&snapshot, 176), 0);
    assert_int_equal(snapshot_scheduler_word(&snapshot, 248), 5);
    assert_true(fake_sample_open(&sample, &snapshot));
    snapshot_expand(&snapshot, &scheduler_words, sizeof(whole), &process_words);
    assert_null(snapshot_region(&snapshot, REGION_PROCESS, 1));
    assert_int_equal(snapshot_scheduler_word(&snapshot, 168), 0);
    fake_sample_free(&sample);
}

/* Words come from the native and the Erlang stack, and only if all 8 bytes were copied. */
static void test_word_is_read_only_if_all_its_bytes_were_copied(void **state)
{
    struct fake_sample sample;
    struct snapshot snapshot;
    uint64_t word = 99;

    (void)state;
    fill(&sample);
    assert_true(fake_sample_open(&sample, &snapshot));
    for (unsigned i = 0; i < 3; i++) {
        assert_true(snapshot_word(&snapshot, NATIVE + 8 * i, &word));
        assert_int_equal(word, native[i]);
    }
    assert_true(snapshot_word(&snapshot, ERLANG + 24, &word));
    assert_int_equal(word, 14);
    assert_true(snapshot_word(&snapshot, ROOT, &word));
    assert_int_equal(word, 21);
    assert_false(snapshot_word(&snapshot, NATIVE - 1, &word));
    assert_false(snapshot_word(&snapshot, NATIVE + sizeof(native) - 7, &word));
    assert_false(snapshot_word(&snapshot, ERLANG + sizeof(erlang), &word));
    assert_false(snapshot_word(&snapshot, 0x5000, &word)); /* the scheduler's struct is no stack */
    assert_false(snapshot_word(&snapshot, UINT64_MAX - 3, &word));
    assert_int_equal(word, 21); /* unchanged */
    fake_sample_free(&sample);
}

/* Regions too small for a word, or at the end of the address space, give no words. */
static void test_region_smaller_than_a_word_gives_no_word(void **state)
{
    struct fake_sample sample = {0};
    struct snapshot snapshot;
    uint64_t word;

    (void)state;
    fake_region(&sample, REGION_ERLANG, 0x100, "1234567", 7);
    fake_region(&sample, REGION_NATIVE, UINT64_MAX - 3, "12345678", 8);
    assert_true(fake_sample_open(&sample, &snapshot));
    assert_false(snapshot_word(&snapshot, 0x100, &word));
    assert_false(snapshot_word(&snapshot, 0, &word));
    fake_sample_free(&sample);
}

/* Adjacent regions can be read as one, word by word. */
static void test_adjacent_regions_are_read_as_one(void **state)
{
    struct fake_sample sample = {0};
    struct snapshot snapshot;
    uint64_t word;

    (void)state;
    fake_region(&sample, REGION_ERLANG, 0x2000, root, sizeof(root));
    fake_region(&sample, REGION_ERLANG, 0x2010, erlang, sizeof(erlang));
    assert_true(fake_sample_open(&sample, &snapshot));
    assert_true(snapshot_word(&snapshot, 0x2008, &word));
    assert_int_equal(word, 22);
    assert_true(snapshot_word(&snapshot, 0x2010, &word));
    assert_int_equal(word, 11);
    fake_sample_free(&sample);
}

/* The continuation of the Erlang stack after a gap; native stack does not count. */
static void test_erlang_stack_continues_after_a_gap(void **state)
{
    struct fake_sample sample;
    struct snapshot snapshot;

    (void)state;
    fill(&sample);
    assert_true(fake_sample_open(&sample, &snapshot));
    assert_int_equal(snapshot_next_erlang(&snapshot, 0), ERLANG);
    assert_int_equal(snapshot_next_erlang(&snapshot, NATIVE), ERLANG);
    assert_int_equal(snapshot_next_erlang(&snapshot, ERLANG + 8), ERLANG + 8);
    assert_int_equal(snapshot_next_erlang(&snapshot, ERLANG + sizeof(erlang)), ROOT);
    assert_int_equal(snapshot_next_erlang(&snapshot, ROOT + 8), ROOT + 8);
    assert_int_equal(snapshot_next_erlang(&snapshot, ROOT + 9), 0);
    assert_int_equal(snapshot_next_erlang(&snapshot, ROOT + sizeof(root)), 0);
    fake_sample_free(&sample);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all_parts_of_a_sample_are_found),
        cmocka_unit_test(test_missing_or_short_region_is_null),
        cmocka_unit_test(test_cut_sample_is_refused),
        cmocka_unit_test(test_counts_beyond_the_format_are_refused),
        cmocka_unit_test(test_structs_are_rebuilt_from_sampled_words),
        cmocka_unit_test(test_word_is_read_only_if_all_its_bytes_were_copied),
        cmocka_unit_test(test_region_smaller_than_a_word_gives_no_word),
        cmocka_unit_test(test_adjacent_regions_are_read_as_one),
        cmocka_unit_test(test_erlang_stack_continues_after_a_gap),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
