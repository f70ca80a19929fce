// SPDX-License-Identifier: Apache-2.0
/*
 * What stacks are made of, in the tables that pprof's format has and those that come from it:
 * texts, functions, mappings of files, and locations, each once and numbered from 1, in the order
 * they are met. 0 stands for none; of texts it is the empty one.
 */
#pragma once

#include "profile/string_table.h"
#include "profile/view.h"
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

/* Number of a text. */
uint32_t code_table_text(struct code_table *table, const char *text);

/* Make the mapping of the target's executable, as far as it has code in the profile: readers take
 * the first one for what was profiled. */
void code_table_begin_with(struct code_table *table, target_id target);

/* Number of the location of a frame. */
uint32_t code_table_location(struct code_table *table, const struct view_frame *frame);

/* What a mapping is of. */
const struct module *code_table_module(const struct code_table *table, uint32_t mapping);
