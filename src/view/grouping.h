// SPDX-License-Identifier: Apache-2.0
/* The keys that samples can be grouped by. Each key adds root frames (view/root_frame.h). */
#pragma once

#include <stdbool.h>

#include "util/error.h"

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
