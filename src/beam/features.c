// SPDX-License-Identifier: Apache-2.0
/* Citations are as in vm_constants.h: the file below erts/emulator/beam, TAG:LINE. */
#include "beam/features.h"

#include <string.h>

#include "arch.h"

/* process_info(binary) omits them in 25.0 to 25.2 (erl_bif_info.c 25.2.3:2004), and lists them
 * later (27.3.4.1:2119). 24 has no such field. */
static bool omits_writable_binaries(const struct build *build)
{
    return build->otp_release == 25 && strverscmp(build->erts, "13.2") < 0;
}

/* OTP 25 and 26 got a new word before ErtsSchedulerData.reductions: seen in 26.2.5 and in 25.3.2 as
 * of April 2024, which were compiled (ERTS_CHECK_MONOTONIC_TIME, erl_process.h 27.3.4.1:711; not in
 * 25.2.3:707). */
static bool counters_may_move(int release)
{
    return release == 25 || release == 26;
}

struct features features_of(const struct build *build)
{
    int release = build->otp_release;

    return (struct features){
        /* _PID_DATA_SIZE (erl_term.h 25.2.3:590, 27.3.4.1:623) */
        .wide_pids = release >= 26,
        /* erl_term.h 25.2.3:133, 27.3.4.1:134; erl_bits.h 27.3.4.1:46, 27.3.4.1:136 */
        .binaries_in_bits = release >= 27,
        /* erl_process.h 25.2.3:1041, 27.3.4.1:1051 */
        .arity_is_byte = release >= 27,
        /* erl_process.h 25.2.3:1022, 27.3.4.1:1039; jit/x86/beam_asm.hpp 25.2.3:94, 27.3.4.1:97 */
        .fcalls_is_32_bits = release >= 27,
        /* dt_utag (erl_process.h 25.2.3:1070, 27.3.4.1:1153) */
        .vm_probes_at_end = release >= 27,
        .omits_writable_binaries = omits_writable_binaries(build),
        .counters_may_move = counters_may_move(release),
        /* NATIVE_ERLANG_STACK (jit/x86/beam_asm.hpp 25.2.3:74) */
        .native_stack = build->native_stack,
        /* From 27 on the JIT has no such stacks. The sources of 24 and 26 were not compared. */
        .apart_stacks_known = release == 25,
        /* the sources are at the registers (include/arch_x86_64.h) */
        .saved_top = release >= 25 ? JIT_E_SAVED : JIT_E_SAVED_24,
        /* jit/x86/instr_bif.cpp 24.3.4.4:381, 25.2.3:386, 27.3.4.1:394, 29.1.1:420 */
        .light_bif_export_in_fcalls = release <= 24,
        /* jit/x86/beam_asm.cpp 24.3.4.4:642; jit/beam_jit_metadata.cpp 25.2.3:62, 27.3.4.1:62,
         * 29.1.1:64 */
        .old_gdb_jit = release <= 24,
        /* Functions of 24 begin at another place. */
        .has_leaf_frames = release >= 25,
        /* {From, Alias, Message, ...} (erl_proc_sig_queue.c 25.2.3:1806, 27.3.4.1:2145), then
         * {From, Message, Alias} (29.1.1:2250) */
        .alias_message = release >= 28 ? 2 : 3,
        /* proc_queue_signal() (erl_proc_sig_queue.c 25.2.3:942, 27.3.4.1:1148) */
        .unbuffered_process_info = release <= 26,
        /* erl_process.c 25.2.3:8810, 27.3.4.1:8853 */
        .erts_thread_names = release >= 26,
    };
}
