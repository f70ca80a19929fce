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

/* The same where Erlang stacks are apart (include/arch.h). */
enum jit_stack jit_code_stack_apart_after_call(const uint8_t *bytes, size_t size);

/* True if the bytes in front of `return_address` are a call of an Erlang function at a known
 * address, where Erlang stacks are apart. *target becomes that address. */
bool jit_code_apart_call(const uint8_t bytes[JIT_APART_CALL_BYTES], uint64_t return_address,
                         uint64_t *target);

/* True if the bytes at the entry of an Erlang function are the stub of a NIF: *called and *dirty
 * become the words of its ErtsNativeFunc (hooks/hooks.h). */
bool jit_code_is_nif_stub(const uint8_t bytes[JIT_NIF_STUB_BYTES], uint64_t *called,
                          uint64_t *dirty);
