// SPDX-License-Identifier: Apache-2.0
#include "beam/gdb_jit.h"

#include <stdlib.h>
#include <string.h>

#include "beam/atom.h"
#include "native/memory.h"
#include "util/alloc.h"
#include "util/cursor.h"

enum {
    SYMFILE_MAX = 16 << 20, /* the largest of OTP has 0.6 MB */
    ATOM_MAX = 1024,        /* 255 characters of up to 4 bytes */
    SYMBOL_MAX = 3 * ATOM_MAX,
};

static const char PROLOGUE[] = "-CodeInfoPrologue";

/* ---- bounded reading ---- */

/* Take a NUL-terminated string that ends within the bytes. */
static const char *take_string(struct cursor *cursor)
{
    size_t left = (size_t)(cursor->end - cursor->at);
    size_t length = strnlen((const char *)cursor->at, left);

    return cursor_take(cursor, length + 1, "a name does not end");
}

/* Take a string of `size` bytes that include the NUL at its end. */
static const char *take_sized_string(struct cursor *cursor, size_t size)
{
    const char *at = cursor_take(cursor, size, "name is cut off");

    if (at && (size == 0 || at[size - 1] != 0))
        cursor_fail(cursor, "a name does not end");
    return cursor->problem ? NULL : at;
}

static void skip(struct cursor *cursor, size_t size)
{
    cursor_take(cursor, size, "padding is cut off");
}

static int malformed(const struct cursor *cursor, struct error *error)
{
    return error_set(error, ERROR_UNSUPPORTED, "an entry of the JIT's symbol list is damaged: %s",
                     cursor->problem);
}

bool gdb_jit_read_entry(struct memory *memory, uint64_t address, struct gdb_jit_entry *entry)
{
    struct gdb_jit_words words;

    if (!memory_read(memory, address, &words, sizeof(words)))
        return false;
    if (words.symfile_size < 16 || words.symfile_size > SYMFILE_MAX)
        return false;
    *entry = (struct gdb_jit_entry){
        .next = words.next, .symfile = words.symfile, .symfile_size = words.symfile_size};
    return true;
}

/* The VM copies C structs whose last member is a name, and adds the length of the name to the size
 * of the struct. So the padding of the struct follows the name. */
enum { HEADER_PADDING = 6, RANGE_PADDING = 2, LINE_PADDING = 2 };

/* ---- header ---- */

static void copy_name(struct cursor *cursor, const char *name, struct gdb_jit_header *header)
{
    if (name && strlen(name) < sizeof(header->name))
        strcpy(header->name, name);
    else
        cursor_fail(cursor, "the name of a module is too long");
}

static void parse_header(struct cursor *cursor, struct gdb_jit_header *header)
{
    uint32_t kind = cursor_u32(cursor);
    const char *name;

    skip(cursor, 4);
    if (kind == 0) {
        header->emulator = true;
        header->frame_pointers = cursor_u32(cursor) == 1;
        skip(cursor, 4);
        header->normal_exit = cursor_u64(cursor);
        return;
    }
    header->base = cursor_u64(cursor);
    header->range_count = cursor_u32(cursor);
    header->code_size = cursor_u32(cursor);
    name = take_sized_string(cursor, cursor_u16(cursor));
    skip(cursor, HEADER_PADDING);
    if (kind != 1)
        cursor_fail(cursor, "the kind of the entry is unknown");
    copy_name(cursor, name, header);
}

/* The old format: {u64 0, u64 normal_exit} or {u64 functions, u64 base, u64 code size, name}. */
static void parse_old_header(struct cursor *cursor, struct gdb_jit_header *header)
{
    uint64_t functions = cursor_u64(cursor);
    uint64_t base = cursor_u64(cursor), code_size;

    if (functions == 0) {
        header->emulator = true;
        header->normal_exit = base;
        return;
    }
    code_size = cursor_u64(cursor);
    if (functions > UINT32_MAX || code_size > UINT32_MAX)
        cursor_fail(cursor, "the module is too large");
    header->base = base;
    header->range_count = (uint32_t)functions;
    header->code_size = (uint32_t)code_size;
    copy_name(cursor, take_string(cursor), header);
}

static bool header_at(struct cursor *cursor, bool old_format, struct gdb_jit_header *header)
{
    memset(header, 0, sizeof(*header));
    if (old_format)
        parse_old_header(cursor, header);
    else
        parse_header(cursor, header);
    if (header->base > UINT64_MAX - header->code_size)
        cursor_fail(cursor, "the module ends after the last address");
    return !cursor->problem;
}

int gdb_jit_parse_header(const uint8_t *bytes, size_t size, bool old_format,
                         struct gdb_jit_header *header, struct error *error)
{
    struct cursor cursor = cursor_over(bytes, size);
    struct gdb_jit_header parsed;

    if (!header_at(&cursor, old_format, &parsed))
        return malformed(&cursor, error);
    *header = parsed;
    return 0;
}

/* ---- module ---- */

struct builder {
    struct gdb_jit_module module;
    size_t strings_size, strings_room;
    size_t lines_room;
    uint32_t last_file; /* the file name used last; most lines share it */
};

static uint32_t add_string(struct builder *builder, const char *text)
{
    size_t size = strlen(text) + 1;
    size_t at = builder->strings_size;

    if (at + size > builder->strings_room) {
        builder->strings_room = (at + size) * 2;
        builder->module.strings = xrealloc(builder->module.strings, builder->strings_room);
    }
    memcpy(builder->module.strings + at, text, size);
    builder->strings_size += size;
    return (uint32_t)at;
}

/* Copy the text of an atom that the VM has printed with %T (print_atom_name(), erl_printf_term.c
 * 25.2.3:216), quoted or not. Returns the position of `end` after it, or NULL if the atom does not
 * fit. */
static const char *take_atom(const char *at, char *text, size_t size, char end)
{
    bool quoted = *at == '\'';
    size_t used = 0;

    for (at += quoted; *at && *at != (quoted ? '\'' : end) && used + 1 < size; at++) {
        if (quoted && *at == '\\' && (at[1] == '\'' || at[1] == '\\'))
            at++;
        text[used++] = *at;
    }
    text[used] = 0;
    at += quoted && *at == '\'';
    return *at == end ? at : NULL;
}

/* Convert the VM's "mod:'fun'/2" to the name that users read ("Enum.map/2"), without the suffix of
 * a function's prologue. Names of shared fragments ("global::call_bif_shared") stay as they are. */
static uint32_t add_symbol(struct builder *builder, const char *name)
{
    char raw[SYMBOL_MAX], module[ATOM_MAX], function[ATOM_MAX], text[SYMBOL_MAX];
    size_t length = strnlen(name, sizeof(raw) - 1);
    const char *at;

    memcpy(raw, name, length);
    raw[length] = 0;
    if (length >= sizeof(PROLOGUE) - 1 && !strcmp(raw + length - (sizeof(PROLOGUE) - 1), PROLOGUE))
        raw[length - (sizeof(PROLOGUE) - 1)] = 0;
    at = take_atom(raw, module, sizeof(module), ':');
    if (!at || at[1] == ':' || !(at = take_atom(at + 1, function, sizeof(function), '/')))
        return add_string(builder, raw);
    atom_mfa_format(module, function, (uint32_t)strtoul(at + 1, NULL, 10), text, sizeof(text));
    return add_string(builder, text);
}

static void add_line(struct builder *builder, uint32_t start, uint32_t line, const char *file)
{
    struct gdb_jit_module *module = &builder->module;

    module->lines =
        xgrow(module->lines, &builder->lines_room, module->line_count, sizeof(*module->lines));
    if (!module->line_count || strcmp(module->strings + builder->last_file, file))
        builder->last_file = add_string(builder, file);
    module->lines[module->line_count++] =
        (struct gdb_jit_line){.start = start, .line = line, .file = builder->last_file};
}

static void parse_range(struct cursor *cursor, struct builder *builder)
{
    uint32_t start = cursor_u32(cursor), end = cursor_u32(cursor);
    uint32_t line_count = cursor_u32(cursor);
    const char *name = take_sized_string(cursor, cursor_u16(cursor));
    struct gdb_jit_range *range = &builder->module.ranges[builder->module.range_count];

    skip(cursor, RANGE_PADDING);
    if (end < start)
        cursor_fail(cursor, "a function ends before it begins");
    if (cursor->problem)
        return;
    *range = (struct gdb_jit_range){.start = start,
                                    .end = end,
                                    .symbol = add_symbol(builder, name),
                                    .first_line = builder->module.line_count};
    builder->module.range_count++;
    for (uint32_t i = 0; i < line_count && !cursor->problem; i++) {
        uint32_t at = cursor_u32(cursor), line = cursor_u32(cursor);
        const char *file = take_sized_string(cursor, cursor_u16(cursor));

        skip(cursor, LINE_PADDING);
        if (!cursor->problem)
            add_line(builder, at, line, file);
    }
}

static void parse_old_range(struct cursor *cursor, struct builder *builder,
                            const struct gdb_jit_header *header)
{
    uint64_t start = cursor_u64(cursor), end = cursor_u64(cursor);
    const char *name = take_string(cursor);

    if (start < header->base || end < start || end - header->base > UINT32_MAX)
        cursor_fail(cursor, "a function lies outside of its module");
    if (cursor->problem)
        return;
    builder->module.ranges[builder->module.range_count++] =
        (struct gdb_jit_range){.start = (uint32_t)(start - header->base),
                               .end = (uint32_t)(end - header->base),
                               .symbol = add_symbol(builder, name)};
}

static int compare_ranges(const void *a, const void *b)
{
    const struct gdb_jit_range *left = a, *right = b;

    return left->start < right->start ? -1 : left->start > right->start;
}

static bool in_order(const struct gdb_jit_module *module)
{
    for (uint32_t i = 1; i < module->range_count; i++)
        if (module->ranges[i].start < module->ranges[i - 1].start)
            return false;
    return true;
}

/* Free the room that was not needed. */
static void fit(struct builder *builder)
{
    struct gdb_jit_module *module = &builder->module;

    module->lines = xreallocarray(module->lines, module->line_count, sizeof(*module->lines));
    module->strings = xrealloc(module->strings, builder->strings_size);
    module->bytes = (module->range_count + (size_t)1) * sizeof(*module->ranges) +
                    module->line_count * sizeof(*module->lines) + builder->strings_size;
}

int gdb_jit_parse_module(const uint8_t *bytes, size_t size, bool old_format,
                         struct gdb_jit_module *module, struct error *error)
{
    struct cursor cursor = cursor_over(bytes, size);
    struct builder builder = {0};
    struct gdb_jit_header header;

    if (header_at(&cursor, old_format, &header) &&
        (header.emulator || header.range_count > size / 16))
        cursor_fail(&cursor, "no module has this size");
    if (cursor.problem)
        return malformed(&cursor, error);
    builder.module.ranges = xcalloc((size_t)header.range_count + 1, sizeof(struct gdb_jit_range));
    for (uint32_t i = 0; i < header.range_count && !cursor.problem; i++) {
        if (old_format)
            parse_old_range(&cursor, &builder, &header);
        else
            parse_range(&cursor, &builder);
    }
    builder.module.ranges[builder.module.range_count].first_line = builder.module.line_count;
    /* Lines belong to ranges by position, so only ranges without lines can be sorted. */
    if (!in_order(&builder.module) && builder.module.line_count == 0)
        qsort(builder.module.ranges, builder.module.range_count, sizeof(struct gdb_jit_range),
              compare_ranges);
    if (!in_order(&builder.module))
        cursor_fail(&cursor, "the functions are not in order");
    if (cursor.problem) {
        gdb_jit_free_module(&builder.module);
        return malformed(&cursor, error);
    }
    fit(&builder);
    *module = builder.module;
    return 0;
}

void gdb_jit_free_module(struct gdb_jit_module *module)
{
    free(module->ranges);
    free(module->lines);
    free(module->strings);
    memset(module, 0, sizeof(*module));
}

const struct gdb_jit_range *gdb_jit_range_at(const struct gdb_jit_module *module, uint32_t offset)
{
    uint32_t low = 0, high = module->range_count;

    while (low < high) {
        uint32_t middle = (low + high) / 2;

        if (module->ranges[middle].end <= offset)
            low = middle + 1;
        else
            high = middle;
    }
    return low < module->range_count && module->ranges[low].start <= offset ? &module->ranges[low]
                                                                            : NULL;
}

const struct gdb_jit_line *gdb_jit_line_at(const struct gdb_jit_module *module,
                                           const struct gdb_jit_range *range, uint32_t offset)
{
    const struct gdb_jit_line *line = NULL;

    for (uint32_t i = range[0].first_line; i < range[1].first_line; i++)
        if (module->lines[i].start <= offset)
            line = &module->lines[i];
    return line;
}
