// SPDX-License-Identifier: Apache-2.0
#include "hooks/hooks.h"

#include <stdlib.h>
#include <string.h>

#include "arch/code_bytes.h"
#include "native/memory.h"
#include "util/alloc.h"

enum { CALLS_MAX = 8 };

/* The calls of each fragment, in order; NULL where the name is unknown. Taken from OTP 27.3, which
 * exports the names. In 29.1 each of these fragments makes the same number of calls in the same
 * order. */
static const struct known {
    const char *fragment;
    const char *calls[CALLS_MAX];
    unsigned count;
} knowns[] = {
#define CALLS(...)                                                                                 \
    .calls = {__VA_ARGS__}, .count = sizeof((const char *[]){__VA_ARGS__}) / sizeof(const char *)
    {"global::arith_compare_shared", CALLS(NULL, "erts_cmp_compound")},
    {"global::arith_eq_shared", CALLS("erts_cmp_compound")},
    {"global::bif_nif_epilogue", CALLS("erts_printable_return_address")},
    {"global::bs_add_shared", CALLS("beam_jit_bs_add_argument_error")},
    {"global::bs_create_bin_error_shared", CALLS("beam_jit_bs_construct_fail_info")},
    {"global::bs_size_check_shared", CALLS("beam_jit_bs_field_size_argument_error")},
    {"global::bs_get_tail_shared", CALLS("erts_build_sub_bitstring")},
    {"global::bs_init_bits_shared", CALLS("beam_jit_bs_init_bits")},
    {"global::bs_init_bits_legacy_shared", CALLS("beam_jit_bs_init_bits")},
    {"global::call_bif_shared", CALLS("beam_jit_call_bif", "erts_printable_return_address")},
    {"global::call_light_bif_shared", CALLS("erts_gc_after_bif_call_lhf")},
    {"global::call_nif_early", CALLS("erts_call_nif_early")},
    {"global::call_nif_shared", CALLS("beam_jit_call_nif", "erts_printable_return_address")},
    {"global::catch_end_shared", CALLS("add_stacktrace")},
    {"global::dispatch_save_calls_export", CALLS("save_calls")},
    {"global::export_trampoline", CALLS("call_error_handler")},
    {"global::garbage_collect", CALLS("erts_garbage_collect_nobump")},
    {"global::generic_bp_global", CALLS("erts_generic_breakpoint")},
    {"global::generic_bp_local", CALLS("erts_generic_breakpoint")},
    {"global::debug_bp", CALLS("call_error_handler")},
    {"global::fconv_shared", CALLS("big_to_double")},
    {"global::handle_call_fun_error", CALLS("beam_jit_build_argument_list")},
    {"global::i_band_body_shared", CALLS("erts_band")},
    {"global::i_band_guard_shared", CALLS("erts_band")},
    {"global::i_bif_body_shared", CALLS("ubif2mfa")},
    {"global::i_bor_body_shared", CALLS("erts_bor")},
    {"global::i_bor_guard_shared", CALLS("erts_bor")},
    {"global::i_bnot_body_shared", CALLS("erts_bnot")},
    {"global::i_bnot_guard_shared", CALLS("erts_bnot")},
    {"global::i_bsl_guard_shared", CALLS("erts_bsl")},
    {"global::i_bsl_body_shared", CALLS("erts_bsl")},
    {"global::i_bsr_guard_shared", CALLS("erts_bsr")},
    {"global::i_bsr_body_shared", CALLS("erts_bsr")},
    {"global::i_bxor_body_shared", CALLS("erts_bxor")},
    {"global::i_bxor_guard_shared", CALLS("erts_bxor")},
    {"global::i_get_map_element_shared", CALLS("get_map_element")},
    {"global::i_load_nif_shared", CALLS("beam_jit_load_nif")},
    {"global::i_length_guard_shared", CALLS("erts_trapping_length_1")},
    {"global::i_length_body_shared", CALLS("erts_trapping_length_1")},
    {"global::i_loop_rec_shared", CALLS("erts_proc_sig_receive_helper", "beam_jit_decode_dist")},
    {"global::int_div_rem_body_shared", CALLS("erts_int_div_rem")},
    {"global::int_div_rem_guard_shared", CALLS("erts_int_div_rem")},
    {"global::is_in_range_shared", CALLS("erts_cmp_compound", "erts_cmp_compound")},
    {"global::is_ge_lt_shared", CALLS("erts_cmp_compound", "erts_cmp_compound")},
    {"global::minus_body_shared", CALLS("erts_mixed_minus")},
    {"global::minus_guard_shared", CALLS("erts_mixed_minus")},
    {"global::mul_add_body_shared", CALLS("erts_mul_add", "erts_mixed_times")},
    {"global::mul_add_guard_shared", CALLS("erts_mixed_times", "erts_mixed_plus")},
    {"global::new_map_shared", CALLS("erts_gc_new_map")},
    {"global::plus_body_shared", CALLS("erts_mixed_plus")},
    {"global::plus_guard_shared", CALLS("erts_mixed_plus")},
    {"global::process_exit", CALLS("handle_error")},
    {"global::process_main",
     CALLS("copy_out_registers", "check_monitor_long_schedule", "erts_schedule",
           "erts_timestamp_millis", "copy_in_registers", NULL)},
    {"global::raise_exception_shared", CALLS("handle_error")},
    {"global::raise_shared", CALLS("erts_sanitize_freason")},
    {"global::unary_minus_body_shared", CALLS("erts_unary_minus")},
    {"global::unary_minus_guard_shared", CALLS("erts_unary_minus")},
    {"global::unloaded_fun", CALLS("beam_jit_handle_unloaded_fun")},
    {"global::update_map_assoc_shared", CALLS("erts_gc_update_map_assoc")},
    {"global::update_map_exact_guard_shared", CALLS("erts_gc_update_map_exact")},
    {"global::update_map_exact_body_shared", CALLS("erts_gc_update_map_exact")},
    {"global::update_map_single_assoc_shared", CALLS("erts_maps_put")},
    {"global::update_map_single_exact_body_shared", CALLS("erts_maps_update")},
#undef CALLS
};

/* Find the functions outside of the JIT's code that the fragment calls through a literal. Returns
 * their number, at most CALLS_MAX. */
static unsigned find_calls(struct vm *vm, struct code *code, const struct code_place *fragment,
                           uint64_t *calls)
{
    struct code_bytes all = {.size = fragment->end - fragment->start, .address = fragment->start};
    uint8_t *bytes = xmalloc(all.size);
    unsigned count = 0;
    uint64_t word, target;

    all.bytes = bytes;
    if (!memory_read(vm->memory, all.address, bytes, all.size))
        all.size = 0;
    for (size_t at = 0; count < CALLS_MAX && code_bytes_next_literal_call(&all, &at, &word); at++)
        if (memory_read_u64(vm->memory, word, &target) &&
            mappings_find_code(vm->mappings, target) && !code_contains(code, target))
            calls[count++] = target;
    free(bytes);
    return count;
}

void fragment_calls_each(struct vm *vm, struct code *code, fragment_calls_visit visit,
                         void *context)
{
    for (size_t i = 0; i < sizeof(knowns) / sizeof(*knowns); i++) {
        const struct known *known = &knowns[i];
        uint64_t calls[CALLS_MAX];
        struct code_place fragment;
        unsigned count;

        if (!code_find_fragment(code, known->fragment, &fragment))
            continue;
        count = find_calls(vm, code, &fragment, calls);
        if (count != known->count)
            continue;
        for (unsigned c = 0; c < count; c++)
            if (known->calls[c])
                visit(context, calls[c], known->calls[c]);
    }
}
