// SPDX-License-Identifier: Apache-2.0
/*
 * The readers of text formats. Each reads a text from its first line on into a recording in an
 * unnamed file in `directory`, whose descriptor is handed out, -1 with error. Bad text is one error
 * that names its line.
 */
#pragma once

#include "input/text.h"

/* What a line may count: sums of as many lines as there can be do not overflow. */
#define WEIGHT_MOST ((uint64_t)1 << 53)

/* perf-script text: perf's own, beamflame's (output/perf.c) and flame_prof's
 * (output/flame_prof.h). */
int perf_text_import(struct text *text, const char *directory, struct error *error);

/* Folded stacks. */
int folded_text_import(struct text *text, const char *directory, struct error *error);

/* Whether a line could be one of folded stacks. */
bool folded_line(struct span line);
