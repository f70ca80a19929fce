// SPDX-License-Identifier: Apache-2.0
/* The code of an imitated VM: a module with an Erlang function, and fragments of the JIT that are
 * treated in ways of their own. */
#pragma once

#include "../unit/fake_code.h"

enum { FUNCTION = 0x100 /* bytes of each */, FUNCTIONS = 8 };

static const struct fake_range imitated_code[FUNCTIONS] = {
    {0, FUNCTION, "m::codeHeader"},
    {1 * FUNCTION, 2 * FUNCTION, "m:f/1", {{1 * FUNCTION, 3, "m.erl"}}},
    {2 * FUNCTION, 3 * FUNCTION, "global::call_light_bif_shared"},
    {3 * FUNCTION, 4 * FUNCTION, "global::call_bif_shared"},
    {4 * FUNCTION, 5 * FUNCTION, "global::i_length_body_shared"},
    {5 * FUNCTION, 6 * FUNCTION, "global::process_main"},
    {6 * FUNCTION, 7 * FUNCTION, "global::return_trace_shared"},
    {7 * FUNCTION, 8 * FUNCTION, "global::normal_exit"},
};
