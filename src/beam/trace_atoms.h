// SPDX-License-Identifier: Apache-2.0
/*
 * The atoms by which OpenTelemetry keeps the current span in process dictionaries (bpf/trace.h). A
 * VM has them once it has loaded opentelemetry_api. An atom never changes or disappears, so this
 * module looks at each atom once.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "beam/vm.h"
#include "wire.h"

/* All zero at first. */
struct trace_atoms {
    uint64_t seen;                /* atoms that were looked at */
    struct wire_trace_atoms wire; /* those that were found; the others are 0 */
};

/* Look at atoms that are new since the last look, at most at 65,536 of them. True once all three
 * are found. */
bool trace_atoms_look(const struct vm *vm, struct trace_atoms *atoms);
