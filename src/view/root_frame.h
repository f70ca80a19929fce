// SPDX-License-Identifier: Apache-2.0
/* The root frames of a sample, which show the process or the activity (view.h describes them). */
#pragma once

#include <stdbool.h>

#include "profile/profile.h"
#include "util/buffer.h"
#include "util/error.h"

/* ---- grouping.c ---- */

/* The keys that samples can be grouped by. Each key adds root frames (view/root_frame.h). */

enum group_by {
    GROUP_NONE,
    GROUP_NAME,
    GROUP_PID,
    GROUP_STATUS,
    GROUP_SCHEDULER,
    GROUP_INITIAL_CALL,
    GROUP_LABEL,
    GROUP_APPLICATION,
    GROUP_ANCESTORS,
    GROUP_NODE,
    GROUP_MEMORY, /* by powers of ten */
    GROUP_MSGQ,   /* the same */
    GROUP_COUNT,
    GROUP_CHANGE = GROUP_COUNT, /* growth or release of a metric; not an option, but added */
};

enum { GROUPS_MAX = 8 };

/* Keys, outermost first. All elements after them are GROUP_NONE, at least the last one. */
struct grouping {
    enum group_by keys[GROUPS_MAX + 2];
};

const char *group_by_name(enum group_by key); /* "status"; not for GROUP_CHANGE */

/* The names of all keys: "none, name, pid". Valid until the end of the program. */
const char *grouping_key_names(void);

/* Parse a list of keys: "status,name"; "none" must be the only key. Return 0, or -1 with
 * ERROR_USAGE, which lists the keys. */
int grouping_parse(const char *text, struct grouping *grouping, struct error *error);

/* Add GROUP_CHANGE as the outermost key. */
void grouping_add_change(struct grouping *grouping);

bool grouping_has(const struct grouping *grouping, enum group_by key);

/* ---- root_frame.c ---- */

/* The root frames of the growth and the release of a metric. */
#define ROOT_GROWTH  "[growth]"
#define ROOT_RELEASE "[release]"

/* The input for the texts of root frames. Fields that a grouping does not show are 0, so that
 * samples with the same root frames have equal keys. The profile has the texts of the ids. */
struct root_key {
    target_id target; /* set even if it is not shown: modules name its pid */
    process_id process;
    thread_id thread;
    string_id detail;
    frame_id bottom; /* the Erlang frame nearest to the root of the stack */
    uint16_t status;
    uint16_t activity;
    uint8_t change; /* SAMPLE_GROWTH, SAMPLE_RELEASE */
    uint8_t memory; /* 1 + number of decimal digits (0 has none); 0: unknown */
    uint8_t msgq;   /* the same */
    uint8_t named;  /* the stack itself shows process and node: no frames for them */
};

/* The key of a sample. `bottom` is 0 if the stack has no Erlang frame. */
struct root_key root_key_of_sample(const struct profile *profile, const struct grouping *grouping,
                                   const struct sample *sample, frame_id bottom);

/* The Erlang frame nearest to the root; 0 if there is none. */
frame_id root_frame_bottom(const struct profile *profile, stack_id stack);

/* The key of a process, grouped by GROUP_NAME. `stack` is a complete stack of the process, or 0. */
struct root_key root_key_of_process(const struct profile *profile, process_id process,
                                    stack_id stack);

/* Append the text of the root frame for one key of a grouping; nothing if the key gives no frame.
 * Ancestors give several frames: only root_texts() passes these. */
void root_text(const struct profile *profile, enum group_by group_by, const struct root_key *key,
               struct buffer *text);

/* Append the name of a process that is shown beside its pid: the registered name, else any label,
 * else as for GROUP_NAME. */
void root_process_text(const struct profile *profile, const struct root_key *key,
                       struct buffer *text);

/* Pass the texts of all root frames to `each`, outermost first. */
typedef void (*root_each)(void *context, const struct buffer *text);
void root_texts(const struct profile *profile, const struct grouping *grouping,
                const struct root_key *key, root_each each, void *context);

/* Append the text of the root frame for a target: the name of its node. If that is missing or not
 * unique, the pid and the host follow. */
void root_target_text(const struct profile *profile, target_id target, struct buffer *text);
