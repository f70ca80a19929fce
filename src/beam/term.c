// SPDX-License-Identifier: Apache-2.0
/*
 * Terms as text, as io:format("~0tp") writes them. Terms without a meaning outside of the VM are
 * written as "#Fun<...>" or "#Port<...>". The term is read from a live VM and can be anything, even
 * a cycle. So depth, number of objects and length of the text are bounded; "..." stands for the
 * rest.
 */
#include "beam/term.h"

#include "beam/erlang_escape.h"
#include "beam/pid_encoding.h"
#include "beam/process_info.h"
#include "beam/term_text.h"

enum { DEPTH_MAX = 12, OBJECTS_MAX = 4096, BINARY_MAX = 4096 };

struct term_writer {
    struct vm *vm;
    struct memory *memory; /* of the VM, through a cache: parts of a term are mostly neighbours */
    struct atoms *atoms;
    const struct pid_encoding *encoding;
    struct buffer out;
    size_t limit;
    unsigned int objects;
};

static bool write_term(struct term_writer *writer, uint64_t term, int depth);

static bool is_full(const struct term_writer *writer)
{
    return writer->out.size >= writer->limit || writer->objects >= OBJECTS_MAX;
}

static bool read_word(struct term_writer *writer, uint64_t address, uint64_t *word)
{
    return memory_read_u64(writer->memory, address, word);
}

static bool write_text(struct term_writer *writer, const char *text)
{
    buffer_text(&writer->out, text);
    return true;
}

/* Collect the characters of a list, up to the limit of the text. Returns 1 if all elements read are
 * characters, 0 if not, -1 if the list can't be read. */
static int read_string(struct term_writer *writer, uint64_t list, struct buffer *text)
{
    uint64_t cell[2];

    for (; list != TAG_IMMED2_NIL && text->size < writer->limit && !is_full(writer);
         list = cell[1]) {
        writer->objects++;
        if (!term_is_list(list))
            return 0;
        if (!memory_read(writer->memory, term_address(list), cell, sizeof(cell)))
            return -1;
        if (!term_is_small(cell[0]) || cell[0] >> TAG_IMMED1_SIZE > 0x10ffff ||
            !term_text_is_printable((uint32_t)(cell[0] >> TAG_IMMED1_SIZE)))
            return 0;
        erlang_escape_character(text, (uint32_t)(cell[0] >> TAG_IMMED1_SIZE), '"');
    }
    return 1;
}

/* Write a list as a string if it is one. Returns as read_string() does. */
static int write_string(struct term_writer *writer, uint64_t list)
{
    struct buffer text = {0};
    int result = read_string(writer, list, &text);

    if (result == 1) {
        buffer_byte(&writer->out, '"');
        buffer_put(&writer->out, text.data, text.size);
        buffer_byte(&writer->out, '"');
    }
    buffer_free(&text);
    return result;
}

static bool write_list(struct term_writer *writer, uint64_t list, int depth)
{
    int string = write_string(writer, list);
    uint64_t cell[2];

    if (string != 0)
        return string > 0;
    for (char before = '['; term_is_list(list); before = ',', list = cell[1]) {
        buffer_byte(&writer->out, before);
        if (is_full(writer))
            return write_text(writer, "...]");
        if (!memory_read(writer->memory, term_address(list), cell, sizeof(cell)) ||
            !write_term(writer, cell[0], depth + 1))
            return false;
    }
    if (list != TAG_IMMED2_NIL) {
        buffer_byte(&writer->out, '|');
        if (!write_term(writer, list, depth + 1))
            return false;
    }
    return write_text(writer, "]");
}

static bool write_tuple(struct term_writer *writer, uint64_t address, uint64_t arity, int depth)
{
    buffer_byte(&writer->out, '{');
    for (uint64_t i = 0; i < arity; i++) {
        uint64_t element;

        if (i > 0)
            buffer_byte(&writer->out, ',');
        if (is_full(writer))
            return write_text(writer, "...}");
        if (!read_word(writer, address + 8 + i * 8, &element) ||
            !write_term(writer, element, depth + 1))
            return false;
    }
    return write_text(writer, "}");
}

/* header | size | keys, a tuple | values... (erl_map.h 25.2.3:38, flatmap_t). The two bits above
 * the kind are 0 for this form. Larger maps are trees, written as "#{...}". */
static bool write_map(struct term_writer *writer, uint64_t address, uint64_t header, int depth)
{
    uint64_t size, keys, key, value;

    if (!term_is_flat_map(header))
        return write_text(writer, "#{...}");
    if (!read_word(writer, address + 8, &size) || !read_word(writer, address + 16, &keys))
        return false;
    write_text(writer, "#{");
    for (uint64_t i = 0; i < size; i++) {
        if (i > 0)
            buffer_byte(&writer->out, ',');
        if (is_full(writer))
            return write_text(writer, "...}");
        if (!read_word(writer, term_address(keys) + 8 + i * 8, &key) ||
            !read_word(writer, address + 24 + i * 8, &value) || !write_term(writer, key, depth + 1))
            return false;
        write_text(writer, " => ");
        if (!write_term(writer, value, depth + 1))
            return false;
    }
    return write_text(writer, "}");
}

static bool write_binary(struct term_writer *writer, uint64_t address)
{
    char bytes[BINARY_MAX];
    struct term_bytes where;
    size_t size;

    if (!term_binary(writer->memory, &writer->vm->layout, writer->vm->features.binaries_in_bits,
                     address, &where))
        return write_text(writer, "<<...>>");
    size = where.size < sizeof(bytes) ? where.size : sizeof(bytes);
    if (!memory_read(writer->memory, where.address, bytes, size))
        return false;
    term_text_binary(&writer->out, bytes, size, false, writer->limit);
    return true;
}

static bool write_big(struct term_writer *writer, uint64_t address, uint64_t words, bool negative)
{
    uint64_t digits[TERM_TEXT_BIG_WORDS] = {0};

    if (words < 1 || words > TERM_TEXT_BIG_WORDS)
        return write_text(writer, "#Integer<...>");
    if (!memory_read(writer->memory, address + 8, digits, words * sizeof(digits[0])))
        return false;
    term_text_big(&writer->out, digits, negative);
    return true;
}

static bool write_float(struct term_writer *writer, uint64_t address)
{
    double value;

    if (!memory_read(writer->memory, address + 8, &value, sizeof(value)))
        return false;
    if (!term_text_float(&writer->out, value))
        write_text(writer, "#Float<...>");
    return true;
}

/* header | u32 marker | three u32 (erl_term.h 25.2.3:738, ErtsORefThing); the numbers are printed
 * from the last to the first. References with more words also hold a pid or a pointer. */
static bool write_reference(struct term_writer *writer, uint64_t address, uint64_t words)
{
    uint32_t numbers[4];

    if (words != 2)
        return write_text(writer, "#Ref<...>");
    if (!memory_read(writer->memory, address + 8, numbers, sizeof(numbers)))
        return false;
    buffer_format(&writer->out, "#Ref<0.%u.%u.%u>", numbers[3], numbers[2], numbers[1]);
    return true;
}

static bool write_boxed(struct term_writer *writer, uint64_t address, int depth)
{
    uint64_t header;

    if (!read_word(writer, address, &header) || !term_is_header(header))
        return false;
    switch (term_header_kind(header)) {
    case ARITYVAL_SUBTAG:
        return write_tuple(writer, address, term_header_words(header), depth);
    case POS_BIG_SUBTAG:
    case NEG_BIG_SUBTAG:
        return write_big(writer, address, term_header_words(header),
                         term_header_kind(header) == NEG_BIG_SUBTAG);
    case REF_SUBTAG:
        return write_reference(writer, address, term_header_words(header));
    case FUN_SUBTAG:
        return write_text(writer, "#Fun<...>");
    case FLOAT_SUBTAG:
        return write_float(writer, address);
    case REFC_BINARY_SUBTAG: /* from 27 on these are HEAP_BITS, SUB_BITS and BIN_REF */
    case HEAP_BINARY_SUBTAG:
    case SUB_BINARY_SUBTAG:
        return write_binary(writer, address);
    case EXTERNAL_PID_SUBTAG:
        return write_text(writer, "<...>");
    case EXTERNAL_PORT_SUBTAG:
        return write_text(writer, "#Port<...>");
    case EXTERNAL_REF_SUBTAG:
        return write_text(writer, "#Ref<...>");
    case MAP_SUBTAG_26:
    case MAP_SUBTAG_27:
        return write_map(writer, address, header, depth);
    }
    return write_text(writer, "#Term<...>");
}

static bool write_immediate(struct term_writer *writer, uint64_t term)
{
    char pid[48];
    const char *atom;

    if (term == TAG_IMMED2_NIL)
        return write_text(writer, "[]");
    if (term_is_atom(term)) {
        atom = atom_text(writer->atoms, term);
        if (atom)
            erlang_escape_atom(&writer->out, atom);
        return atom;
    }
    if (term_is_small(term)) {
        buffer_format(&writer->out, "%lld", (long long)term_small(term));
        return true;
    }
    if (term_is_port(term))
        return write_text(writer, "#Port<...>");
    return pid_encoding_format(writer->encoding, term, pid, sizeof(pid)) && write_text(writer, pid);
}

static bool write_term(struct term_writer *writer, uint64_t term, int depth)
{
    if (depth > DEPTH_MAX || is_full(writer))
        return write_text(writer, "...");
    writer->objects++;
    if (term_is_list(term))
        return write_list(writer, term, depth);
    if (term_is_boxed(term))
        return write_boxed(writer, term_address(term), depth);
    return write_immediate(writer, term);
}

bool term_format(struct vm *vm, struct atoms *atoms, const struct pid_encoding *encoding,
                 uint64_t term, char *buffer, size_t size)
{
    struct cached_memory cached;
    struct term_writer writer = {
        .vm = vm, .memory = &cached.memory, .atoms = atoms, .encoding = encoding, .limit = size};
    bool whole;

    memory_cached_init(&cached, vm->memory);
    whole = write_term(&writer, term, 0);
    if (whole)
        erlang_escape_copy(&writer.out, buffer, size);
    buffer_free(&writer.out);
    return whole;
}
