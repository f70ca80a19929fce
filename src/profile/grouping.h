// SPDX-License-Identifier: Apache-2.0
/* By what samples can be grouped: each key gives a root frame (profile/root_frame.h). */
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
    GROUP_MEMORY, /* powers of ten */
    GROUP_MSGQ,   /* the same */
    GROUP_COUNT,
    GROUP_CHANGE = GROUP_COUNT, /* growth or release of a metric: not asked for, but added */
};

enum { GROUPS_MAX = 8 };

/* Keys, the outermost first; all that follow the last are GROUP_NONE, as the last of all is. */
struct grouping {
    enum group_by keys[GROUPS_MAX + 2];
};

const char *group_by_name(enum group_by key); /* of those that can be asked for: "status" */

/* "none, name, pid": all there are. Valid until the end of the program. */
const char *grouping_key_names(void);

/* "status,name"; "none" goes alone. ERROR_USAGE names the keys there are. */
int grouping_parse(const char *text, struct grouping *grouping, struct error *error);

/* Growth and release outermost. */
void grouping_add_change(struct grouping *grouping);

bool grouping_has(const struct grouping *grouping, enum group_by key);
