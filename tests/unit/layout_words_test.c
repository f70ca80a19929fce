// SPDX-License-Identifier: Apache-2.0
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#include <stdbool.h>
#include <string.h>

#include "beam/layout.h"

static struct layout layout_of(int release)
{
    struct build build = {.otp_release = release,
                          .jit = true,
                          .native_stack = true,
                          .frame_pointer_field = release > 24};
    struct layout layout;
    struct error error;

    assert_int_equal(layout_from_table(&build, &layout, &error), 0);
    return layout;
}

static bool holds(const struct wire_words *words, int32_t field)
{
    for (uint32_t i = 0; i < words->count; i++)
        if (words->offsets[i] == (field & ~7))
            return true;
    return false;
}

/* Check what the BPF programs rely on: words are ascending, unique, and within the bytes that BPF
 * reads. */
static void check_order(const struct wire_words *words, size_t limit)
{
    assert_in_range(words->count, 1, WIRE_WORDS);
    for (uint32_t i = 0; i < words->count; i++) {
        assert_int_equal(words->offsets[i] % 8, 0);
        assert_true(words->offsets[i] + 8u <= limit);
        assert_true(i == 0 || words->offsets[i] > words->offsets[i - 1]);
    }
}

static void test_sampled_words_are_in_ascending_order(void **state)
{
    (void)state;
    for (int release = OLDEST_RELEASE; release <= NEWEST_RELEASE; release++) {
        struct layout layout = layout_of(release);
        struct wire_words process = layout_process_words(&layout);
        struct wire_words scheduler = layout_scheduler_words(&layout);

        check_order(&process, WIRE_PROCESS_BYTES);
        check_order(&scheduler, WIRE_SCHEDULER_BYTES);
    }
}

/* If a struct is larger than the kernel side reads, its later words are left out. */
static void test_words_beyond_what_bpf_reads_are_left_out(void **state)
{
    struct layout layout = layout_of(27);
    struct wire_words process;

    (void)state;
    layout.sizeof_process = 4096;
    layout.process_parent = 2048;
    process = layout_process_words(&layout);
    check_order(&process, WIRE_PROCESS_BYTES);
}

/* BPF programs use some fields before they keep the words of a struct: these fields are not after
 * the last word. */
static void test_fields_that_bpf_reads_are_within_the_sampled_words(void **state)
{
    (void)state;
    for (int release = OLDEST_RELEASE; release <= NEWEST_RELEASE; release++) {
        struct layout layout = layout_of(release);
        struct wire_words process = layout_process_words(&layout);
        struct wire_words scheduler = layout_scheduler_words(&layout);

        assert_true(holds(&process, layout.process_htop) && holds(&process, layout.process_stop) &&
                    holds(&process, layout.process_heap) && holds(&process, layout.process_hend) &&
                    holds(&process, layout.process_current));
        assert_true(holds(&scheduler, layout.sched_registers) &&
                    holds(&scheduler, layout.sched_current_process) &&
                    holds(&scheduler, layout.sched_ssi));
    }
}

/* A field smaller than a word is covered by its word; fields that the VM lacks are skipped. */
static void test_small_fields_are_covered_and_absent_ones_skipped(void **state)
{
    struct layout layout = layout_of(27);
    struct wire_words words = layout_process_words(&layout);

    (void)state;
    assert_int_equal(layout.process_flags % 8, 4);
    assert_true(holds(&words, layout.process_flags));
    layout.process_initial = -1;
    assert_int_equal(layout_process_words(&layout).count, words.count - 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sampled_words_are_in_ascending_order),
        cmocka_unit_test(test_fields_that_bpf_reads_are_within_the_sampled_words),
        cmocka_unit_test(test_small_fields_are_covered_and_absent_ones_skipped),
        cmocka_unit_test(test_words_beyond_what_bpf_reads_are_left_out),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
