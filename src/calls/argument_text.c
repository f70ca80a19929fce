// SPDX-License-Identifier: Apache-2.0
#include "calls/argument_text.h"

#include <stdint.h>
#include <string.h>

#include "beam/erlang_escape.h"
#include "beam/term.h"
#include "beam/term_text.h"

enum { BINARY_TEXT_BYTES = 1 << 10 /* of one binary as numbers: all that are copied */ };

/* A word of a copy that is no immediate term. */
struct node {
    uint32_t kind, place, copied; /* enum wire_argument_kind; the others as in wire_arguments.h */
    uint64_t size;
};

struct argument_writer {
    const struct argument_names *names;
    const struct wire_arguments *from;
    bool shapes_only, is_cut;
    struct buffer *out;
};

static void put_term(struct argument_writer *writer, uint32_t at);

static void put(const struct argument_writer *writer, const char *text)
{
    buffer_text(writer->out, text);
}

static void put_cut(struct argument_writer *writer, const char *text)
{
    writer->is_cut = true;
    put(writer, text);
}

static uint64_t word_at(const struct argument_writer *writer, uint32_t at)
{
    return writer->from->word[at];
}

/* Contents are behind the word that leads to them, so that each walk ends. */
static struct node node_at(const struct argument_writer *writer, uint32_t at)
{
    uint64_t word = word_at(writer, at);
    struct node node = {
        .kind = word >> 2 & 0x3f,
        .place = word >> 8 & 0xff,
        .copied = word >> 16 & 0xff,
        .size = word >> 24,
    };
    uint32_t words = node.copied;

    if (node.kind == WIRE_ARGUMENT_LIST || node.kind == WIRE_ARGUMENT_MAP)
        words *= 2;
    else if (node.kind == WIRE_ARGUMENT_BINARY)
        words = (words + 7) / 8;
    if (node.place <= at || node.place + words > writer->from->words)
        node.place = 0;
    return node;
}

static bool is_node(uint64_t word)
{
    return term_is_header(word);
}

/* ---- lists ---- */

static bool is_character(uint64_t word)
{
    return term_is_small(word) && word >> TAG_IMMED1_SIZE <= 0x10ffff &&
           term_text_is_printable((uint32_t)(word >> TAG_IMMED1_SIZE));
}

/* The next cell of the list, whose tail is at `tail`; 0: the end of what was copied. */
static uint32_t next_cell(const struct argument_writer *writer, uint32_t tail)
{
    struct node node = node_at(writer, tail);

    return is_node(word_at(writer, tail)) && node.kind == WIRE_ARGUMENT_LIST ? node.place : 0;
}

/* True if the elements that were copied are characters, and no tail is another term. */
static bool is_string(const struct argument_writer *writer, uint32_t cell)
{
    uint32_t tail = 0;

    for (; cell; cell = next_cell(writer, tail)) {
        if (!is_character(word_at(writer, cell)))
            return false;
        tail = cell + 1;
    }
    return word_at(writer, tail) == TAG_IMMED2_NIL || is_node(word_at(writer, tail));
}

static void put_string(struct argument_writer *writer, uint32_t cell)
{
    uint32_t tail = 0;

    put(writer, "\"");
    for (; cell; cell = next_cell(writer, tail)) {
        erlang_escape_character(writer->out, (uint32_t)(word_at(writer, cell) >> TAG_IMMED1_SIZE),
                                '"');
        tail = cell + 1;
    }
    put(writer, "\"");
    if (word_at(writer, tail) != TAG_IMMED2_NIL)
        put_cut(writer, " ++ ...");
}

static void put_list(struct argument_writer *writer, struct node node)
{
    uint32_t tail = 0;

    if (writer->shapes_only) {
        buffer_format(writer->out, "list of %llu%s", (unsigned long long)node.size,
                      node.copied ? "+" : "");
        return;
    }
    if (!node.place) {
        put_cut(writer, "[...]");
        return;
    }
    if (is_string(writer, node.place)) {
        put_string(writer, node.place);
        return;
    }
    for (uint32_t cell = node.place; cell; cell = next_cell(writer, tail)) {
        put(writer, cell == node.place ? "[" : ",");
        put_term(writer, cell);
        tail = cell + 1;
    }
    if (is_node(word_at(writer, tail)) && node_at(writer, tail).kind == WIRE_ARGUMENT_LIST) {
        put_cut(writer, "|...");
    } else if (word_at(writer, tail) != TAG_IMMED2_NIL) {
        put(writer, "|");
        put_term(writer, tail);
    }
    put(writer, "]");
}

/* ---- other terms ---- */

static void put_tuple(struct argument_writer *writer, struct node node)
{
    uint32_t count = node.place ? node.copied : 0;

    if (writer->shapes_only && !count && node.size) {
        buffer_format(writer->out, "tuple of %llu", (unsigned long long)node.size);
        return;
    }
    put(writer, "{");
    for (uint32_t i = 0; i < count; i++) {
        put(writer, i ? "," : "");
        put_term(writer, node.place + i);
    }
    if (count < node.size)
        put_cut(writer, count ? ",..." : "...");
    put(writer, "}");
}

static void put_map(struct argument_writer *writer, struct node node)
{
    uint32_t count = node.place ? node.copied : 0;

    if (writer->shapes_only) {
        buffer_format(writer->out, "map of %llu", (unsigned long long)node.size);
        return;
    }
    put(writer, "#{");
    for (uint32_t i = 0; i < count; i++) {
        put(writer, i ? "," : "");
        put_term(writer, node.place + i);
        put(writer, " => ");
        put_term(writer, node.place + node.copied + i);
    }
    if (count < node.size)
        put_cut(writer, count ? ",..." : "...");
    put(writer, "}");
}

static void put_binary(struct argument_writer *writer, struct node node)
{
    bool is_cut = node.size != 8 * (uint64_t)node.copied;

    if (writer->shapes_only && node.size % 8)
        buffer_format(writer->out, "bitstring of %llu bits", (unsigned long long)node.size);
    else if (writer->shapes_only)
        buffer_format(writer->out, "binary of %llu byte%s", (unsigned long long)(node.size / 8),
                      node.size == 8 ? "" : "s");
    else if (!node.place && node.size)
        put_cut(writer, "<<...>>");
    else
        term_text_binary(writer->out, (const char *)&writer->from->word[node.place], node.copied,
                         is_cut, writer->out->size + BINARY_TEXT_BYTES);
    writer->is_cut |= !writer->shapes_only && is_cut;
}

static void put_number(struct argument_writer *writer, struct node node)
{
    uint64_t digits[TERM_TEXT_BIG_WORDS] = {0};
    double value;

    if (writer->shapes_only) {
        put(writer, node.kind == WIRE_ARGUMENT_FLOAT ? "float" : "integer");
        return;
    }
    if (!node.place || node.copied > TERM_TEXT_BIG_WORDS) {
        put_cut(writer, "...");
        return;
    }
    if (node.kind == WIRE_ARGUMENT_FLOAT) {
        memcpy(&value, &writer->from->word[node.place], sizeof(value));
        if (!term_text_float(writer->out, value))
            put_cut(writer, "...");
        return;
    }
    memcpy(digits, &writer->from->word[node.place], node.copied * sizeof(digits[0]));
    term_text_big(writer->out, digits, node.kind == WIRE_ARGUMENT_BIG_NEGATIVE);
}

static void put_node(struct argument_writer *writer, struct node node)
{
    static const char *const names[][2] = {
        [WIRE_ARGUMENT_FUN] = {"#Fun<...>", "fun"},
        [WIRE_ARGUMENT_REFERENCE] = {"#Ref<...>", "reference"},
        [WIRE_ARGUMENT_PID] = {"<...>", "pid"},
        [WIRE_ARGUMENT_PORT] = {"#Port<...>", "port"},
        [WIRE_ARGUMENT_INTEGER] = {"...", "integer"},
        [WIRE_ARGUMENT_OTHER] = {"#Term<...>", "other term"},
    };

    switch (node.kind) {
    case WIRE_ARGUMENT_LIST:
        put_list(writer, node);
        return;
    case WIRE_ARGUMENT_TUPLE:
        put_tuple(writer, node);
        return;
    case WIRE_ARGUMENT_MAP:
        put_map(writer, node);
        return;
    case WIRE_ARGUMENT_BINARY:
        put_binary(writer, node);
        return;
    case WIRE_ARGUMENT_BIG:
    case WIRE_ARGUMENT_BIG_NEGATIVE:
    case WIRE_ARGUMENT_FLOAT:
        put_number(writer, node);
        return;
    }
    if (node.kind < sizeof(names) / sizeof(*names) && names[node.kind][0])
        put(writer, names[node.kind][writer->shapes_only]);
    else
        put_cut(writer, "...");
}

static void put_term(struct argument_writer *writer, uint32_t at)
{
    uint64_t word = word_at(writer, at);
    const char *atom;
    char pid[48];

    if (is_node(word)) {
        put_node(writer, node_at(writer, at));
    } else if (word == TAG_IMMED2_NIL) {
        put(writer, "[]");
    } else if (term_is_atom(word)) {
        atom = atom_text(writer->names->atoms, word);
        if (atom)
            erlang_escape_atom(writer->out, atom);
        else
            put_cut(writer, "...");
    } else if (term_is_small(word)) {
        buffer_format(writer->out, "%lld", (long long)term_small(word));
    } else if (pid_encoding_format(writer->names->encoding, word, pid, sizeof(pid))) {
        put(writer, pid);
    } else {
        put(writer, term_is_port(word) ? "#Port<...>" : "#Term<...>");
    }
}

bool argument_text(const struct argument_names *names, const struct wire_arguments *arguments,
                   bool shapes_only, struct buffer *text)
{
    struct argument_writer writer = {names, arguments, shapes_only, false, text};
    uint32_t count = arguments->arity;

    if (count > WIRE_ARGUMENT_ELEMENTS)
        count = WIRE_ARGUMENT_ELEMENTS;
    if (count > arguments->words)
        count = 0; /* the registers could not be read */
    put(&writer, "(");
    for (uint32_t i = 0; i < count; i++) {
        put(&writer, i ? ", " : "");
        put_term(&writer, i);
    }
    if (count < arguments->arity)
        put_cut(&writer, count ? ", ..." : "...");
    put(&writer, ")");
    return writer.is_cut;
}
