// SPDX-License-Identifier: Apache-2.0
#include "calls/match_pattern.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "util/alloc.h"
#include "util/utf8.h"

enum {
    SHOWN_BYTES = 40, /* of a part that is refused */
    DEPTH_MAX = 32,
    SMALL_BITS = 60, /* of an integer that is no object */
    NO_PART = 0,     /* part 0 is no part of another */
};

struct pattern_parser {
    const char *text, *at;
    struct match_pattern *pattern;
    struct error *error;
    int depth;
};

static uint16_t parse_term(struct pattern_parser *parser);

/* ---- errors ---- */

static uint16_t bad(struct pattern_parser *parser)
{
    error_set(parser->error, ERROR_USAGE,
              "the pattern '%s' can't be read from '%.*s' on: write MODULE:FUNCTION(PATTERN, ...), "
              "such as m:f({ok, _}, 42)",
              parser->text, SHOWN_BYTES, parser->at);
    return NO_PART;
}

static uint16_t unmatched(struct pattern_parser *parser, const char *what, const char *from)
{
    error_set(parser->error, ERROR_USAGE,
              "the kernel can't match %s, from '%.*s' on: write _ in its place", what, SHOWN_BYTES,
              from);
    return NO_PART;
}

static uint16_t too_large(struct pattern_parser *parser)
{
    error_set(parser->error, ERROR_USAGE,
              "the pattern '%s' has more parts than the kernel matches: write _ for some",
              parser->text);
    return NO_PART;
}

/* ---- tokens ---- */

static void skip_space(struct pattern_parser *parser)
{
    while (isspace((unsigned char)*parser->at))
        parser->at++;
}

static bool take(struct pattern_parser *parser, const char *token)
{
    skip_space(parser);
    if (strncmp(parser->at, token, strlen(token)) != 0)
        return false;
    parser->at += strlen(token);
    return true;
}

static bool is_name_character(char character)
{
    return isalnum((unsigned char)character) || character == '_' || character == '@' ||
           (unsigned char)character >= 0x80;
}

static struct match_part *part(const struct pattern_parser *parser, uint16_t id)
{
    return &parser->pattern->parts[id];
}

static uint16_t add_part(struct pattern_parser *parser, enum match_kind kind)
{
    if (parser->pattern->count == MATCH_PARTS)
        return too_large(parser);
    parser->pattern->parts[parser->pattern->count] = (struct match_part){.kind = kind};
    return (uint16_t)parser->pattern->count++;
}

/* Take a character of a text in quotes, maybe escaped. False if it is none that can be read. */
static bool take_character(struct pattern_parser *parser, uint32_t *character)
{
    static const char escapes[] = "bdefnrstv", values[] = "\b\177\033\f\n\r \t\v";
    const char *found;
    size_t size;

    if (*parser->at == '\\' && parser->at[1]) {
        found = strchr(escapes, parser->at[1]);
        if (isdigit((unsigned char)parser->at[1]) || parser->at[1] == 'x' || parser->at[1] == '^' ||
            (unsigned char)parser->at[1] >= 0x80)
            return false;
        *character = found ? (unsigned char)values[found - escapes] : (unsigned char)parser->at[1];
        parser->at += 2;
        return true;
    }
    size = utf8_decode(parser->at, strlen(parser->at), character);
    parser->at += size;
    return size > 0;
}

/* ---- atoms and numbers ---- */

static uint16_t parse_atom(struct pattern_parser *parser)
{
    uint16_t id = add_part(parser, MATCH_ATOM);
    bool is_quoted = *parser->at == '\'';
    size_t used = 0;
    char *atom;

    if (!id)
        return NO_PART;
    atom = part(parser, id)->atom;
    parser->at += is_quoted;
    while (is_quoted ? *parser->at && *parser->at != '\'' : is_name_character(*parser->at)) {
        const char *from = parser->at;
        uint32_t character;
        size_t size;

        if (!take_character(parser, &character))
            return bad(parser);
        size = *from == '\\' ? 1 : (size_t)(parser->at - from);
        if (used + size >= FUNCTION_NAME_ATOM_BYTES)
            return bad(parser);
        if (*from == '\\')
            atom[used] = (char)character;
        else
            memcpy(atom + used, from, size);
        used += size;
    }
    if (is_quoted && *parser->at++ != '\'')
        return bad(parser);
    return id;
}

static uint16_t add_integer(struct pattern_parser *parser, int64_t value)
{
    uint16_t id = add_part(parser, MATCH_INTEGER);

    if (id)
        part(parser, id)->value = value;
    return id;
}

static bool is_small(long long value)
{
    return value >= -(1LL << (SMALL_BITS - 1)) && value < 1LL << (SMALL_BITS - 1);
}

/* 42, -7, 16#ff, $a. */
static uint16_t parse_number(struct pattern_parser *parser)
{
    const char *from = parser->at;
    bool is_negative = *from == '-';
    const char *digits = from + is_negative;
    unsigned long long value;
    uint32_t character;
    char *end;

    if (*from == '$') {
        parser->at++;
        return take_character(parser, &character) ? add_integer(parser, character) : bad(parser);
    }
    if (!isdigit((unsigned char)*digits))
        return bad(parser);
    value = strtoull(digits, &end, 10);
    if (*end == '#' && value >= 2 && value <= 36 && isalnum((unsigned char)end[1]))
        value = strtoull(end + 1, &end, (int)value);
    parser->at = end;
    if (*end == '.' && isdigit((unsigned char)end[1]))
        return unmatched(parser, "a float", from);
    if (is_name_character(*end) || *end == '#')
        return bad(parser);
    if (value > 1ULL << SMALL_BITS || !is_small(is_negative ? -(long long)value : (long long)value))
        return unmatched(parser, "an integer of more than 60 bits", from);
    return add_integer(parser, is_negative ? -(int64_t)value : (int64_t)value);
}

/* ---- lists and tuples ---- */

static uint16_t add_cons(struct pattern_parser *parser, uint16_t head, uint16_t tail)
{
    uint16_t id = head && tail ? add_part(parser, MATCH_CONS) : NO_PART;

    if (!id)
        return NO_PART;
    part(parser, id)->first = head;
    part(parser, head)->next = tail;
    return id;
}

static uint16_t parse_list_rest(struct pattern_parser *parser)
{
    uint16_t head, tail;

    if (take(parser, "|")) {
        tail = parse_term(parser);
        return tail && !take(parser, "]") ? bad(parser) : tail;
    }
    if (take(parser, "]"))
        return add_part(parser, MATCH_NIL);
    if (!take(parser, ","))
        return bad(parser);
    head = parse_term(parser);
    tail = head ? parse_list_rest(parser) : NO_PART;
    return add_cons(parser, head, tail);
}

static uint16_t parse_list(struct pattern_parser *parser)
{
    uint16_t head, tail;

    if (take(parser, "]"))
        return add_part(parser, MATCH_NIL);
    head = parse_term(parser);
    tail = head ? parse_list_rest(parser) : NO_PART;
    return add_cons(parser, head, tail);
}

/* A string is a list of characters. */
static uint16_t parse_string(struct pattern_parser *parser)
{
    uint16_t head, tail;
    uint32_t character;

    if (*parser->at == '"') {
        parser->at++;
        return add_part(parser, MATCH_NIL);
    }
    if (!*parser->at || !take_character(parser, &character))
        return bad(parser);
    head = add_integer(parser, character);
    tail = head ? parse_string(parser) : NO_PART;
    return add_cons(parser, head, tail);
}

/* Parse the elements of part `id` up to `end`. False with error. */
static bool parse_elements(struct pattern_parser *parser, uint16_t id, const char *end)
{
    uint16_t last = NO_PART;

    if (take(parser, end))
        return true;
    do {
        uint16_t element = parse_term(parser);

        if (!element)
            return false;
        if (part(parser, id)->count == WIRE_MATCH_ELEMENTS) {
            unmatched(parser, "more than 16 elements or arguments", parser->text);
            return false;
        }
        if (last)
            part(parser, last)->next = element;
        else
            part(parser, id)->first = element;
        last = element;
        part(parser, id)->count++;
    } while (take(parser, ","));
    if (take(parser, end))
        return true;
    bad(parser);
    return false;
}

/* ---- binaries ---- */

static bool add_byte(struct pattern_parser *parser, uint16_t id, unsigned int byte)
{
    struct match_part *binary = part(parser, id);

    if (byte > UINT8_MAX) {
        unmatched(parser, "a segment of a binary that is no byte", parser->at);
        return false;
    }
    if (binary->count == WIRE_MATCH_BYTES) {
        unmatched(parser, "more than 64 bytes of a binary", parser->text);
        return false;
    }
    binary->bytes[binary->count++] = (unsigned char)byte;
    return true;
}

/* The quote that ends the text; NULL if there is none. */
static const char *end_of_text(const char *text)
{
    for (; *text && *text != '"'; text++)
        if (*text == '\\' && text[1])
            text++;
    return *text ? text : NULL;
}

/* A text in quotes: characters are bytes, or UTF-8 if "/utf8" follows. */
static bool parse_segment_text(struct pattern_parser *parser, uint16_t id)
{
    static const char UTF8[] = "/utf8";
    const char *end = end_of_text(parser->at), *from;
    bool is_utf8 = end && !strncmp(end + 1, UTF8, sizeof(UTF8) - 1);
    uint32_t character;

    while (end && parser->at < end) {
        from = parser->at;
        if (!take_character(parser, &character)) {
            end = NULL;
        } else if (!is_utf8 || *from == '\\') {
            if (!add_byte(parser, id, character))
                return false;
        } else {
            for (; from < parser->at; from++)
                if (!add_byte(parser, id, (unsigned char)*from))
                    return false;
        }
    }
    if (!end) {
        bad(parser);
        return false;
    }
    parser->at = end + 1 + (is_utf8 ? sizeof(UTF8) - 1 : 0);
    return true;
}

static bool parse_segment(struct pattern_parser *parser, uint16_t id)
{
    const char *from;
    char *end;
    unsigned long value;

    skip_space(parser);
    from = parser->at;
    if (take(parser, "\"")) {
        if (!parse_segment_text(parser, id))
            return false;
    } else if (take(parser, "_/binary") || take(parser, "_/bytes")) {
        part(parser, id)->is_prefix = true;
    } else if (isdigit((unsigned char)*from)) {
        value = strtoul(from, &end, 10);
        parser->at = end;
        if (!add_byte(parser, id, value > UINT8_MAX ? UINT8_MAX + 1 : (unsigned int)value))
            return false;
    } else {
        unmatched(parser, "this segment of a binary", from);
        return false;
    }
    skip_space(parser);
    if (*parser->at == ':' || *parser->at == '/') {
        unmatched(parser, "the size or type of a segment", from);
        return false;
    }
    return true;
}

static uint16_t parse_binary(struct pattern_parser *parser)
{
    uint16_t id = add_part(parser, MATCH_BINARY);

    if (!id || take(parser, ">>"))
        return id;
    do {
        if (part(parser, id)->is_prefix)
            return unmatched(parser, "what follows the rest of a binary", parser->at);
        if (!parse_segment(parser, id))
            return NO_PART;
    } while (take(parser, ","));
    return take(parser, ">>") ? id : bad(parser);
}

/* ---- patterns ---- */

static uint16_t parse_one(struct pattern_parser *parser)
{
    const char *from = parser->at;
    uint16_t id;

    if (*from == '_' && !is_name_character(from[1])) {
        parser->at++;
        return add_part(parser, MATCH_ANY);
    }
    if (take(parser, "<<"))
        return parse_binary(parser);
    if (take(parser, "{")) {
        id = add_part(parser, MATCH_TUPLE);
        return id && parse_elements(parser, id, "}") ? id : NO_PART;
    }
    if (take(parser, "["))
        return parse_list(parser);
    if (take(parser, "\""))
        return parse_string(parser);
    if (take(parser, "#{"))
        return unmatched(parser, "a map", from);
    if (*from == '#')
        return unmatched(parser, "a record, fun, port or reference", from);
    if (*from == '<')
        return unmatched(parser, "a pid", from);
    if (*from == '_' || isupper((unsigned char)*from))
        return unmatched(parser, "a variable", from);
    if (islower((unsigned char)*from) || *from == '\'')
        return parse_atom(parser);
    return parse_number(parser);
}

static uint16_t parse_term(struct pattern_parser *parser)
{
    uint16_t id;

    skip_space(parser);
    if (parser->depth == DEPTH_MAX)
        return too_large(parser);
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
    bad(parser);
    return -1;
}

int match_pattern_parse(const char *text, struct match_pattern *pattern, struct error *error)
{
    struct pattern_parser parser = {.text = text, .at = text, .pattern = pattern, .error = error};
    const char *arguments = find_arguments(text);

    pattern->count = 0;
    add_part(&parser, MATCH_TUPLE);
    if (!arguments) {
        bad(&parser);
        return -1;
    }
    if (parse_name(&parser, (size_t)(arguments - text)))
        return -1;
    parser.at = arguments + 1;
    if (!parse_elements(&parser, 0, ")"))
        return -1;
    skip_space(&parser);
    if (*parser.at) {
        bad(&parser);
        return -1;
    }
    pattern->name.arity = pattern->parts[0].count;
    return 0;
}
