// SPDX-License-Identifier: Apache-2.0
/* What the files that read patterns (match_pattern.h) share: errors, tokens, parts. */
#pragma once

#include "calls/match_pattern.h"

enum { NO_PART = 0 /* part 0 is no part of another */ };

struct pattern_parser {
    const char *text, *at;
    struct match_pattern *pattern;
    struct error *error;
    int depth;
    bool in_key; /* of a map */
    bool in_binary;
    struct {
        const char *name;
        size_t size;
    } variables[MATCH_PARTS]; /* without `_` */
    size_t variable_count;
};

/* Set the error, and return NO_PART. `what` is the part at `from` that the kernel can't match. */
uint16_t pattern_parser_bad(struct pattern_parser *parser);
uint16_t pattern_parser_unmatched(struct pattern_parser *parser, const char *what,
                                  const char *from);
uint16_t pattern_parser_too_large(struct pattern_parser *parser);

/* Skip space, and the token if it is next. Return true if it was. */
bool pattern_parser_take(struct pattern_parser *parser, const char *token);
void pattern_parser_skip_space(struct pattern_parser *parser);

/* True for the characters of atoms and variables. */
bool pattern_parser_is_name(char character);

/* Take a character of a text in quotes, maybe escaped. False if it is none that can be read. */
bool pattern_parser_character(struct pattern_parser *parser, uint32_t *character);

/* Append a part. Return its number, or NO_PART with error; so do all functions that read one. */
uint16_t pattern_parser_add(struct pattern_parser *parser, enum match_kind kind);
uint16_t pattern_parser_add_small(struct pattern_parser *parser, int64_t value);
struct match_part *pattern_parser_part(const struct pattern_parser *parser, uint16_t id);

/* ---- pattern_leaf.c ---- */

/* The bytes of the variable that begins here, `_` too; 0 if none does. */
size_t pattern_leaf_variable_size(const char *text);

/* Parts without parts, which begin here. */
uint16_t pattern_leaf_variable(struct pattern_parser *parser);
uint16_t pattern_leaf_atom(struct pattern_parser *parser);
uint16_t pattern_leaf_number(struct pattern_parser *parser);
uint16_t pattern_leaf_pid(struct pattern_parser *parser);

/* A binary, behind "<<". */
uint16_t pattern_leaf_binary(struct pattern_parser *parser);
