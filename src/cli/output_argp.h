// SPDX-License-Identifier: Apache-2.0
/* The options that say what is written; the input is a struct output_parser. */
#pragma once

#include <argp.h>

#include "cli/options.h"

struct output_parser {
    struct output_options *options;
    const struct output_format *next_format; /* of the next -o; NULL: that of its name */
};

extern const struct argp output_argp;
