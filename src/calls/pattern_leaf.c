// SPDX-License-Identifier: Apache-2.0
/* Parts of patterns that have no parts: variables, atoms, numbers, pids, binaries. */
#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "calls/pattern_parser.h"

enum {
    SMALL_BITS = 60, /* of an integer that is no object */
    TEN = 10,
    BASE_MAX = 36,
};

/* ---- variables ---- */

size_t pattern_leaf_variable_size(const char *text)
{
    size_t size = 0;

    if (*text == '_' || isupper((unsigned char)*text))
        while (pattern_parser_is_name(text[size]))
            size++;
    return size;
}

/* Take a variable. A second one of the same name would stand for an equal term, however deep, which
 * is refused. Return false with error. */
static bool take_variable(struct pattern_parser *parser)
{
    size_t size = pattern_leaf_variable_size(parser->at);
    const char *name = parser->at;

    for (size_t i = 0; i < parser->variable_count; i++)
        if (parser->variables[i].size == size && !memcmp(parser->variables[i].name, name, size)) {
            parser->in_binary = false; /* _ can stand in place of the variable itself */
            pattern_parser_unmatched(parser, "a variable that occurs twice", name);
            return false;
        }
    parser->at += size;
    if (size == 1 && *name == '_')
        return true;
    if (parser->variable_count == MATCH_PARTS) {
        pattern_parser_too_large(parser);
        return false;
    }
    parser->variables[parser->variable_count].name = name;
    parser->variables[parser->variable_count++].size = size;
    return true;
}

uint16_t pattern_leaf_variable(struct pattern_parser *parser)
{
    if (parser->in_key)
        return pattern_parser_unmatched(parser, "_ or a variable in the key of a map", parser->at);
    return take_variable(parser) ? pattern_parser_add(parser, MATCH_ANY) : NO_PART;
}

/* ---- atoms ---- */

uint16_t pattern_leaf_atom(struct pattern_parser *parser)
{
    uint16_t id = pattern_parser_add(parser, MATCH_ATOM);
    bool is_quoted = *parser->at == '\'';
    size_t used = 0;
    char *atom;

    if (!id)
        return NO_PART;
    atom = pattern_parser_part(parser, id)->atom;
    parser->at += is_quoted;
    while (is_quoted ? *parser->at && *parser->at != '\'' : pattern_parser_is_name(*parser->at)) {
        const char *from = parser->at;
        uint32_t character;
        size_t size;

        if (!pattern_parser_character(parser, &character))
            return pattern_parser_bad(parser);
        size = *from == '\\' ? 1 : (size_t)(parser->at - from);
        if (used + size >= FUNCTION_NAME_ATOM_BYTES)
            return pattern_parser_bad(parser);
        if (*from == '\\')
            atom[used] = (char)character;
        else
            memcpy(atom + used, from, size);
        used += size;
    }
    if (is_quoted && *parser->at != '\'')
        return pattern_parser_bad(parser);
    parser->at += is_quoted;
    return id;
}

/* ---- numbers ---- */

static bool is_small(uint64_t value, bool is_negative)
{
    return value < (1ULL << (SMALL_BITS - 1)) + is_negative;
}

/* Multiply the number in `words`, and add a digit. False if it needs more words. */
static bool add_digit(uint64_t *words, uint32_t *count, unsigned int base, unsigned int digit)
{
    enum { HALF = 32 };
    uint64_t carry = digit;

    for (uint32_t i = 0; i < *count; i++) {
        uint64_t low = (words[i] & UINT32_MAX) * base + carry;
        uint64_t high = (words[i] >> HALF) * base + (low >> HALF);

        words[i] = high << HALF | (low & UINT32_MAX);
        carry = high >> HALF;
    }
    if (!carry)
        return true;
    if (*count == MATCH_WORDS)
        return false;
    words[(*count)++] = carry;
    return true;
}

static unsigned int digit_of(char character)
{
    if (isdigit((unsigned char)character))
        return (unsigned int)(character - '0');
    return isalpha((unsigned char)character)
               ? (unsigned int)(tolower((unsigned char)character) - 'a') + TEN
               : BASE_MAX;
}

/* Take the digits of an integer, with the base before them if there is one. */
static uint16_t parse_integer(struct pattern_parser *parser, bool is_negative)
{
    uint16_t id = pattern_parser_add(parser, MATCH_BIG);
    unsigned long base = TEN;
    const char *from = parser->at;
    struct match_part *part;
    char *end;

    if (!id)
        return NO_PART;
    if (strtoul(parser->at, &end, TEN) <= BASE_MAX && *end == '#') {
        base = strtoul(parser->at, NULL, TEN);
        parser->at = end + 1;
    }
    if (base < 2 || digit_of(*parser->at) >= base)
        return pattern_parser_bad(parser);
    part = pattern_parser_part(parser, id);
    part->is_negative = is_negative;
    for (; digit_of(*parser->at) < base; parser->at++)
        if (!add_digit(part->words, &part->count, (unsigned int)base, digit_of(*parser->at)))
            return pattern_parser_unmatched(parser, "an integer of more than 1,920 bits", from);
    if (part->count <= 1 && is_small(part->words[0], is_negative)) {
        part->kind = MATCH_SMALL;
        part->value = is_negative ? -(int64_t)part->words[0] : (int64_t)part->words[0];
    }
    return id;
}

/* Take digits, a point and digits, and maybe an exponent. */
static uint16_t parse_float(struct pattern_parser *parser)
{
    uint16_t id = pattern_parser_add(parser, MATCH_FLOAT);
    double value;
    char *end;

    if (!id)
        return NO_PART;
    value = strtod(parser->at, &end);
    if (!isfinite(value))
        return pattern_parser_bad(parser);
    parser->at = end;
    memcpy(pattern_parser_part(parser, id)->words, &value, sizeof(value));
    pattern_parser_part(parser, id)->count = 1;
    return id;
}

/* 42, -7, 16#ff, $a, 1.5e3. */
uint16_t pattern_leaf_number(struct pattern_parser *parser)
{
    bool is_negative = *parser->at == '-';
    const char *digits = parser->at + is_negative;
    size_t size = strspn(digits, "0123456789");
    uint32_t character;
    uint16_t id;

    if (*parser->at == '$') {
        parser->at++;
        return pattern_parser_character(parser, &character)
                   ? pattern_parser_add_small(parser, character)
                   : pattern_parser_bad(parser);
    }
    if (!size)
        return pattern_parser_bad(parser);
    if (digits[size] == '.' && isdigit((unsigned char)digits[size + 1])) {
        id = parse_float(parser);
    } else {
        parser->at = digits;
        id = parse_integer(parser, is_negative);
    }
    if (id && (pattern_parser_is_name(*parser->at) || *parser->at == '#'))
        return pattern_parser_bad(parser);
    return id;
}

/* ---- pids ---- */

/* Take a number and the character behind it. */
static bool take_number(struct pattern_parser *parser, uint64_t *number, char last)
{
    char *end;

    if (!isdigit((unsigned char)*parser->at))
        return false;
    *number = strtoull(parser->at, &end, TEN);
    if (*end != last)
        return false;
    parser->at = end + 1;
    return true;
}

/* <0.NUMBER.SERIAL>. Pids of other nodes have the number of their node in this one, not 0. */
uint16_t pattern_leaf_pid(struct pattern_parser *parser)
{
    const char *from = parser->at++;
    uint16_t id = pattern_parser_add(parser, MATCH_PID);
    struct match_part *part;
    uint64_t node;

    if (!id)
        return NO_PART;
    part = pattern_parser_part(parser, id);
    if (!take_number(parser, &node, '.') || !take_number(parser, &part->pid.number, '.') ||
        !take_number(parser, &part->pid.serial, '>'))
        return pattern_parser_bad(parser);
    return node ? pattern_parser_unmatched(parser, "a pid of another node", from) : id;
}

/* ---- binaries ---- */

static bool add_byte(struct pattern_parser *parser, uint16_t id, unsigned int byte)
{
    struct match_part *binary = pattern_parser_part(parser, id);

    if (byte > UINT8_MAX) {
        pattern_parser_unmatched(parser, "a segment of a binary that is no byte", parser->at);
        return false;
    }
    if (binary->count == WIRE_MATCH_BYTES) {
        pattern_parser_unmatched(parser, "more than 248 bytes of a binary", parser->text);
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
        if (!pattern_parser_character(parser, &character)) {
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
        pattern_parser_bad(parser);
        return false;
    }
    parser->at = end + 1 + (is_utf8 ? sizeof(UTF8) - 1 : 0);
    return true;
}

/* Take the rest of a binary, which is a variable of type binary: `_/binary`. */
static bool parse_rest(struct pattern_parser *parser, uint16_t id)
{
    const char *from = parser->at;

    if (!take_variable(parser))
        return false;
    if (parser->in_key ||
        !(pattern_parser_take(parser, "/binary") || pattern_parser_take(parser, "/bytes"))) {
        pattern_parser_unmatched(parser, "this segment of a binary", from);
        return false;
    }
    pattern_parser_part(parser, id)->is_prefix = true;
    return true;
}

static bool parse_segment(struct pattern_parser *parser, uint16_t id)
{
    const char *from;
    char *end;
    unsigned long value;

    pattern_parser_skip_space(parser);
    from = parser->at;
    if (pattern_parser_take(parser, "\"")) {
        if (!parse_segment_text(parser, id))
            return false;
    } else if (pattern_leaf_variable_size(from)) {
        if (!parse_rest(parser, id))
            return false;
    } else if (isdigit((unsigned char)*from)) {
        value = strtoul(from, &end, 10);
        parser->at = end;
        if (!add_byte(parser, id, value > UINT8_MAX ? UINT8_MAX + 1 : (unsigned int)value))
            return false;
    } else {
        pattern_parser_unmatched(parser, "this segment of a binary", from);
        return false;
    }
    pattern_parser_skip_space(parser);
    if (*parser->at == ':' || *parser->at == '/') {
        pattern_parser_unmatched(parser, "the size or type of a segment", from);
        return false;
    }
    return true;
}

uint16_t pattern_leaf_binary(struct pattern_parser *parser)
{
    uint16_t id = pattern_parser_add(parser, MATCH_BINARY);

    if (!id || pattern_parser_take(parser, ">>"))
        return id;
    parser->in_binary = true;
    do {
        if (pattern_parser_part(parser, id)->is_prefix)
            return pattern_parser_unmatched(parser, "what follows the rest of a binary",
                                            parser->at);
        if (!parse_segment(parser, id))
            return NO_PART;
    } while (pattern_parser_take(parser, ","));
    parser->in_binary = false;
    return pattern_parser_take(parser, ">>") ? id : pattern_parser_bad(parser);
}
