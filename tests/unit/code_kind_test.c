// SPDX-License-Identifier: Apache-2.0
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#include "beam/code_kind.h"

/* Names of the JIT's list in OTP 25, 27 and 29. */
static const struct {
    const char *symbol;
    enum fragment fragment;
} fragments[] = {
    {"global::process_main", FRAGMENT_PROCESS_MAIN},
    {"erts_beamasm:run_process/3", FRAGMENT_RUN_PROCESS},
    {"global::garbage_collect", FRAGMENT_GARBAGE_COLLECT},
    {"global::i_test_yield_shared", FRAGMENT_TEST_YIELD},
    {"global::dispatch_return", FRAGMENT_DISPATCH_RETURN},
    {"global::call_light_bif_shared", FRAGMENT_CALL_LIGHT_BIF},
    {"global::call_bif_shared", FRAGMENT_CALL_BIF},
    {"global::call_nif_shared", FRAGMENT_CALL_NIF},
    {"global::call_nif_early", FRAGMENT_CALL_NIF},
    {"global::call_nif_yield_helper", FRAGMENT_CALL_NIF},
    {"global::bs_init_bits_shared", FRAGMENT_INIT_BITS},
    {"global::bs_init_bits_legacy_shared", FRAGMENT_INIT_BITS},
    {"global::i_length_body_shared", FRAGMENT_LENGTH},
    {"global::i_length_guard_shared", FRAGMENT_LENGTH},
    /* tracing */
    {"erts_beamasm:return_to_trace/0", FRAGMENT_TRACE},
    {"erts_beamasm:return_time_trace/0", FRAGMENT_TIME_TRACE},
    {"erts_beamasm:return_trace/0", FRAGMENT_RETURN_TRACE},
    {"erts_beamasm:exception_trace/0", FRAGMENT_RETURN_TRACE},
    {"erts_beamasm:call_trace_return/0", FRAGMENT_RETURN_TRACE},
    {"global::some_new_trace_shared", FRAGMENT_TRACE},
    /* fragments that never return */
    {"global::raise_exception", FRAGMENT_RAISE},
    {"global::raise_exception_null_exp", FRAGMENT_RAISE},
    {"global::raise_shared", FRAGMENT_RAISE},
    {"global::handle_hd_error", FRAGMENT_RAISE},
    {"global::handle_map_get_badkey", FRAGMENT_RAISE},
    {"global::process_exit", FRAGMENT_RAISE},
    {"global::bs_create_bin_error_shared", FRAGMENT_RAISE},
    {"global::handle_call_fun_error", FRAGMENT_OTHER},
    /* no more than others */
    {"global::plus_body_shared", FRAGMENT_OTHER},
    {"global::bs_create_bin_shared", FRAGMENT_OTHER},
    {"global::check_float_error", FRAGMENT_OTHER},
    {"global::dispatch_bif", FRAGMENT_OTHER},
    {"global::bif_nif_epilogue", FRAGMENT_OTHER},
    {"global::export_trampoline", FRAGMENT_OTHER},
    {"erts_beamasm:normal_exit/0", FRAGMENT_OTHER},
};

/* The name of a fragment shows how the fragment uses the stack. */
static void test_name_of_a_fragment_gives_its_kind(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(fragments) / sizeof(*fragments); i++)
        if (code_kind_of_fragment(fragments[i].symbol) != fragments[i].fragment)
            fail_msg("%s: %d", fragments[i].symbol,
                     (int)code_kind_of_fragment(fragments[i].symbol));
}

/* Functions, fragments and headers are distinguished by their names. All of erts_beamasm belongs to
 * the JIT, although its names are those of functions. */
static void test_names_distinguish_functions_fragments_and_headers(void **state)
{
    (void)state;
    assert_int_equal(code_kind_of("lists", "lists:map/2"), CODE_FUNCTION);
    assert_int_equal(code_kind_of("global", "global:register_name/2"), CODE_FUNCTION);
    assert_int_equal(code_kind_of("global", "global::call_bif_shared"), CODE_FRAGMENT);
    assert_int_equal(code_kind_of("erts_beamasm", "erts_beamasm:run_process/3"), CODE_FRAGMENT);
    assert_int_equal(code_kind_of("lists", "lists::codeHeader"), CODE_HEADER);
    assert_int_equal(code_kind_of("global", "global::codeFooter"), CODE_HEADER);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_name_of_a_fragment_gives_its_kind),
        cmocka_unit_test(test_names_distinguish_functions_fragments_and_headers),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
