// SPDX-License-Identifier: Apache-2.0
#include "calls/match_pattern.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "calls/pattern_parser.h"
#include "util/alloc.h"

enum { DEPTH_MAX = 32 };

static uint16_t parse_term(struct pattern_parser *parser);

/* ---- lists and tuples ---- */

static uint16_t add_cons(struct pattern_parser *parser, uint16_t head, uint16_t tail)
{
    uint16_t id = head && tail ? pattern_parser_add(parser, MATCH_CONS) : NO_PART;

    if (!id)
        return NO_PART;
    pattern_parser_part(parser, id)->first = head;
    pattern_parser_part(parser, head)->next = tail;
    return id;
}

static uint16_t parse_list_rest(struct pattern_parser *parser)
{
    uint16_t head, tail;

    if (pattern_parser_take(parser, "|")) {
        tail = parse_term(parser);
        return tail && !pattern_parser_take(parser, "]") ? pattern_parser_bad(parser) : tail;
    }
    if (pattern_parser_take(parser, "]"))
        return pattern_parser_add(parser, MATCH_NIL);
    if (!pattern_parser_take(parser, ","))
        return pattern_parser_bad(parser);
    head = parse_term(parser);
    tail = head ? parse_list_rest(parser) : NO_PART;
    return add_cons(parser, head, tail);
}

static uint16_t parse_list(struct pattern_parser *parser)
{
    uint16_t head, tail;

    if (pattern_parser_take(parser, "]"))
        return pattern_parser_add(parser, MATCH_NIL);
    head = parse_term(parser);
    tail = head ? parse_list_rest(parser) : NO_PART;
    return add_cons(parser, head, tail);
}

/* A string is a list of characters. Its tail can follow: "abc" ++ _. */
static uint16_t parse_string(struct pattern_parser *parser)
{
    uint16_t head, tail;
    uint32_t character;

    if (*parser->at == '"') {
        parser->at++;
        return pattern_parser_take(parser, "++") ? parse_term(parser)
                                                 : pattern_parser_add(parser, MATCH_NIL);
    }
    if (!*parser->at || !pattern_parser_character(parser, &character))
        return pattern_parser_bad(parser);
    head = pattern_parser_add_small(parser, character);
    tail = head ? parse_string(parser) : NO_PART;
    return add_cons(parser, head, tail);
}

/* Parse the elements of part `id` up to `end`. False with error. */
static bool parse_elements(struct pattern_parser *parser, uint16_t id, const char *end)
{
    uint16_t last = NO_PART;

    if (pattern_parser_take(parser, end))
        return true;
    do {
        uint16_t element = parse_term(parser);

        if (!element)
            return false;
        if (pattern_parser_part(parser, id)->count == WIRE_MATCH_ELEMENTS) {
            pattern_parser_unmatched(parser, "more than 32 elements or arguments", parser->text);
            return false;
        }
        if (last)
            pattern_parser_part(parser, last)->next = element;
        else
            pattern_parser_part(parser, id)->first = element;
        last = element;
        pattern_parser_part(parser, id)->count++;
    } while (pattern_parser_take(parser, ","));
    if (pattern_parser_take(parser, end))
        return true;
    pattern_parser_bad(parser);
    return false;
}

/* ---- maps ---- */

/* Take a key, which is one term, and the pattern of its value. Return the key. */
static uint16_t parse_pair(struct pattern_parser *parser)
{
    uint16_t key, value;

    parser->in_key = true;
    key = parse_term(parser);
    parser->in_key = false;
    if (!key)
        return NO_PART;
    if (!pattern_parser_take(parser, ":="))
        return pattern_parser_bad(parser);
    value = parse_term(parser);
    if (!value)
        return NO_PART;
    pattern_parser_part(parser, key)->next = value;
    return key;
}

/* #{KEY := PATTERN, ...} matches maps that have these keys, whatever else they have. */
static uint16_t parse_map(struct pattern_parser *parser)
{
    uint16_t id = pattern_parser_add(parser, MATCH_MAP), last = NO_PART;

    if (!id || pattern_parser_take(parser, "}"))
        return id;
    do {
        uint16_t key = parse_pair(parser);

        if (!key)
            return NO_PART;
        if (last)
            pattern_parser_part(parser, last)->next = key;
        else
            pattern_parser_part(parser, id)->first = key;
        last = pattern_parser_part(parser, key)->next;
    } while (pattern_parser_take(parser, ","));
    return pattern_parser_take(parser, "}") ? id : pattern_parser_bad(parser);
}

/* ---- patterns ---- */

static uint16_t parse_one(struct pattern_parser *parser)
{
    const char *from = parser->at;
    uint16_t id;

    if (pattern_leaf_variable_size(from))
        return pattern_leaf_variable(parser);
    if (pattern_parser_take(parser, "<<"))
        return pattern_leaf_binary(parser);
    if (pattern_parser_take(parser, "{")) {
        id = pattern_parser_add(parser, MATCH_TUPLE);
        return id && parse_elements(parser, id, "}") ? id : NO_PART;
    }
    if (pattern_parser_take(parser, "["))
        return parse_list(parser);
    if (pattern_parser_take(parser, "\""))
        return parse_string(parser);
    if (!parser->in_key && pattern_parser_take(parser, "#{"))
        return parse_map(parser);
    if (!strncmp(from, "#{", 2))
        return pattern_parser_unmatched(parser, "a map in the key of a map", from);
    if (*from == '#')
        return pattern_parser_unmatched(parser, "a record, fun, port or reference", from);
    if (*from == '<')
        return pattern_leaf_pid(parser);
    if (!strncmp(from, "fun", 3) && !pattern_parser_is_name(from[3]))
        return pattern_parser_unmatched(parser, "a fun", from);
    if (islower((unsigned char)*from) || *from == '\'')
        return pattern_leaf_atom(parser);
    return pattern_leaf_number(parser);
}

static uint16_t parse_term(struct pattern_parser *parser)
{
    uint16_t id;

    pattern_parser_skip_space(parser);
    if (parser->depth == DEPTH_MAX)
        return pattern_parser_too_large(parser);
    parser->depth++;
    id = parse_one(parser);
    parser->depth--;
    return id;
}

/* Find the parenthesis behind the function's name, which can be in quotes. */
static const char *find_arguments(const char *text)
{
    bool quoted = false;

    for (; *text; text++) {
        if (*text == '\\' && text[1])
            text++;
        else if (*text == '\'')
            quoted = !quoted;
        else if (*text == '(' && !quoted)
            return text;
    }
    return NULL;
}

static int parse_name(struct pattern_parser *parser, size_t size)
{
    char *text = xcalloc(1, size + 1);
    int result;

    memcpy(text, parser->text, size);
    result = function_name_parse(text, &parser->pattern->name, parser->error);
    free(text);
    if (result)
        return -1;
    if (!parser->pattern->name.module_is_pattern && !parser->pattern->name.function_is_pattern &&
        parser->pattern->name.arity == FUNCTION_NAME_ANY_ARITY)
        return 0;
    pattern_parser_bad(parser);
    return -1;
}

int match_pattern_parse(const char *text, struct match_pattern *pattern, struct error *error)
{
    struct pattern_parser parser = {.text = text, .at = text, .pattern = pattern, .error = error};
    const char *arguments = find_arguments(text);

    pattern->count = 0;
    pattern_parser_add(&parser, MATCH_TUPLE);
    if (!arguments) {
        pattern_parser_bad(&parser);
        return -1;
    }
    if (parse_name(&parser, (size_t)(arguments - text)))
        return -1;
    parser.at = arguments + 1;
    if (!parse_elements(&parser, 0, ")"))
        return -1;
    pattern_parser_skip_space(&parser);
    if (*parser.at) {
        pattern_parser_bad(&parser);
        return -1;
    }
    pattern->name.arity = pattern->parts[0].count;
    return 0;
}
