// SPDX-License-Identifier: Apache-2.0
/* The options that select samples. The parser's input is a struct selection_options. */
#pragma once

#include <argp.h>

extern const struct argp selection_argp;
