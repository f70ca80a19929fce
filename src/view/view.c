// SPDX-License-Identifier: Apache-2.0
#include "view/view.h"

#include <stdlib.h>
#include <string.h>

#include "profile/string_table.h"
#include "util/alloc.h"
#include "util/encode.h"
#include "util/intern.h"
#include "view/root_frame.h"
#include "view/shown_stack.h"

/* A root frame in a chain of them. */
struct chain_node {
    uint32_t parent; /* in view->chains; 0: this is the outermost frame */
    uint32_t text;   /* in view->texts */
};

/* Root frames as shown. Samples with different keys but equal texts share them. */
struct view_root {
    target_id target; /* set even if it is not shown: modules name its pid */
    uint32_t chain;   /* in view->chains; 0: no root frame */
    uint32_t named;   /* the stack shows the node itself: no frame for it */
};

struct view_stack {
    view_root_id root; /* in view->roots */
    stack_id stack;    /* in view->shown */
};

/* A number for each id; 0: not known yet. */
struct memo {
    uint32_t *values;
    size_t room;
};

struct view {
    const struct profile *profile;
    struct view_options options;
    struct string_table texts;
    struct intern keys; /* struct root_key; root_of_key[id - 1] is its root */
    uint32_t *root_of_key;
    struct intern chains;        /* struct chain_node */
    struct intern roots, stacks; /* struct view_root, struct view_stack */
    struct shown_stacks *shown;
    uint64_t *memory; /* newest, by process id; 0: unknown */
    size_t memory_room;
    struct memo files, maps; /* texts of modules, in `texts`: by module and by target */
    struct memo nodes;       /* texts by target; made again if there are more targets */
    uint32_t node_targets;   /* the number of targets when `nodes` was made */
    struct memo sizes;       /* by frame: bytes of its text and module */
    struct view_frame *frames;
    size_t frame_count, frame_capacity;
    struct buffer scratch;
    uint64_t given, allowed; /* bytes of the stacks that view_frames() gave */
};

struct view *view_new(const struct profile *profile, const struct view_options *options)
{
    struct view *view = xcalloc(1, sizeof(*view));

    view->profile = profile;
    view->options = *options;
    view->allowed = UINT64_MAX;
    intern_init(&view->keys, sizeof(struct root_key), sizeof(struct root_key));
    intern_init(&view->chains, sizeof(struct chain_node), sizeof(struct chain_node));
    intern_init(&view->roots, sizeof(struct view_root), sizeof(struct view_root));
    intern_init(&view->stacks, sizeof(struct view_stack), sizeof(struct view_stack));
    view->shown = shown_stacks_new(profile, options);
    return view;
}

void view_free(struct view *view)
{
    if (!view)
        return;
    string_table_free(&view->texts);
    intern_free(&view->keys);
    intern_free(&view->chains);
    intern_free(&view->roots);
    intern_free(&view->stacks);
    shown_stacks_free(view->shown);
    free(view->root_of_key);
    free(view->memory);
    free(view->files.values);
    free(view->maps.values);
    free(view->nodes.values);
    free(view->sizes.values);
    free(view->frames);
    buffer_free(&view->scratch);
    free(view);
}

const struct view_options *view_get_options(const struct view *view)
{
    return &view->options;
}

bool view_groups_by(const struct view *view, enum group_by key)
{
    return grouping_has(&view->options.grouping, key);
}

static uint32_t view_scratch_text(struct view *view)
{
    return string_table_add(&view->texts, view->scratch.data, view->scratch.size);
}

struct chain_builder {
    struct view *view;
    uint32_t node;
};

static void add_to_chain(void *context, const struct buffer *text)
{
    struct chain_builder *chain = context;
    uint32_t id = string_table_add(&chain->view->texts, text->data, text->size);

    chain->node = intern_add(&chain->view->chains, &(struct chain_node){chain->node, id});
}

static view_root_id view_root_of_key(struct view *view, const struct root_key *key)
{
    uint32_t known = view->keys.count, id = intern_add(&view->keys, key);
    struct chain_builder chain = {view, 0};

    if (id <= known)
        return view->root_of_key[id - 1];
    root_texts(view->profile, &view->options.grouping, key, add_to_chain, &chain);
    view->root_of_key =
        xreallocarray(view->root_of_key, view->keys.capacity, sizeof(*view->root_of_key));
    view->root_of_key[id - 1] =
        intern_add(&view->roots, &(struct view_root){key->target, chain.node, key->named});
    return view->root_of_key[id - 1];
}

void view_note_memory(struct view *view, const struct sample *sample)
{
    if (!sample->process || !metrics_know(&sample->metrics, METRIC_MEMORY))
        return;
    view->memory = xgrow(view->memory, &view->memory_room, sample->process, sizeof(*view->memory));
    view->memory[sample->process] = sample->metrics.values[METRIC_MEMORY];
}

static void recall_memory(const struct view *view, struct sample *sample)
{
    sample->metrics.known &= ~(1U << METRIC_MEMORY);
    if (sample->process < view->memory_room && view->memory[sample->process])
        metrics_set(&sample->metrics, METRIC_MEMORY, view->memory[sample->process]);
}

view_root_id view_root_of_sample(struct view *view, const struct sample *sample)
{
    struct sample known = *sample;
    struct root_key key;

    if (view_groups_by(view, GROUP_MEMORY))
        recall_memory(view, &known);
    key = root_key_of_sample(view->profile, &view->options.grouping, &known,
                             shown_stack_bottom(view->shown, sample->stack));
    return view_root_of_key(view, &key);
}

view_stack_id view_of_sample(struct view *view, const struct sample *sample)
{
    const struct view_stack shown = {
        .root = view_root_of_sample(view, sample),
        .stack = shown_stack_of(view->shown, sample->stack),
    };

    return intern_add(&view->stacks, &shown);
}

const char *view_symbol(const struct profile *profile, const struct frame *frame)
{
    return frame->symbol ? profile_text(profile, frame->symbol) : "[unknown]";
}

static bool must_escape_in_module(const char *text, size_t at)
{
    return (unsigned char)text[at] <= ' ' || strchr("();", text[at]);
}

/* The dso of machine code for perf-script: a path without spaces. */
static uint32_t text_of_file(struct view *view, module_id id)
{
    static const char deleted[] = " (deleted)"; /* proc(5), /proc/PID/maps */
    const char *path = profile_module_path(view->profile, id);
    size_t size = strlen(path);

    view->scratch.size = 0;
    if (!size)
        buffer_text(&view->scratch, "[unknown]");
    else if (size > strlen(deleted) && !strcmp(path + size - strlen(deleted), deleted))
        size -= strlen(deleted);
    encode_escapes(&view->scratch, path, size, must_escape_in_module);
    return view_scratch_text(view);
}

/* The dso of Erlang code: a map file, as for `perf`. */
static uint32_t text_of_map(struct view *view, target_id target)
{
    view->scratch.size = 0;
    buffer_format(&view->scratch, "/tmp/perf-%u.map",
                  target ? profile_get_target(view->profile, target)->pid : 0);
    return view_scratch_text(view);
}

/* The element for an id. */
static uint32_t *memo_of(struct memo *memo, uint32_t id)
{
    memo->values = xgrow(memo->values, &memo->room, id, sizeof(*memo->values));
    return &memo->values[id];
}

static const char *module_text(struct view *view, const struct frame *frame, target_id target)
{
    bool is_file = frame->kind == FRAME_NATIVE || frame->kind == FRAME_KERNEL;
    uint32_t *memo = is_file ? memo_of(&view->files, frame->module) : memo_of(&view->maps, target);

    if (!*memo)
        *memo = is_file ? text_of_file(view, frame->module) : text_of_map(view, target);
    return string_table_get(&view->texts, *memo);
}

static void push_frame(struct view *view, const struct view_frame *frame)
{
    view->frames =
        xgrow(view->frames, &view->frame_capacity, view->frame_count, sizeof(*view->frames));
    view->frames[view->frame_count++] = *frame;
}

static size_t size_of(const struct view_frame *frame)
{
    return strlen(frame->text) + strlen(frame->module);
}

/* Add the size of the newest frame to view->given. The frame is `id` in the profile. Its module's
 * text may be a few digits longer for another target. */
static void count_code_frame(struct view *view, frame_id id)
{
    uint32_t *memo = &view->sizes.values[id];

    if (!*memo)
        *memo = (uint32_t)size_of(&view->frames[view->frame_count - 1]);
    view->given += *memo;
}

static void push_code_frame(struct view *view, frame_id id, target_id target)
{
    const struct frame *frame = profile_get_frame(view->profile, id);

    push_frame(view, &(struct view_frame){
                         .text = view_symbol(view->profile, frame),
                         .module = module_text(view, frame, target),
                         .module_id = frame->module,
                         .file = profile_text(view->profile, frame->file),
                         .line = frame->line,
                         .address = frame->address,
                         .kind = frame->kind,
                     });
    count_code_frame(view, id);
}

/* Add a frame that is no code. */
static void push_mark(struct view *view, const char *text, target_id target)
{
    push_frame(view, &(struct view_frame){
                         .text = text,
                         .module = module_text(view, &(struct frame){.kind = FRAME_MARK}, target),
                         .file = "",
                         .kind = FRAME_MARK,
                     });
}

static void push_root_frame(struct view *view, uint32_t text, target_id target)
{
    push_mark(view, string_table_get(&view->texts, text), target);
}

static void push_cut(struct view *view, target_id target)
{
    static const char text[] = "[frames truncated]";

    push_mark(view, text, target);
    view->given += sizeof(text);
}

static void reverse_frames(struct view *view, size_t from)
{
    size_t count = view->frame_count - from;
    struct view_frame *frames;

    if (!count)
        return;
    frames = view->frames + from;
    for (size_t i = 0; i < count / 2; i++) {
        struct view_frame frame = frames[i];

        frames[i] = frames[count - 1 - i];
        frames[count - 1 - i] = frame;
    }
}

static uint32_t text_of_node(struct view *view, target_id target)
{
    uint32_t targets = profile_counts(view->profile).targets, *memo;

    if (view->node_targets != targets && view->nodes.room)
        memset(view->nodes.values, 0, view->nodes.room * sizeof(*view->nodes.values));
    view->node_targets = targets;
    memo = memo_of(&view->nodes, target);
    if (!*memo) {
        view->scratch.size = 0;
        root_target_text(view->profile, target, &view->scratch);
        *memo = view_scratch_text(view);
    }
    return *memo;
}

static void push_root_frames(struct view *view, const struct view_root *root)
{
    size_t own;

    if (root->target && !root->named && !view->options.one_node &&
        profile_counts(view->profile).targets > 1 && !view_groups_by(view, GROUP_NODE))
        push_root_frame(view, text_of_node(view, root->target), root->target);
    own = view->frame_count;
    for (uint32_t at = root->chain; at;) {
        const struct chain_node *node = intern_get(&view->chains, at);

        push_root_frame(view, node->text, root->target);
        at = node->parent;
    }
    reverse_frames(view, own);
}

void view_allow(struct view *view, uint64_t bytes)
{
    view->allowed = bytes;
}

bool view_is_exhausted(const struct view *view)
{
    return view->given > view->allowed;
}

size_t view_frames(struct view *view, view_stack_id id, const struct view_frame **frames)
{
    const struct view_stack *shown = intern_get(&view->stacks, id);
    const struct view_root *root = intern_get(&view->roots, shown->root);
    size_t roots;

    view->frame_count = 0;
    *frames = view->frames;
    if (view_is_exhausted(view))
        return 0;
    push_root_frames(view, root);
    roots = view->frame_count;
    memo_of(&view->sizes, profile_counts(view->profile).frames); /* room for all */
    for (size_t i = 0; i < roots; i++)
        view->given += size_of(&view->frames[i]);
    for (stack_id at = shown->stack; at;) {
        const struct stack_node *node = shown_stack_node(view->shown, at);

        if (node->frame == CUT_FRAME)
            push_cut(view, root->target);
        else
            push_code_frame(view, node->frame, root->target);
        at = node->parent;
    }
    reverse_frames(view, roots);
    *frames = view->frames;
    return view->frame_count;
}

size_t view_root_frames(struct view *view, view_root_id root, const struct view_frame **frames)
{
    view->frame_count = 0;
    push_root_frames(view, intern_get(&view->roots, root));
    *frames = view->frames;
    return view->frame_count;
}
