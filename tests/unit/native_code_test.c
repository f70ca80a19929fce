// SPDX-License-Identifier: Apache-2.0
/* Calls in code that the assembler puts into this program's own file. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <unistd.h>

#include "native/elf_file.h"
#include "native/mappings.h"
#include "native/memory.h"
#include "native/native_code.h"

/* clang-format off */
#define FUNCTION(name, ...) \
    extern const uint8_t name[]; \
    __asm__(".pushsection .text\n" #name ":\n.cfi_startproc\n" #__VA_ARGS__ "\n.cfi_endproc\n" \
            ".popsection\n")

FUNCTION(called, ret);
FUNCTION(not_called, ret);
FUNCTION(first, ret);
FUNCTION(second, ret);
FUNCTION(third, ret);
FUNCTION(too_often, ret);
FUNCTION(calls_once, nop; call called; ret);
FUNCTION(jumps, jmp called);
FUNCTION(calls_twice, call called; calls_twice_again: call called; ret);
/* 140 KB contain two ends of what is searched at a time. One of them at least is in a call. */
FUNCTION(calls_by_turns,
         .rept 7000; call first; call second; call third; call called; .endr; ret);
FUNCTION(calls_too_often, .rept 8193; call too_often; .endr; ret);
/* clang-format on */

enum { TURNS = 7000, CALL_BYTES = 5 };

static struct elf_file *file;

struct seen {
    uint64_t addresses[2 * TURNS];
    size_t count;
};

static void see(void *context, uint64_t address)
{
    struct seen *seen = context;

    assert_true(seen->count < 2 * TURNS);
    seen->addresses[seen->count++] = address;
}

static struct seen *callers(const uint8_t *function)
{
    static struct seen seen;

    seen.count = 0;
    native_code_callers(file, (uint64_t)function, see, &seen);
    return &seen;
}

static bool has(const struct seen *seen, const uint8_t *address)
{
    for (size_t i = 0; i < seen->count; i++)
        if (seen->addresses[i] == (uint64_t)address)
            return true;
    return false;
}

/* Each call is found once, at its address in the process, and no jump. */
static void test_all_calls_of_a_function_are_found(void **state)
{
    const struct seen *seen = callers(called);

    (void)state;
    assert_int_equal(seen->count, TURNS + 3);
    assert_true(has(seen, calls_once + 1));
    assert_true(has(seen, calls_twice));
    assert_true(has(seen, calls_twice + 5));
    assert_false(has(seen, jumps));
    assert_int_equal(callers(not_called)->count, 0);
}

static void test_calls_across_the_border_of_two_reads_are_found(void **state)
{
    const uint8_t *const functions[] = {first, second, third};

    (void)state;
    for (size_t k = 0; k < 3; k++) {
        const struct seen *seen = callers(functions[k]);

        assert_int_equal(seen->count, TURNS);
        for (size_t i = 0; i < TURNS; i++)
            assert_int_equal(seen->addresses[i],
                             (uint64_t)calls_by_turns + (4 * i + k) * CALL_BYTES);
    }
}

/* The calls of a function that has more than an answer has room for are unknown, not fewer. */
static void test_too_many_calls_are_refused(void **state)
{
    (void)state;
    assert_int_equal(callers(too_often)->count, 0);
}

static void expect_function(const uint8_t *inside, const uint8_t *start, const uint8_t *end)
{
    uint64_t found_start, found_end;

    assert_true(native_code_find_function(file, (uint64_t)inside, &found_start, &found_end));
    assert_int_equal(found_start, (uint64_t)start);
    assert_int_equal(found_end, (uint64_t)end);
}

static void test_functions_are_found_again_when_their_table_was_freed(void **state)
{
    (void)state;
    expect_function(calls_once + 1, calls_once, jumps);
    native_code_forget(file);
    assert_null(file->functions);
    expect_function(calls_once + 1, calls_once, jumps);
    native_code_forget(file);
    native_code_forget(file);
    expect_function(jumps, jumps, calls_twice);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all_calls_of_a_function_are_found),
        cmocka_unit_test(test_calls_across_the_border_of_two_reads_are_found),
        cmocka_unit_test(test_too_many_calls_are_refused),
        cmocka_unit_test(test_functions_are_found_again_when_their_table_was_freed),
    };
    struct memory *memory = memory_of_process(getpid());
    struct error error;
    struct mappings *mappings = mappings_new(getpid(), memory, &error);
    int failed;

    if (mappings)
        file = mapping_file(mappings, mappings_find(mappings, (uint64_t)called));
    failed = file ? cmocka_run_group_tests(tests, NULL, NULL) : 1;
    mappings_free(mappings);
    memory_free(memory);
    return failed;
}
