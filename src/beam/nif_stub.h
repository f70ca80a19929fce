// SPDX-License-Identifier: Apache-2.0
/*
 * The code that Erlang functions become when a NIF is loaded for them: a stub that holds the
 * address of the C function (x86/instr_bif.cpp emit_call_nif, 25:967, 29:1059).
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "os/memory.h"

struct nif_stub {
    uint64_t called; /* what Erlang code calls: for a dirty NIF, what schedules it */
    uint64_t dirty;  /* what then runs on a dirty scheduler, or 0 */
};

/* False if the function that starts at `function` is no such stub. */
bool nif_stub_read(struct memory *memory, uint64_t function, struct nif_stub *stub);
