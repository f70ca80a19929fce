// SPDX-License-Identifier: Apache-2.0
/* The trace that a process works for, which OpenTelemetry keeps in its dictionary. bpf/trace.h
 * reads it in the kernel, and describes the terms. */
#pragma once

#include <stdint.h>

#include "beam/vm.h"
#include "wire.h"

enum process_trace {
    PROCESS_TRACE_NONE,
    PROCESS_TRACE_FOUND,
    PROCESS_TRACE_UNKNOWN, /* terms have another form, can't be read, or have changed meanwhile */
};

/* Read the trace of the process at `address`, whose heap must not change: no thread runs it, or one
 * that waits in the kernel. `process` is a copy of its struct. */
enum process_trace process_trace_read(const struct vm *vm, const struct wire_trace_atoms *atoms,
                                      uint64_t address, const uint8_t *process,
                                      struct wire_trace *trace);
