// SPDX-License-Identifier: Apache-2.0
/*
 * The tables of pprof's format and of formats derived from it: texts, functions, mappings of files,
 * and locations. An entry is stored once and numbered from 1, in the order of first use. Number 0
 * is "none"; text 0 is the empty text.
 */
#pragma once

#include "profile/string_table.h"
#include "view/view.h"
#include "util/intern.h"

struct code_function {
    uint32_t name, file; /* texts */
};

struct code_location {
    uint64_t address;
    uint32_t function, line, mapping;
    uint32_t kind; /* enum frame_kind */
};

struct code_table {
    const struct profile *profile;
    struct string_table texts;
    struct intern functions, locations;
    struct intern mappings; /* of module_id */
};

void code_table_init(struct code_table *table, const struct profile *profile);
void code_table_free(struct code_table *table);

/* Return the number of a text, which is added if it is new. */
uint32_t code_table_text(struct code_table *table, const char *text);

/* Add the mapping of the target's executable first, if the profile has frames in it: readers take
 * the first mapping for the profiled program. */
void code_table_begin_with(struct code_table *table, target_id target);

/* Return the number of a frame's location, which is added if it is new. */
uint32_t code_table_location(struct code_table *table, const struct view_frame *frame);

enum { CODE_STACK_MAX = 1000 };

/* Store the locations of a stack, leaf first. Return their number. `frames`: root first. If there
 * are more than CODE_STACK_MAX, one frame in the middle replaces as many as needed, and says how
 * many: Pyroscope would cut off the leaves (pkg/validation/validate.go:346, v2.2.0). */
size_t code_table_stack(struct code_table *table, const struct view_frame *frames, size_t count,
                        uint32_t locations[CODE_STACK_MAX]);

/* Return the module of a mapping. */
const struct module *code_table_module(const struct code_table *table, uint32_t mapping);
