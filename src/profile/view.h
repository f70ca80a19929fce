// SPDX-License-Identifier: Apache-2.0
/*
 * A view: what a sample looks like in an output, as frames from root to leaf.
 *
 * Adds root frames that say who ran, by the grouping asked for, folds recursion, and hides nothing
 * else. All writers that show stacks go through a view, so they agree.
 *
 * Default root frames (--group-by name):
 *   an Erlang process:  "registered_name", else "label", else "initial:call/N"
 *                       else (initial call erlang:apply/2 of a fun) the function at the bottom
 *   no process:         "[scheduler] busy-wait", "[port] tcp_inet", "[aux]", "[thread] async_1"
 *
 * Several keys give a frame each. What a thread did that ran no process is told once, in place of
 * the first that would tell something of the process. Of several targets the first frame is the
 * node, unless it is grouped by.
 */
#pragma once

#include "profile/grouping.h"
#include "profile/profile.h"

struct view_options {
    struct grouping grouping;
    bool fold_recursion; /* runs of one function become one frame */
    bool one_node;       /* several targets are not told apart, unless they are grouped by */
};

struct view;
struct view *view_new(const struct profile *profile, const struct view_options *options);
void view_free(struct view *view);
const struct view_options *view_get_options(const struct view *view);
/* Whether its roots tell apart what this key does. */
bool view_groups_by(const struct view *view, enum group_by key);

/* Memory is known at some samples of a process only: until the next one it is taken to be as it
 * was. To be told of all samples in order of time, also of those that are not shown. */
void view_note_memory(struct view *view, const struct sample *sample);

/* A stack with its root frames: dense ids from 1, equal for samples that look the same. */
typedef uint32_t view_stack_id;
view_stack_id view_of_sample(struct view *view, const struct sample *sample);

/* The root frames alone; ids are those of samples whose root frames look the same, from 1. */
typedef uint32_t view_root_id;
view_root_id view_root_of_sample(struct view *view, const struct sample *sample);

/* What a frame of code is called. */
const char *view_symbol(const struct profile *profile, const struct frame *frame);

/* One frame as shown. `text` is final and valid until the view is freed. */
struct view_frame {
    const char *text;    /* symbol as shown */
    const char *module;  /* dso as perf-script wants it */
    module_id module_id; /* the module itself; 0 for Erlang code and root frames */
    const char *file;    /* "" if not known */
    uint32_t line;
    uint64_t address;
    uint8_t kind; /* enum frame_kind; root frames are FRAME_MARK */
};

/* Frames of a stack, root first, in `*frames` (valid until the next call); returns how many. */
size_t view_frames(struct view *view, view_stack_id stack, const struct view_frame **frames);
size_t view_root_frames(struct view *view, view_root_id root, const struct view_frame **frames);
