// SPDX-License-Identifier: Apache-2.0
/*
 * A flame graph as a picture: no script, so that it shows the same in a browser, an editor and a
 * document. Root at the bottom, widths by weight; each frame has its full name as a tooltip. A
 * browser shows the top of a picture first, so the root of a high one is there.
 */
#include "output/formats.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "output/counts.h"
#include "output/frame_tree.h"
#include "output/number_text.h"
#include "output/output.h"
#include "output/summary/summary_text.h"
#include "output/svg/svg_internal.h"
#include "output/weight.h"
#include "profile/events.h"
#include "util/alloc.h"
#include "util/buffer.h"
#include "util/utf8.h"
#include "view/root_frame.h"

/* All in px. */
#define WIDTH        1280
#define MARGIN       16
#define FRAME_HEIGHT 16
#define HEAD_HEIGHT  84
#define FOOT_HEIGHT  34
#define FOOT_LINE    16
#define TEXT_INSET   3.5
/* The rows of frames that a browser's window has room for. */
#define ROWS_IN_SIGHT 50
/* The advance of monospace fonts is 0.6 em (DejaVu Sans Mono 0.602, Consolas 0.55); 11 px. */
#define CELL_WIDTH 6.63

/* Characters that always fit in the title, and in a line at the foot. */
#define TITLE_CELLS 90
#define FOOT_CELLS  140

struct svg {
    FILE *file;
    struct output_source source;
    struct weight weight;
    uint64_t samples;
    struct counts counts;
};

/* How the nodes of a tree look, by node. */
struct looks {
    enum svg_kind *kinds;
    enum svg_change *changes; /* NULL: changes are not shown */
    bool seen[SVG_KINDS];     /* kinds of the frames that are drawn */
};

static void *svg_begin(FILE *file, const struct output_source *source, struct error *error)
{
    struct svg *svg = xcalloc(1, sizeof(*svg));

    (void)error;
    svg->file = file;
    svg->source = *source;
    svg->weight = weight_of_event(source, source->event);
    return svg;
}

static int svg_sample(void *state, const struct sample *sample, struct error *error)
{
    struct svg *svg = state;

    (void)error;
    svg->samples += !sample->is_part;
    counts_add(&svg->counts, view_of_sample(svg->source.view, sample),
               sample_amount(&svg->weight, sample));
    return 0;
}

static void put_z(FILE *file, const char *text)
{
    svg_style_put_text(file, text, strlen(text));
}

static void write_start(FILE *file, int height)
{
    fprintf(file,
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" "
            "viewBox=\"0 0 %d %d\">\n",
            WIDTH, height, WIDTH, height);
    fputs("<style>\n"
          "text { font: 11px ui-monospace, Menlo, \"DejaVu Sans Mono\", monospace; "
          "fill: #20242c; white-space: pre; }\n"
          ".head { font: 600 18px system-ui, \"Helvetica Neue\", \"DejaVu Sans\", sans-serif; }\n"
          ".note { font: 12px system-ui, \"Helvetica Neue\", \"DejaVu Sans\", sans-serif; "
          "fill: #5b6270; }\n"
          "g:hover > rect { stroke: #20242c; }\n"
          "</style>\n"
          "<rect width=\"100%\" height=\"100%\" fill=\"#fdfdfc\"/>\n",
          file);
}

static double write_key(FILE *file, double x, struct svg_colour colour, const char *name)
{
    fprintf(file,
            "<rect x=\"%.0f\" y=\"60\" width=\"11\" height=\"11\" rx=\"2.5\" fill=\"%s\"/>"
            "<text class=\"note\" x=\"%.0f\" y=\"70\">%s</text>\n",
            x, colour.text, x + 16, name);
    return x + 44 + 6.8 * (double)strlen(name);
}

/* Colours stand for kinds of code, or for growth and release if changes are shown. */
static void write_legend(FILE *file, const struct looks *looks)
{
    double x = MARGIN;

    if (looks->changes) {
        x = write_key(file, x, svg_change_colour(SVG_GROWTH), "growth");
        write_key(file, x, svg_change_colour(SVG_RELEASE), "release");
        return;
    }
    for (int kind = 0; kind < SVG_KINDS; kind++)
        if (looks->seen[kind])
            x = write_key(file, x, svg_kind_colour((enum svg_kind)kind),
                          svg_kind_name((enum svg_kind)kind));
}

static void cpu_note(const struct svg *svg, const struct frame_tree *tree,
                     const struct recording_totals *totals, struct buffer *note)
{
    const struct recording_header *header = svg->source.header;

    buffer_format(note, "%s of %s at %u Hz", weight_text(&svg->weight, tree->nodes[0].total).text,
                  header->event, header->frequency);
    if (totals->erlang_samples)
        buffer_format(note, "; %.1f %% of Erlang stacks complete",
                      number_text_percent(totals->complete_stacks, totals->erlang_samples));
    if (svg->weight.unit == UNIT_NS && totals->cpu_accounted_ns)
        buffer_format(note, "; scaled from %.3f of the CPU time", cpu_account_ratio(totals));
}

/* Append the weight and number of the samples, and the counts of the event over all hits. */
static void event_note(const struct svg *svg, const struct frame_tree *tree, struct buffer *note)
{
    const struct profile *profile = svg->source.profile;
    event_id event = svg->source.event;
    const struct event_summary *summary = recording_get_summary(svg->source.recording, event);
    const struct weight *weight = &svg->weight;
    bool is_counted = summary && !weight->is_metric && !weight->is_one;
    double half = is_counted ? event_summary_half(summary, weight->value) : 0;

    buffer_format(note, "%s: ", profile_text(profile, profile_get_event(profile, event)->name));
    if (!weight->is_one)
        buffer_format(note, "%s%s %s in ", weight->is_change ? "change of " : "", weight->name,
                      number_text_estimate(tree->nodes[0].total, half, weight->unit).amount.text);
    buffer_format(note, "%s samples", number_text(svg->samples).text);
    if (is_counted) {
        buffer_text(note, "; counted: ");
        summary_text_of_sum(summary, weight->value, weight->unit, note);
        buffer_text(note, " in ");
        summary_text_of_hits(profile, summary, note);
    }
}

static void write_head(const struct svg *svg, const struct frame_tree *tree,
                       const struct looks *looks, const struct recording_totals *totals)
{
    const struct recording_header *header = svg->source.header;
    uint32_t targets = profile_counts(svg->source.profile).targets;
    struct buffer title = {0};

    if (targets == 1)
        summary_text_of_target(svg->source.profile, 1, &title);
    else
        buffer_format(&title, "%u targets on %s", targets, header->hostname);
    fprintf(svg->file, "<text class=\"head\" x=\"%d\" y=\"30\">", MARGIN);
    buffer_byte(&title, '\0');
    svg_style_put_text(svg->file, title.data, utf8_fit(title.data, TITLE_CELLS));
    fprintf(svg->file, "</text>\n<text class=\"note\" x=\"%d\" y=\"49\">%.1f s, ", MARGIN,
            output_source_event_seconds(&svg->source, svg->source.event, totals));
    title.size = 0;
    if (svg->weight.period)
        cpu_note(svg, tree, totals, &title);
    else
        event_note(svg, tree, &title);
    buffer_byte(&title, '\0');
    put_z(svg->file, title.data);
    fputs("</text>\n", svg->file);
    buffer_free(&title);
    write_legend(svg->file, looks);
}

/* Write as much of the text as fits: without its module, and with ".." if that is still too long.
 */
static void write_label(FILE *file, const char *text, double x, double y, double width)
{
    double room = (width - 2 * TEXT_INSET) / CELL_WIDTH;
    size_t cells = room > 0 ? (size_t)room : 0, size;
    bool whole = utf8_cells(text) <= cells;

    if (!whole) {
        text = svg_without_module(text);
        whole = utf8_cells(text) <= cells;
    }
    if (!whole && cells < 3)
        return;
    size = whole ? strlen(text) : utf8_fit(text, cells - 2);
    fprintf(file, "<text x=\"%.2f\" y=\"%.1f\">", x + TEXT_INSET, y + FRAME_HEIGHT - 4.5);
    svg_style_put_text(file, text, size);
    fprintf(file, "%s</text>", whole ? "" : "..");
}

/* Return whether each node is growth or release, to be freed; NULL if changes are not shown. */
static enum svg_change *node_changes(const struct svg *svg, const struct frame_tree *tree)
{
    enum svg_change *changes;

    if (!svg->weight.is_change)
        return NULL;
    changes = xcalloc(tree->count, sizeof(*changes));
    for (uint32_t i = 1; i < tree->count; i++) {
        const struct tree_node *node = &tree->nodes[i];

        changes[i] = changes[node->parent];
        if (changes[i] || node->kind != FRAME_MARK)
            continue;
        if (!strcmp(node->text, ROOT_GROWTH))
            changes[i] = SVG_GROWTH;
        else if (!strcmp(node->text, ROOT_RELEASE))
            changes[i] = SVG_RELEASE;
    }
    return changes;
}

/* A mark is a root frame if only root frames are below it. */
static enum svg_kind *node_kinds(const struct frame_tree *tree)
{
    enum svg_kind *kinds = xcalloc(tree->count, sizeof(*kinds));

    for (uint32_t i = 1; i < tree->count; i++) {
        const struct tree_node *node = &tree->nodes[i];

        kinds[i] =
            svg_kind_of((enum frame_kind)node->kind, node->text, kinds[node->parent] == SVG_ROOT);
    }
    return kinds;
}

static struct looks looks_of(const struct svg *svg, const struct frame_tree *tree,
                             const struct svg_layout *layout)
{
    struct looks looks = {.kinds = node_kinds(tree), .changes = node_changes(svg, tree)};

    for (size_t i = 0; i < layout->count; i++)
        looks.seen[looks.kinds[layout->boxes[i].node]] = true;
    return looks;
}

static void write_box(const struct svg *svg, const struct frame_tree *tree,
                      const struct looks *looks, const struct svg_box *box, double y)
{
    static const char cut_text[] = "[deeper frames]";
    const struct tree_node *node = &tree->nodes[box->node];
    const char *text = box->cut ? cut_text : node->text;
    FILE *file = svg->file;
    /* Show a thin line of background between neighbours, unless the box is too narrow. */
    double width = box->width > 1.5 ? box->width - 0.5 : box->width;
    struct svg_colour colour = svg_frame_colour(
        looks->kinds[box->node], looks->changes ? looks->changes[box->node] : SVG_NO_CHANGE, text);

    if (box->cut)
        colour = (struct svg_colour){"#ececef"};
    fputs("<g><title>", file);
    put_z(file, text);
    fprintf(file,
            " (%s, %.2f%%)</title>"
            "<rect x=\"%.2f\" y=\"%.0f\" width=\"%.2f\" height=\"%d\" rx=\"1.5\" fill=\"%s\"/>",
            weight_text(&svg->weight, node->total).text,
            number_text_percent(node->total, tree->nodes[0].total), box->x, y, width,
            FRAME_HEIGHT - 1, colour.text);
    write_label(file, text, box->x, y, width);
    fputs("</g>\n", file);
}

/* Append the losses, in lines that fit the width. Returns the number of lines, at least 1. */
static int foot_lines(const struct svg *svg, const struct recording_totals *totals,
                      struct buffer *lines)
{
    const char *before = "lost or incomplete: ";
    size_t line_start = 0, before_idle;
    int count = 1;

    if (totals->cut)
        buffer_text(lines, "the recording was cut; ");
    if (totals->left_out)
        buffer_format(lines, "%s samples are not selected; ", number_text(totals->left_out).text);
    if (totals->unknown)
        buffer_format(lines, "%s samples have no known value; ", number_text(totals->unknown).text);
    before_idle = lines->size;
    idle_text(&svg->source, totals, lines);
    if (lines->size > before_idle)
        buffer_text(lines, "; ");
    for (int i = 0; i < LOSS_COUNT; i++) {
        if (!totals->losses[i])
            continue;
        if (lines->size - line_start > FOOT_CELLS) {
            before = ",\n";
            line_start = lines->size;
            count++;
        }
        buffer_format(lines, "%s%s %s", before, profile_loss_name(i),
                      number_text(totals->losses[i]).text);
        before = ", ";
    }
    return count;
}

static void write_foot(const struct svg *svg, struct buffer *lines, int y)
{
    char *rest = NULL;

    buffer_byte(lines, '\0');
    for (char *line = strtok_r(lines->data, "\n", &rest); line;
         line = strtok_r(NULL, "\n", &rest)) {
        fprintf(svg->file, "<text class=\"note\" x=\"%d\" y=\"%d\">", MARGIN, y);
        put_z(svg->file, line);
        fputs("</text>\n", svg->file);
        y += FOOT_LINE;
    }
    fprintf(svg->file, "<text class=\"note\" text-anchor=\"end\" x=\"%d\" y=\"30\">beamflame ",
            WIDTH - MARGIN);
    put_z(svg->file, svg->source.header->version);
    fputs("</text>\n", svg->file);
}

/* Write where the root is, because a window may show the other end of the picture. */
static void write_root_place(FILE *file, bool is_on_top)
{
    fprintf(file,
            "<text class=\"note\" text-anchor=\"end\" x=\"%d\" y=\"70\">root at the %s</text>\n",
            WIDTH - MARGIN, is_on_top ? "top" : "bottom");
}

static void write_graph(const struct svg *svg, const struct recording_totals *totals,
                        struct frame_tree *tree)
{
    struct svg_layout layout;
    struct buffer foot = {0};
    struct looks looks;
    bool is_root_on_top;
    int bottom, lines = foot_lines(svg, totals, &foot);

    svg_layout_make(&layout, tree, MARGIN, WIDTH - 2 * MARGIN);
    looks = looks_of(svg, tree, &layout);
    is_root_on_top = layout.levels > ROWS_IN_SIGHT;
    bottom = HEAD_HEIGHT + (int)layout.levels * FRAME_HEIGHT;
    write_start(svg->file, bottom + FOOT_HEIGHT + (lines - 1) * FOOT_LINE);
    write_head(svg, tree, &looks, totals);
    write_root_place(svg->file, is_root_on_top);
    for (size_t i = 0; i < layout.count; i++)
        write_box(svg, tree, &looks, &layout.boxes[i],
                  is_root_on_top ? HEAD_HEIGHT + layout.boxes[i].level * FRAME_HEIGHT
                                 : bottom - (layout.boxes[i].level + 1) * FRAME_HEIGHT);
    write_foot(svg, &foot, bottom + 21);
    fputs("</svg>\n", svg->file);
    free(looks.kinds);
    free(looks.changes);
    buffer_free(&foot);
    svg_layout_free(&layout);
}

static int svg_finish(void *state, const struct recording_totals *totals, struct error *error)
{
    struct svg *svg = state;
    const struct view_frame *frames;
    struct frame_tree tree;

    (void)error;
    frame_tree_init(&tree, "all");
    for (view_stack_id id = 1; totals && id < svg->counts.size; id++) {
        if (!svg->counts.of[id])
            continue;
        size_t count = view_frames(svg->source.view, id, &frames);

        frame_tree_add(&tree, frames, count, svg->counts.of[id]);
    }
    frame_tree_finish(&tree);
    if (totals)
        write_graph(svg, totals, &tree);
    frame_tree_free(&tree);
    counts_free(&svg->counts);
    free(svg);
    return 0;
}

const struct output_format svg_format = {
    .name = "svg",
    .suffixes = {".svg", ".svg.gz"},
    .one_event = true,
    .begin = svg_begin,
    .sample = svg_sample,
    .finish = svg_finish,
};
