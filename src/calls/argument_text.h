// SPDX-License-Identifier: Apache-2.0
/*
 * Arguments of a call as text: "(ok, [1,2|...], <<"abc"...>>)". "..." stands for what was not
 * copied.
 *
 * Shapes are "(ok, {integer, binary of 120 bytes}, list of 3)". Atoms are a part of them.
 */
#pragma once

#include <stdbool.h>

#include "beam/atom.h"
#include "beam/pid_encoding.h"
#include "util/buffer.h"
#include "wire_arguments.h"

/* Both are borrowed. */
struct argument_names {
    struct atoms *atoms;
    const struct pid_encoding *encoding;
};

/* Append the arguments. The copy may be anything. Return true if something was cut. */
bool argument_text(const struct argument_names *names, const struct wire_arguments *arguments,
                   bool shapes_only, struct buffer *text);
