// SPDX-License-Identifier: Apache-2.0
#include "input/perf_internal.h"

#include <stdlib.h>

#include "input/input_internal.h"
#include "util/alloc.h"
#include "util/buffer.h"
#include "util/encode.h"
#include "util/intern.h"

/* Bytes of the texts of stacks and of single lines to cache. */
#define STACK_TEXT_MAX ((size_t)64 << 20)
#define LINE_TEXT_MAX  ((size_t)16 << 20)

/* The text of perf for a missing name. */
static const char UNKNOWN[] = "[unknown]";
static const char ANONYMOUS[] = "(anonymous namespace)";
static const char INLINED[] = "_[i]"; /* as in stackcollapse-perf.pl */

struct perf_stacks {
    struct profile *profile;
    bool own;
    struct text_cache *known; /* text and root of a stack -> index in `stacks` */
    struct intern stacks;     /* struct perf_stack */
    struct text_cache *lines; /* lines with one frame -> frame_id */
    frame_id *list;           /* of the stack that is being read, leaf first */
    size_t count, room;
    struct buffer scratch;
};

struct perf_stacks *perf_stacks_new(struct profile *profile, bool own)
{
    struct perf_stacks *stacks = xcalloc(1, sizeof(*stacks));

    stacks->profile = profile;
    stacks->own = own;
    stacks->known = input_text_cache_new(STACK_TEXT_MAX);
    stacks->lines = input_text_cache_new(LINE_TEXT_MAX);
    intern_init(&stacks->stacks, sizeof(struct perf_stack), sizeof(struct perf_stack));
    return stacks;
}

void perf_stacks_free(struct perf_stacks *stacks)
{
    if (!stacks)
        return;
    input_text_cache_free(stacks->known);
    input_text_cache_free(stacks->lines);
    intern_free(&stacks->stacks);
    buffer_free(&stacks->scratch);
    free(stacks->list);
    free(stacks);
}

/* ---- frames ---- */

static void push_id(struct perf_stacks *stacks, frame_id frame)
{
    stacks->list = xgrow(stacks->list, &stacks->room, stacks->count, sizeof(*stacks->list));
    stacks->list[stacks->count++] = frame;
}

static void push(struct perf_stacks *stacks, const struct frame *frame)
{
    push_id(stacks, profile_frame(stacks->profile, frame));
}

static string_id symbol_named(struct perf_stacks *stacks, struct span text)
{
    return profile_string(stacks->profile, text.at, text.size);
}

static module_id module_named(struct perf_stacks *stacks, struct span path)
{
    string_id id = symbol_named(stacks, path);

    return id ? profile_module(stacks->profile, &(struct module){.path = id}) : 0;
}

/* Valid until the next call. */
static struct span unescaped(struct perf_stacks *stacks, struct span text)
{
    stacks->scratch.size = 0;
    encode_undo_escapes(&stacks->scratch, text.at, text.size);
    return (struct span){stacks->scratch.data, stacks->scratch.size};
}

/* Add a frame that output/perf.c and view.c wrote. */
static void push_own(struct perf_stacks *stacks, const struct perf_frame_line *line)
{
    struct frame frame = {
        .address = line->address,
        .kind = (uint8_t)perf_stack_kind_of_code(line->address, line->module),
    };

    if (!line->address && span_is(line->symbol, NO_STACK) && span_is(line->module, UNKNOWN))
        return;
    if (frame.kind == FRAME_ERLANG && !line->address)
        frame.kind = FRAME_MARK;
    frame.symbol = symbol_named(stacks, unescaped(stacks, line->symbol));
    if (frame.kind != FRAME_ERLANG && frame.kind != FRAME_MARK && !span_is(line->module, UNKNOWN))
        frame.module = module_named(stacks, unescaped(stacks, line->module));
    push(stacks, &frame);
}

/* The symbol of "schedule+0x12". The offset is subtracted from *address. Without an offset,
 * *address becomes 0. */
static struct span without_offset(struct span symbol, uint64_t *address)
{
    const char *plus = memrchr(symbol.at, '+', symbol.size);
    struct span rest;
    uint64_t offset;

    if (plus) {
        rest = span_skip(symbol, (size_t)(plus - symbol.at));
        if (span_begins(rest, "+0x")) {
            rest = span_skip(rest, 3);
            if (span_take_hex(&rest, &offset) && !rest.size) {
                *address -= offset;
                return (struct span){symbol.at, (size_t)(plus - symbol.at)};
            }
        }
    }
    *address = 0;
    return symbol;
}

/* The place where the arguments of a function begin, or the symbol's size if there are none. Go has
 * methods like "net/http.(*Client).Do". */
static size_t find_arguments(struct span symbol)
{
    const char *receiver = memmem(symbol.at, symbol.size, ".(", 2);
    size_t at = 0;

    if (receiver && memmem(receiver + 2, symbol.size - (size_t)(receiver + 2 - symbol.at), ").", 2))
        return symbol.size;
    while (at < symbol.size &&
           (symbol.at[at] != '(' || span_begins(span_skip(symbol, at), ANONYMOUS)))
        at++;
    return at;
}

static void tidy(struct buffer *text, struct span symbol, bool java)
{
    size_t size = find_arguments(symbol);

    if (java && span_begins(symbol, "L") && memchr(symbol.at, '/', size)) {
        symbol = span_skip(symbol, 1);
        size--;
    }
    for (size_t i = 0; i < size; i++) {
        char c = symbol.at[i];

        if (c == ';')
            c = ':';
        if (c != '"' && c != '\'')
            buffer_byte(text, c);
    }
}

static void put_module_name(struct buffer *text, struct span module)
{
    const char *slash = memrchr(module.at, '/', module.size);

    if (!module.size || span_is(module, UNKNOWN)) {
        buffer_text(text, UNKNOWN);
        return;
    }
    if (slash)
        module = span_skip(module, (size_t)(slash - module.at) + 1);
    buffer_byte(text, '[');
    buffer_put(text, module.at, module.size);
    buffer_byte(text, ']');
}

/* Add one function of the line. `inlined`: into another function. `frame` contains address, kind
 * and module of the code. */
static void push_function(struct perf_stacks *stacks, struct frame frame, struct span symbol,
                          struct span module, bool inlined, bool java)
{
    struct buffer *text = &stacks->scratch;

    frame.unresolved = span_is(symbol, UNKNOWN);
    text->size = 0;
    if (frame.unresolved)
        put_module_name(text, module);
    else
        tidy(text, symbol, java);
    if (inlined && !span_ends((struct span){text->data, text->size}, INLINED))
        buffer_text(text, INLINED);
    frame.symbol = symbol_named(stacks, (struct span){text->data, text->size});
    push(stacks, &frame);
}

/* The "->" before the innermost function, or NULL if there is only one function. */
static const char *last_arrow(struct span symbol)
{
    for (size_t at = symbol.size; at > 2; at--) {
        struct span before = {symbol.at, at - 2};

        if (symbol.at[at - 2] == '-' && symbol.at[at - 1] == '>' && !span_ends(before, "operator"))
            return symbol.at + at - 2;
    }
    return NULL;
}

static void push_functions(struct perf_stacks *stacks, const struct perf_frame_line *line,
                           bool java)
{
    struct frame frame = {
        .address = line->address,
        .kind = (uint8_t)perf_stack_kind_of_code(line->address, line->module),
    };
    struct span symbol = without_offset(line->symbol, &frame.address);
    const char *arrow;

    /* Old perf adds the name of a process as a frame, in parentheses. */
    if (span_begins(symbol, "(") && !span_begins(symbol, ANONYMOUS))
        return;
    if (frame.kind != FRAME_ERLANG && !span_is(line->module, UNKNOWN))
        frame.module = module_named(stacks, line->module);
    while ((arrow = last_arrow(symbol))) {
        size_t outer = (size_t)(arrow - symbol.at);

        push_function(stacks, frame, span_skip(symbol, outer + 2), line->module, true, java);
        symbol.size = outer;
    }
    push_function(stacks, frame, symbol, line->module, false, java);
}

static bool push_line(struct perf_stacks *stacks, struct span text, bool java)
{
    uint32_t known = input_text_cache_get(stacks->lines, java, text);
    struct perf_frame_line line;
    size_t count = stacks->count;

    if (known) {
        push_id(stacks, known);
        return true;
    }
    if (!perf_line_frame(text, &line))
        return false;
    if (stacks->own)
        push_own(stacks, &line);
    else
        push_functions(stacks, &line, java);
    if (stacks->count == count + 1)
        input_text_cache_put(stacks->lines, java, text, stacks->list[count]);
    return true;
}

/* ---- stacks ---- */

static void push_root(struct perf_stacks *stacks, const char *comm)
{
    struct buffer *text = &stacks->scratch;

    text->size = 0;
    buffer_text(text, comm);
    for (size_t i = 0; i < text->size; i++)
        if (text->data[i] == ' ')
            text->data[i] = '_';
    push(stacks, &(struct frame){
                     .kind = FRAME_MARK,
                     .symbol = profile_string(stacks->profile, text->data, text->size),
                 });
}

/* Make a stack of the list. */
static struct perf_stack make_stack(struct perf_stacks *stacks)
{
    struct perf_stack stack = {.frames = (uint32_t)stacks->count};

    for (size_t i = stacks->count; i--;) {
        stack.stack = profile_stack(stacks->profile, stack.stack, stacks->list[i]);
        stack.unresolved += profile_get_frame(stacks->profile, stacks->list[i])->unresolved;
    }
    return stack;
}

uint64_t perf_stacks_read(struct perf_stacks *stacks, struct span text, string_id comm,
                          struct perf_stack *ret_stack)
{
    uint32_t root = stacks->own ? 0 : comm, known = input_text_cache_get(stacks->known, root, text);
    bool java = !stacks->own && !strncmp(profile_text(stacks->profile, comm), "java", 4);
    struct span rest = text;

    if (known) {
        *ret_stack = *(const struct perf_stack *)intern_get(&stacks->stacks, known);
        return 0;
    }
    stacks->count = 0;
    for (uint64_t line = 1; rest.size; line++) {
        const char *end = memchr(rest.at, '\n', rest.size);
        size_t size = end ? (size_t)(end - rest.at) : rest.size;

        if (!push_line(stacks, (struct span){rest.at, size}, java))
            return line;
        rest = span_skip(rest, end ? size + 1 : size);
    }
    if (!stacks->own)
        push_root(stacks, profile_text(stacks->profile, comm));
    *ret_stack = make_stack(stacks);
    input_text_cache_put(stacks->known, root, text, intern_add(&stacks->stacks, ret_stack));
    return 0;
}

/* True for "/tmp/perf-100.map", which contains code of a JIT. */
static bool is_map(struct span module)
{
    const char *base = memrchr(module.at, '/', module.size);
    struct span name = base ? span_skip(module, (size_t)(base - module.at) + 1) : module;
    uint64_t pid;

    if (!span_begins(name, "perf-"))
        return false;
    name = span_skip(name, strlen("perf-"));
    return span_take_number(&name, UINT64_MAX, &pid) && span_is(name, ".map");
}

enum frame_kind perf_stack_kind_of_code(uint64_t address, struct span module)
{
    if (is_map(module))
        return FRAME_ERLANG;
    /* The upper half of addresses belongs to the kernel, on x86-64 and arm64. */
    if (address >> 63 || span_begins(module, "[kernel.") || span_begins(module, "[guest.kernel."))
        return FRAME_KERNEL;
    return FRAME_NATIVE;
}

/* True for "lists:map/2", also with text after it. */
static bool is_function(struct span text)
{
    const char *colon = memchr(text.at, ':', text.size);
    const char *slash = memrchr(text.at, '/', text.size);

    return colon && slash && colon > text.at && slash > colon + 1 &&
           slash + 1 < text.at + text.size && is_digit(slash[1]);
}

enum frame_kind perf_stack_kind_of_text(struct span text)
{
    if (span_begins(text, "["))
        return FRAME_MARK;
    if (span_ends(text, "_[k]")) /* stackcollapse-perf.pl --kernel */
        return FRAME_KERNEL;
    return is_function(text) || span_ends(text, "_[j]") ? FRAME_ERLANG : FRAME_NATIVE;
}
