// SPDX-License-Identifier: Apache-2.0
/*
 * A view: how a sample looks in an output, as frames from root to leaf.
 *
 * A view adds root frames by the selected grouping, folds recursion and cuts deep stacks if
 * requested, and changes nothing else. All writers that show stacks use a view, so they agree.
 *
 * Default root frames (--group-by name):
 *   an Erlang process:  "registered_name", else "label", else "initial:call/N"
 *                       else (initial call erlang:apply/2 of a fun) the function at the root
 *   no process:         "[scheduler] busy-wait", "[port] tcp_inet", "[aux]", "[thread] async_1"
 *
 * Each key of the grouping gives a frame. If no process ran, the activity of the thread gives one
 * frame, in place of the first key that describes a process. If there are several targets, the
 * first frame is the node, unless samples are grouped by node.
 */
#pragma once

#include "view/root_frame.h"
#include "profile/profile.h"

enum { MAX_DEPTH_LEAST = 3 }; /* the root, the leaf, and a frame for those between */

struct view_options {
    struct grouping grouping;
    bool fold_recursion; /* repeated frames of one function become one frame */
    bool one_node;       /* no frame for the node, unless it is grouped by */
    uint32_t max_depth;  /* of stacks without root frames, MAX_DEPTH_LEAST or more; 0: no limit */
};

struct view;
struct view *view_new(const struct profile *profile, const struct view_options *options);
void view_free(struct view *view);
const struct view_options *view_get_options(const struct view *view);
/* True if the grouping of the view has this key. */
bool view_groups_by(const struct view *view, enum group_by key);

/* Keep the memory of a sample's process, which only some samples have: it applies until the next
 * such sample. Call it for all samples in time order, also for those that are not shown. */
void view_note_memory(struct view *view, const struct sample *sample);

/* The id of a stack with its root frames: dense from 1, equal for samples that look the same. */
typedef uint32_t view_stack_id;
view_stack_id view_of_sample(struct view *view, const struct sample *sample);

/* The id of the root frames alone: from 1, equal for samples whose root frames look the same. */
typedef uint32_t view_root_id;
view_root_id view_root_of_sample(struct view *view, const struct sample *sample);

/* The symbol of a frame as shown. */
const char *view_symbol(const struct profile *profile, const struct frame *frame);

/* One frame as shown. `text` is final and valid until the view is freed. */
struct view_frame {
    const char *text;    /* symbol as shown */
    const char *module;  /* dso in the form of perf-script */
    module_id module_id; /* the module itself; 0 for Erlang code and root frames */
    const char *file;    /* "" if not known */
    uint32_t line;
    uint64_t address;
    uint8_t kind; /* enum frame_kind; root frames are FRAME_MARK */
};

/* Set *frames to the frames of a stack, root first, valid until the next call. Return their number.
 */
size_t view_frames(struct view *view, view_stack_id stack, const struct view_frame **frames);

/* Limit the bytes of all texts that view_frames() gives. Beyond it the view is exhausted: stacks
 * have no frames, so that an output ends soon. */
void view_allow(struct view *view, uint64_t bytes);
bool view_is_exhausted(const struct view *view);
size_t view_root_frames(struct view *view, view_root_id root, const struct view_frame **frames);
