// SPDX-License-Identifier: Apache-2.0
/* All formats. Each is a file of its own that defines NAME_format. */
#pragma once

#include "output/output.h"

/* The formats that users choose, in the order of help. */
#define OUTPUT_FORMATS(FORMAT)                                                                     \
    FORMAT(bfr)                                                                                    \
    FORMAT(svg)                                                                                    \
    FORMAT(html)                                                                                   \
    FORMAT(perf)                                                                                   \
    FORMAT(folded)                                                                                 \
    FORMAT(speedscope)                                                                             \
    FORMAT(callgrind)                                                                              \
    FORMAT(fprof)                                                                                  \
    FORMAT(pprof)                                                                                  \
    FORMAT(otlp)                                                                                   \
    FORMAT(json)                                                                                   \
    FORMAT(text)                                                                                   \
    FORMAT(dot)                                                                                    \
    FORMAT(flame_prof) /* in perf.c: other event lines */

#define DECLARE_FORMAT(name) extern const struct output_format name##_format;
OUTPUT_FORMATS(DECLARE_FORMAT)
#undef DECLARE_FORMAT

/* Reports without a suffix, which commands request by the field `format`. */
extern const struct output_format changes_format; /* of a comparison: text */
extern const struct output_format prof_format;    /* tables of functions (output/prof/prof.h) */
extern const struct output_format summary_format; /* text for people, with all tables */
extern const struct output_format short_summary_format; /* the same with few rows */
extern const struct output_format stats_json_format;    /* for --stats */

/* Return the length of the format's longest suffix that the path ends in, or 0. */
size_t output_format_suffix(const struct output_format *format, const char *path);
