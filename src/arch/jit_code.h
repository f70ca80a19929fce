// SPDX-License-Identifier: Apache-2.0
/* Shapes of the code that the VM's JIT makes for this CPU. arch/stack_steps.h has what its
 * instructions do to the Erlang stack. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "arch.h"

/* Where JIT code takes the Erlang stack pointer from after a call of C code. */
enum jit_stack {
    JIT_STACK_UNKNOWN,
    JIT_STACK_IN_PROCESS,  /* Process.stop */
    JIT_STACK_IN_REGISTER, /* a register that C code preserves */
};

/* Search the code behind such a call. `saved` is that register. */
enum jit_stack jit_code_stack_after_call(const uint8_t *bytes, size_t size,
                                         enum cpu_register saved);

/* True if the bytes at the entry of an Erlang function are the stub of a NIF: *called and *dirty
 * become the words of its ErtsNativeFunc (hooks/hooks.h). */
bool jit_code_is_nif_stub(const uint8_t bytes[JIT_NIF_STUB_BYTES], uint64_t *called,
                          uint64_t *dirty);
