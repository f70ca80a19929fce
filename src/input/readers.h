// SPDX-License-Identifier: Apache-2.0
/*
 * The readers of text formats. Each reads a text from its first line on into a recording in an
 * unnamed file in `directory`. Each returns the descriptor of that file, or -1 with error. Bad text
 * is an error that names the line.
 */
#pragma once

#include "input/input_text.h"

/* The largest count of a line. A sum over as many lines as there can be does not overflow. */
#define WEIGHT_MOST ((uint64_t)1 << 53)

/* perf-script text: of perf, of beamflame (output/perf.c) and of flame_prof
 * (output/flame_prof.h). */
int perf_text_import(struct input_text *text, const char *directory, struct error *error);

/* Folded stacks. */
int folded_text_import(struct input_text *text, const char *directory, struct error *error);

/* True if the line could be a folded stack. */
bool folded_text_line(struct span line);
