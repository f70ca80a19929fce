// SPDX-License-Identifier: Apache-2.0
/* The formats, each in the file of its name. The last three are reports without a suffix: a request
 * selects them by its field `format`. */
#pragma once

#include "output/output.h"

/* Return the length of the format's longest suffix that the path ends in, or 0. */
size_t output_suffix_of(const struct output_format *format, const char *path);

extern const struct output_format perf_format;
extern const struct output_format flame_prof_format; /* in perf.c: other event lines */
extern const struct output_format folded_format;
extern const struct output_format svg_format;
extern const struct output_format speedscope_format;
extern const struct output_format callgrind_format;
extern const struct output_format pprof_format;
extern const struct output_format otlp_format;
extern const struct output_format json_format; /* in json_lines.c */
extern const struct output_format text_format;
extern const struct output_format dot_format;
extern const struct output_format html_format;
extern const struct output_format bfr_format;

extern const struct output_format changes_format;    /* of a comparison: text */
extern const struct output_format summary_format;    /* text for the terminal */
extern const struct output_format stats_json_format; /* for --stats */
