// SPDX-License-Identifier: Apache-2.0
#include "output/fprof/fprof_term.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

#include "util/number.h"
#include "util/span.h"

/* Append a text in quotes: all other characters than the quote and the backslash may stand there.
 */
static void put_quoted(struct buffer *out, const char *text, size_t size, char quote)
{
    buffer_byte(out, quote);
    for (size_t i = 0; i < size; i++) {
        if (text[i] == quote || text[i] == '\\')
            buffer_byte(out, '\\');
        buffer_byte(out, text[i]);
    }
    buffer_byte(out, quote);
}

void fprof_term_string(struct buffer *out, const char *text)
{
    put_quoted(out, text, strlen(text), '"');
}

/* ---- atoms ---- */

/* Words of Erlang that are no atoms without quotes (erl_scan.erl 29.1.1:2288; `else` and `maybe` as
 * well, with a feature). */
static const char *const reserved[] = {
    "after", "and",   "andalso", "band",   "begin",   "bnot", "bor", "bsl",  "bsr", "bxor",
    "case",  "catch", "cond",    "div",    "else",    "end",  "fun", "if",   "let", "maybe",
    "not",   "of",    "or",      "orelse", "receive", "rem",  "try", "when", "xor",
};

static bool is_reserved(struct span text)
{
    for (size_t i = 0; i < sizeof(reserved) / sizeof(*reserved); i++)
        if (span_is(text, reserved[i]))
            return true;
    return false;
}

static bool is_plain(struct span text)
{
    if (!text.size || text.at[0] < 'a' || text.at[0] > 'z')
        return false;
    for (size_t i = 0; i < text.size; i++)
        if (!isascii(text.at[i]) ||
            (!isalnum((unsigned char)text.at[i]) && text.at[i] != '_' && text.at[i] != '@'))
            return false;
    return !is_reserved(text);
}

/* Append an atom. Names have some of them in quotes, others as they are: "erlang:+/2". */
static void put_atom(struct buffer *out, struct span text)
{
    bool is_quoted = text.size > 1 && text.at[0] == '\'' && text.at[text.size - 1] == '\'';

    if (is_quoted || is_plain(text))
        buffer_put(out, text.at, text.size);
    else
        put_quoted(out, text.at, text.size, '\'');
}

/* The size of the quoted atom at the start of the text; 0 if there is none. */
static size_t size_of_quoted(struct span text)
{
    if (!text.size || text.at[0] != '\'')
        return 0;
    for (size_t i = 1; i < text.size; i++) {
        if (text.at[i] == '\'')
            return i + 1;
        i += text.at[i] == '\\';
    }
    return 0;
}

/* ---- names ---- */

/* The size of a module of Elixir at the start of the text: "Shop.Cart" of "Shop.Cart.add/2". At
 * least one name remains for the function. */
static size_t size_of_aliases(const char *text)
{
    size_t size = 0, name = 0;

    while (text[name] >= 'A' && text[name] <= 'Z') {
        size_t end = name;

        while (text[end] == '_' || is_digit(text[end]) || (text[end] >= 'a' && text[end] <= 'z') ||
               (text[end] >= 'A' && text[end] <= 'Z'))
            end++;
        if (text[end] != '.')
            break;
        size = end;
        name = end + 1;
    }
    return size;
}

/* Append "module:function" of Erlang. */
static bool put_erlang(struct buffer *out, struct span name, const char *arity)
{
    size_t module = size_of_quoted(name);
    struct span function;

    if (!module)
        while (module < name.size && name.at[module] != ':')
            module++;
    if (!module || module + 1 >= name.size || name.at[module] != ':')
        return false;
    function = span_skip(name, module + 1);
    if (size_of_quoted(function) && size_of_quoted(function) != function.size)
        return false;
    buffer_byte(out, '{');
    put_atom(out, (struct span){name.at, module});
    buffer_byte(out, ',');
    put_atom(out, function);
    buffer_format(out, ",%s}", arity);
    return true;
}

static bool put_elixir(struct buffer *out, struct span name, const char *arity)
{
    size_t module = size_of_aliases(name.at);

    if (!module || module + 1 >= name.size)
        return false;
    buffer_format(out, "{'Elixir.%.*s',", (int)module, name.at);
    put_atom(out, span_skip(name, module + 1));
    buffer_format(out, ",%s}", arity);
    return true;
}

static bool is_arity(const char *text)
{
    size_t size = strspn(text, "0123456789");

    return size && size <= 3 && !text[size];
}

void fprof_term_function(struct buffer *out, const char *name)
{
    const char *slash = strrchr(name, '/');

    if (slash && is_arity(slash + 1)) {
        struct span function = {name, (size_t)(slash - name)};

        if (put_elixir(out, function, slash + 1) || put_erlang(out, function, slash + 1))
            return;
    }
    buffer_text(out, "{'',");
    put_quoted(out, name, strlen(name), '\'');
    buffer_text(out, ",0}");
}
