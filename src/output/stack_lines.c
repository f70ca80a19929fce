// SPDX-License-Identifier: Apache-2.0
#include "output/stack_lines.h"

#include <stdlib.h>
#include <string.h>

#include "util/alloc.h"
#include "util/encode.h"
#include "util/hash.h"
#include "util/number.h"

struct line_node {
    uint32_t parent; /* 0: this is a root frame */
    uint32_t text;   /* in `texts` */
};

enum { RECENT_TEXTS = 1 << 12 };

struct escaped_text {
    const char *text; /* of the view; NULL: none */
    uint32_t id;      /* in `texts` */
};

struct path_step {
    const char *text; /* of the view */
    uint32_t node;
};

void stack_lines_init(struct stack_lines *lines)
{
    *lines = (struct stack_lines){0};
    intern_init(&lines->nodes, sizeof(struct line_node), sizeof(struct line_node));
    lines->recent = xcalloc(RECENT_TEXTS, sizeof(*lines->recent));
}

void stack_lines_free(struct stack_lines *lines)
{
    string_table_free(&lines->texts);
    intern_free(&lines->nodes);
    free(lines->recent);
    free(lines->sums);
    free(lines->path);
    buffer_free(&lines->line);
}

/* ---- stacks ---- */

static bool must_escape(const char *text, size_t at)
{
    if (text[at] == '#')
        return !at && (text[1] == ' ' || !text[1]);
    return text[at] == ';' || text[at] == '\n';
}

/* Cut a text that is too long for a table of texts, but not within an escape: a reader would take
 * what is left of the escape for text. */
static void cut_between_escapes(struct buffer *escaped)
{
    size_t size;

    if (escaped->size <= STRING_MAX)
        return;
    size = string_table_cut(escaped->data, escaped->size) - strlen("...");
    if (escaped->data[size - 1] == '%')
        size -= 1;
    else if (escaped->data[size - 2] == '%')
        size -= 2;
    escaped->size = size;
    buffer_text(escaped, "...");
}

static uint32_t escaped_text(struct stack_lines *lines, const char *text)
{
    struct escaped_text *recent =
        &lines->recent[hash_word((uint64_t)(uintptr_t)text) % RECENT_TEXTS];
    struct buffer *escaped = &lines->line;

    if (recent->text == text)
        return recent->id;
    escaped->size = 0;
    encode_escapes(escaped, text, strlen(text), must_escape);
    cut_between_escapes(escaped);
    *recent =
        (struct escaped_text){text, string_table_add(&lines->texts, escaped->data, escaped->size)};
    return recent->id;
}

/* Return how many frames, from the root, are the same as in the stack that was added last. */
static size_t shared_depth(const struct stack_lines *lines, const struct view_frame *frames,
                           size_t count)
{
    size_t depth = 0;

    while (depth < count && depth < lines->depth && lines->path[depth].text == frames[depth].text)
        depth++;
    return depth;
}

void stack_lines_add(struct stack_lines *lines, const struct view_frame *frames, size_t count,
                     const uint64_t sums[2])
{
    static const struct view_frame none = {.text = "[no stack]"};
    uint32_t node = 0;

    if (!count) {
        frames = &none;
        count = 1;
    }
    lines->depth = shared_depth(lines, frames, count);
    if (lines->depth)
        node = lines->path[lines->depth - 1].node;
    while (lines->depth < count) {
        const char *text = frames[lines->depth].text;

        node = intern_add(&lines->nodes, &(struct line_node){node, escaped_text(lines, text)});
        lines->path = xgrow(lines->path, &lines->path_room, lines->depth, sizeof(*lines->path));
        lines->path[lines->depth++] = (struct path_step){text, node};
    }
    lines->sums = xgrow(lines->sums, &lines->room, node, sizeof(*lines->sums));
    for (int i = 0; i < 2; i++)
        lines->sums[node][i] = saturating_sum(lines->sums[node][i], sums[i]);
}

/* ---- lines in order ---- */

/* The line that ends at a node, or all lines that continue behind it. */
struct line_entry {
    uint32_t node;
    bool continues;
};

static const struct line_node *node_of(const struct stack_lines *lines, uint32_t id)
{
    return intern_get(&lines->nodes, id);
}

/* The byte of the entry's lines at `at`, in or right behind the text of its node. */
static int byte_at(const struct line_entry *entry, const char *at)
{
    return *at || !entry->continues ? (unsigned char)*at : ';';
}

/* By parent, and below one parent as strcmp() orders their lines. No text contains ';'. */
static int compare_entries(const void *a, const void *b, void *context)
{
    const struct stack_lines *lines = context;
    const struct line_entry *x = a, *y = b;
    const struct line_node *of_x = node_of(lines, x->node), *of_y = node_of(lines, y->node);
    const char *s = string_table_get(&lines->texts, of_x->text);
    const char *t = string_table_get(&lines->texts, of_y->text);

    if (of_x->parent != of_y->parent)
        return of_x->parent < of_y->parent ? -1 : 1;
    for (; *s && *s == *t; s++)
        t++;
    return byte_at(x, s) - byte_at(y, t);
}

static const uint64_t *sums_of(const struct stack_lines *lines, uint32_t node)
{
    static const uint64_t none[2];

    return node < lines->room ? lines->sums[node] : none;
}

struct entries {
    struct line_entry *list;
    size_t count;
    size_t *first; /* of the entries below node n at [n], which end where those of n + 1 begin */
};

static struct entries sort_entries(struct stack_lines *lines)
{
    size_t nodes = lines->nodes.count;
    struct entries entries = {
        .list = xreallocarray(NULL, 2 * nodes + 1, sizeof(*entries.list)),
        .first = xcalloc(nodes + 2, sizeof(*entries.first)),
    };

    for (uint32_t id = 1; id <= nodes; id++) { /* a parent has a lower number */
        uint32_t parent = node_of(lines, id)->parent;
        const uint64_t *sums = sums_of(lines, id);

        if (parent && !entries.first[parent])
            entries.list[entries.count++] = (struct line_entry){parent, true};
        entries.first[parent] = 1;
        if (sums[0] || sums[1])
            entries.list[entries.count++] = (struct line_entry){id, false};
    }
    qsort_r(entries.list, entries.count, sizeof(*entries.list), compare_entries, lines);
    for (size_t node = 0, at = 0; node <= nodes + 1; node++) {
        entries.first[node] = at;
        while (at < entries.count && node_of(lines, entries.list[at].node)->parent == node)
            at++;
    }
    return entries;
}

/* A node whose entries are being passed. */
struct open_node {
    size_t at, end; /* of its entries */
    size_t size;    /* of the line up to the node, with its ';' */
};

void stack_lines_each(struct stack_lines *lines,
                      void (*each)(void *context, const char *line, const uint64_t sums[2]),
                      void *context)
{
    struct entries entries = sort_entries(lines);
    struct open_node *levels = NULL;
    size_t room = 0, depth = 0;

    levels = xgrow(levels, &room, 0, sizeof(*levels));
    levels[depth++] = (struct open_node){0, entries.first[1], 0};
    while (depth) {
        struct open_node *level = &levels[depth - 1];
        const struct line_entry *entry = &entries.list[level->at];

        if (level->at++ == level->end) {
            depth--;
            continue;
        }
        lines->line.size = level->size;
        buffer_text(&lines->line,
                    string_table_get(&lines->texts, node_of(lines, entry->node)->text));
        if (entry->continues) {
            buffer_byte(&lines->line, ';');
            levels = xgrow(levels, &room, depth, sizeof(*levels));
            levels[depth++] = (struct open_node){entries.first[entry->node],
                                                 entries.first[entry->node + 1], lines->line.size};
        } else {
            buffer_byte(&lines->line, '\0');
            each(context, lines->line.data, sums_of(lines, entry->node));
        }
    }
    free(levels);
    free(entries.list);
    free(entries.first);
}
