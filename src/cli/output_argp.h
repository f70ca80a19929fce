// SPDX-License-Identifier: Apache-2.0
/* The options for outputs. The parser's input is a struct output_parser. */
#pragma once

#include <argp.h>

#include "cli/options.h"

struct output_parser {
    struct output_options *options;
    const struct output_format *next_format; /* of the next -o; NULL: by its name */
};

extern const struct argp output_argp;
