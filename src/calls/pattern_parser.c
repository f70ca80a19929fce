// SPDX-License-Identifier: Apache-2.0
#include "calls/pattern_parser.h"

#include <ctype.h>
#include <string.h>

#include "util/utf8.h"

enum { SHOWN_BYTES = 40 /* of a part that is refused */ };

uint16_t pattern_parser_bad(struct pattern_parser *parser)
{
    error_set(parser->error, ERROR_USAGE,
              "the pattern '%s' can't be read from '%.*s' on: write MODULE:FUNCTION(PATTERN, ...), "
              "such as m:f({ok, _}, #{key := 42})",
              parser->text, SHOWN_BYTES, parser->at);
    return NO_PART;
}

uint16_t pattern_parser_unmatched(struct pattern_parser *parser, const char *what, const char *from)
{
    error_set(parser->error, ERROR_USAGE, "the kernel can't match %s, from '%.*s' on: %s", what,
              SHOWN_BYTES, from,
              parser->in_key      ? "leave out this key"
              : parser->in_binary ? "write _ in place of the binary"
                                  : "write _ in its place");
    return NO_PART;
}

uint16_t pattern_parser_too_large(struct pattern_parser *parser)
{
    error_set(parser->error, ERROR_USAGE,
              "the pattern '%s' has more parts than the kernel matches: write _ for some",
              parser->text);
    return NO_PART;
}

/* ---- tokens ---- */

void pattern_parser_skip_space(struct pattern_parser *parser)
{
    while (isspace((unsigned char)*parser->at))
        parser->at++;
}

bool pattern_parser_take(struct pattern_parser *parser, const char *token)
{
    pattern_parser_skip_space(parser);
    if (strncmp(parser->at, token, strlen(token)) != 0)
        return false;
    parser->at += strlen(token);
    return true;
}

bool pattern_parser_is_name(char character)
{
    return isalnum((unsigned char)character) || character == '_' || character == '@' ||
           (unsigned char)character >= 0x80;
}

struct match_part *pattern_parser_part(const struct pattern_parser *parser, uint16_t id)
{
    return &parser->pattern->parts[id];
}

uint16_t pattern_parser_add(struct pattern_parser *parser, enum match_kind kind)
{
    if (parser->pattern->count == MATCH_PARTS)
        return pattern_parser_too_large(parser);
    parser->pattern->parts[parser->pattern->count] = (struct match_part){.kind = kind};
    return (uint16_t)parser->pattern->count++;
}

bool pattern_parser_character(struct pattern_parser *parser, uint32_t *character)
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

uint16_t pattern_parser_add_small(struct pattern_parser *parser, int64_t value)
{
    uint16_t id = pattern_parser_add(parser, MATCH_SMALL);

    if (id)
        pattern_parser_part(parser, id)->value = value;
    return id;
}
