// SPDX-License-Identifier: Apache-2.0
/* The root frames of a sample, which say who ran (view.h describes them). */
#pragma once

#include "profile/grouping.h"
#include "profile/profile.h"
#include "util/buffer.h"

/* The frames of what a metric has grown by, and of what was released. */
#define ROOT_GROWTH  "[growth]"
#define ROOT_RELEASE "[release]"

/* What the texts are made of; fields that a grouping does not show are 0, so that samples which
 * look the same have equal keys. Of ids the text is asked from the profile. */
struct root_key {
    target_id target; /* kept also where it is not shown: modules name its pid */
    process_id process;
    thread_id thread;
    string_id detail;
    frame_id bottom; /* the Erlang frame at the root of the stack */
    uint16_t status;
    uint16_t activity;
    uint8_t change; /* SAMPLE_GROWTH, SAMPLE_RELEASE */
    uint8_t memory; /* decimal digits, the number 0 having none, and 1 more; 0: not known */
    uint8_t msgq;   /* the same */
    uint8_t named;  /* who ran and on which node is told by the stack: no frames for that */
};

/* `bottom` is 0 where the stack has no Erlang frame. */
struct root_key root_key_of_sample(const struct profile *profile, const struct grouping *grouping,
                                   const struct sample *sample, frame_id bottom);

/* The Erlang frame next to the root; 0 if there is none. */
frame_id root_bottom(const struct profile *profile, stack_id stack);

/* Of a process by GROUP_NAME, of which a complete stack is known or 0. */
struct root_key root_key_of_process(const struct profile *profile, process_id process,
                                    stack_id stack);

/* Append the text of the frame that a key of the grouping gives; nothing if there is none.
 * Ancestors are several: root_texts() has them. */
void root_text(const struct profile *profile, enum group_by group_by, const struct root_key *key,
               struct buffer *text);

/* Pass the texts of all root frames to `each`, outermost first. */
typedef void (*root_each)(void *context, const struct buffer *text);
void root_texts(const struct profile *profile, const struct grouping *grouping,
                const struct root_key *key, root_each each, void *context);

/* Append the text of the frame for a target: its node's name, its pid where that does not tell it
 * apart. */
void root_target_text(const struct profile *profile, target_id target, struct buffer *text);
