// SPDX-License-Identifier: Apache-2.0
/* Paths of functions that the assembler puts into this program's own file. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <unistd.h>

#include "native/reachability.h"
#include "native/mappings.h"
#include "native/memory.h"

/* clang-format off */
#define POINT(name) extern const uint8_t name[]
#define FUNCTION(name, ...) \
    POINT(name); \
    __asm__(".pushsection .text\n" #name ":\n.cfi_startproc\n" #__VA_ARGS__ "\n.cfi_endproc\n" \
            ".popsection\n")

FUNCTION(sweep, ret);
FUNCTION(other_sweep, ret);
FUNCTION(other, test %edi, %edi; je 1f; nop; 1: ret);
FUNCTION(aborts, push %rax; call other; ud2);
FUNCTION(aborts_too, push %rax; call aborts; 1: call other; jmp 1b);
FUNCTION(ends_in_other, test %edi, %edi; je other; call aborts);
FUNCTION(ends_somewhere, test %edi, %edi; je 1f; call aborts; 1: jmp *%rax);
FUNCTION(ends_in_nonsense, call aborts; .byte 6);

/* The code after each call that never returns is unrelated to it. */
FUNCTION(collects,
         test %esi, %esi; je 2f; call other;
         collects_allocated: test %rax, %rax; je 4f; nop; call sweep;
         collects_swept: call other; collects_copied: jmp 3f;
         collects_copying: call other; jmp collects_swept;
         2: call other; collects_decides: test %eax, %eax; js collects_copying;
         jne collects_allocated; call aborts;
         3: nop; collects_ends: call other; collects_at_end: ret;
         4: call aborts_too; collects_unrelated: jmp collects);
POINT(collects_allocated); POINT(collects_swept); POINT(collects_copied); POINT(collects_copying);
POINT(collects_decides); POINT(collects_unrelated); POINT(collects_ends); POINT(collects_at_end);

FUNCTION(loops, 1: call other; test %eax, %eax; jne 1b; loops_on: call sweep; jmp loops_on);
FUNCTION(sweeps_either, test %edi, %edi; je 1f; call sweep; ret; 1: call other_sweep; ret);
FUNCTION(ends_in_sweep, call other; jmp sweep);
FUNCTION(may_end_in_sweep, test %edi, %edi; je sweep; ret);
FUNCTION(sweeps_twice, call sweep; test %eax, %eax; jne 1f; jmp other_sweep; 1: ret);
FUNCTION(falls_off, test %edi, %edi; je 1f; call sweep; ret; 1: call other);
FUNCTION(calls_what_is_not_known, call *%rax; call *8(%rdi); ret);

FUNCTION(has_parts, test %edi, %edi; je part; has_parts_back: call other; ret);
FUNCTION(part, nop; call sweep; part_swept: jmp has_parts_back);
POINT(has_parts_back); POINT(part_swept);

/* Each function returns at once, or makes a call and then sweeps. */
#define SWEEPS_AFTER(name, what) FUNCTION(name, test %edi, %edi; je 1f; what; call sweep; 1: ret)
SWEEPS_AFTER(after_other, call other);
SWEEPS_AFTER(after_aborts, call aborts);
SWEEPS_AFTER(after_aborts_too, call aborts_too);
SWEEPS_AFTER(after_ends_in_other, call ends_in_other);
SWEEPS_AFTER(after_ends_somewhere, call ends_somewhere);
SWEEPS_AFTER(after_ends_in_nonsense, call ends_in_nonsense);
SWEEPS_AFTER(after_library, call getpid@plt);
SWEEPS_AFTER(after_abort, call abort@plt);
SWEEPS_AFTER(after_smashed_stack, call __stack_chk_fail@plt);
SWEEPS_AFTER(after_trap, int3);
SWEEPS_AFTER(after_system_call, syscall);
SWEEPS_AFTER(after_nonsense, .byte 6);

FUNCTION(jumps_by_table, jmp *8(%rdx, %rax, 8));
FUNCTION(jumps_by_register, notrack jmp *%rax);
FUNCTION(jumps_to_library, jmp *other(%rip));
FUNCTION(jumps_into_an_instruction, jmp jumps_by_table + 1);

FUNCTION(chain_8, ret); FUNCTION(chain_7, jmp chain_8); FUNCTION(chain_6, jmp chain_7);
FUNCTION(chain_5, jmp chain_6); FUNCTION(chain_4, jmp chain_5); FUNCTION(chain_3, jmp chain_4);
FUNCTION(chain_2, jmp chain_3); FUNCTION(chain_1, jmp chain_2); FUNCTION(chain_0, jmp chain_1);
/* clang-format on */

static struct memory *memory;
static struct mappings *mappings;

static int start(void **state)
{
    struct error error;

    (void)state;
    memory = memory_of_process(getpid());
    mappings = mappings_new(getpid(), memory, &error);
    return mappings ? 0 : -1;
}

static int stop(void **state)
{
    (void)state;
    mappings_free(mappings);
    memory_free(memory);
    return 0;
}

static uint64_t at(const uint8_t *code)
{
    return (uint64_t)(uintptr_t)code;
}

static bool is_sweep(void *context, uint64_t function)
{
    (void)context;
    return function == at(sweep) || function == at(other_sweep);
}

static struct reachability *ways_of(uint64_t function)
{
    struct mapping *mapping = mappings_find_code(mappings, at(sweep));

    assert_non_null(mapping);
    return reachability_new(mapping_file(mappings, mapping), function, is_sweep, NULL);
}

static enum call_ahead ahead_at(const uint8_t *function, const uint8_t *point)
{
    struct reachability *ways = ways_of(at(function));
    enum call_ahead ahead;

    assert_non_null(ways);
    ahead = reachability_call_ahead(ways, at(point));
    reachability_free(ways);
    return ahead;
}

static enum call_ahead ahead(const uint8_t *function)
{
    return ahead_at(function, function);
}

/* ---- */

static void test_call_is_ahead_always_perhaps_or_never(void **state)
{
    (void)state;
    assert_int_equal(ahead(collects), CALL_PERHAPS);
    assert_int_equal(ahead_at(collects, collects_decides), CALL_PERHAPS);
    assert_int_equal(ahead_at(collects, collects_allocated), CALL_ALWAYS);
    assert_int_equal(ahead_at(collects, collects_swept), CALL_NEVER);
    assert_int_equal(ahead_at(collects, collects_copied), CALL_NEVER);
    assert_int_equal(ahead_at(collects, collects_copying), CALL_NEVER);
    assert_int_equal(ahead_at(collects, collects_ends), CALL_NEVER);
    assert_int_equal(ahead_at(collects, collects_at_end), CALL_NEVER);
    assert_int_equal(ahead_at(collects, collects_unrelated), CALL_PERHAPS);
}

static void test_addresses_outside_of_the_function_are_unknown(void **state)
{
    (void)state;
    assert_int_equal(ahead_at(collects, collects + 1), CALL_UNKNOWN);
    assert_int_equal(ahead_at(collects, sweep), CALL_UNKNOWN);
    assert_null(ways_of(16));
}

static void test_all_branches_decide_if_a_call_is_ahead(void **state)
{
    (void)state;
    assert_int_equal(ahead(loops), CALL_ALWAYS);
    assert_int_equal(ahead(sweeps_either), CALL_ALWAYS);
    assert_int_equal(ahead(ends_in_sweep), CALL_ALWAYS);
    assert_int_equal(ahead(may_end_in_sweep), CALL_PERHAPS);
    assert_int_equal(ahead(falls_off), CALL_ALWAYS);
    assert_int_equal(ahead(calls_what_is_not_known), CALL_NEVER);
}

static void test_separate_parts_of_a_function_are_followed(void **state)
{
    (void)state;
    assert_int_equal(ahead(has_parts), CALL_PERHAPS);
    assert_int_equal(ahead_at(has_parts, has_parts_back), CALL_NEVER);
    assert_int_equal(ahead_at(has_parts, part), CALL_ALWAYS);
    assert_int_equal(ahead_at(has_parts, part_swept), CALL_NEVER);
}

/* A call that never returns hides the code after it; a call that may return does not. */
static void test_call_that_never_returns_hides_the_code_after_it(void **state)
{
    (void)state;
    assert_int_equal(ahead(after_other), CALL_PERHAPS);
    assert_int_equal(ahead(after_aborts), CALL_NEVER);
    assert_int_equal(ahead(after_aborts_too), CALL_NEVER);
    assert_int_equal(ahead(after_ends_in_other), CALL_PERHAPS);
    assert_int_equal(ahead(after_ends_somewhere), CALL_PERHAPS);
    assert_int_equal(ahead(after_ends_in_nonsense), CALL_PERHAPS);
    assert_int_equal(ahead(after_library), CALL_PERHAPS);
    assert_int_equal(ahead(after_abort), CALL_NEVER);
    assert_int_equal(ahead(after_smashed_stack), CALL_NEVER);
    assert_int_equal(ahead(after_trap), CALL_NEVER);
    assert_int_equal(ahead(after_system_call), CALL_PERHAPS);
}

static void test_any_call_may_follow_an_unknown_instruction(void **state)
{
    (void)state;
    assert_int_equal(ahead(after_nonsense), CALL_PERHAPS);
    assert_int_equal(ahead(jumps_by_table), CALL_PERHAPS);
    assert_int_equal(ahead(jumps_by_register), CALL_PERHAPS);
    assert_int_equal(ahead(jumps_to_library), CALL_NEVER);
    assert_int_equal(ahead(jumps_into_an_instruction), CALL_PERHAPS);
    assert_int_equal(ahead(chain_0), CALL_PERHAPS);
    assert_int_equal(ahead(chain_1), CALL_NEVER);
}

static bool calls_once(const uint8_t *function)
{
    struct reachability *ways = ways_of(at(function));
    bool once;

    assert_non_null(ways);
    once = reachability_calls_once(ways);
    reachability_free(ways);
    return once;
}

static void test_second_call_on_a_path_is_found(void **state)
{
    (void)state;
    assert_true(calls_once(collects));
    assert_true(calls_once(sweeps_either));
    assert_true(calls_once(other));
    assert_false(calls_once(loops));
    assert_false(calls_once(sweeps_twice));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_call_is_ahead_always_perhaps_or_never),
        cmocka_unit_test(test_addresses_outside_of_the_function_are_unknown),
        cmocka_unit_test(test_all_branches_decide_if_a_call_is_ahead),
        cmocka_unit_test(test_separate_parts_of_a_function_are_followed),
        cmocka_unit_test(test_call_that_never_returns_hides_the_code_after_it),
        cmocka_unit_test(test_any_call_may_follow_an_unknown_instruction),
        cmocka_unit_test(test_second_call_on_a_path_is_found),
    };

    return cmocka_run_group_tests(tests, start, stop);
}
