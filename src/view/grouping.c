// SPDX-License-Identifier: Apache-2.0
#include "view/root_frame.h"

#include <string.h>

#include "util/word_list.h"

static const char *const names[] = {
    [GROUP_NONE] = "none",
    [GROUP_NAME] = "name",
    [GROUP_PID] = "pid",
    [GROUP_STATUS] = "status",
    [GROUP_SCHEDULER] = "scheduler",
    [GROUP_INITIAL_CALL] = "initial_call",
    [GROUP_LABEL] = "label",
    [GROUP_APPLICATION] = "application",
    [GROUP_ANCESTORS] = "ancestors",
    [GROUP_NODE] = "node",
    [GROUP_MEMORY] = "memory",
    [GROUP_MSGQ] = "msgq",
};
_Static_assert(sizeof(names) / sizeof(*names) == GROUP_COUNT, "one name each");

const char *group_by_name(enum group_by key)
{
    return names[key];
}

const char *grouping_key_names(void)
{
    static char list[256];

    if (!list[0])
        for (int i = 0; i < GROUP_COUNT; i++)
            word_list_add(list, sizeof(list), names[i]);
    return list;
}

static int no_key(const char *name, int size, struct error *error)
{
    return error_set(error, ERROR_USAGE, "can't group by '%.*s'; the keys are: %s", size, name,
                     grouping_key_names());
}

/* The key with this name, or GROUP_COUNT. */
static enum group_by key_named(const char *name, size_t size)
{
    enum group_by key = GROUP_NONE;

    while (key < GROUP_COUNT && (strlen(names[key]) != size || memcmp(names[key], name, size) != 0))
        key++;
    return key;
}

int grouping_parse(const char *text, struct grouping *grouping, struct error *error)
{
    struct grouping parsed = {{GROUP_NONE}};
    bool more = true;

    for (size_t count = 0; more; count++) {
        size_t size = strcspn(text, ",");
        enum group_by key = key_named(text, size);

        more = text[size];
        if (key == GROUP_COUNT)
            return no_key(text, (int)size, error);
        if (key == GROUP_NONE && (count || more))
            return error_set(error, ERROR_USAGE,
                             "--group-by none can't be combined with another key");
        if (grouping_has(&parsed, key) && key)
            return error_set(error, ERROR_USAGE, "--group-by has '%s' twice", names[key]);
        if (count == GROUPS_MAX)
            return error_set(error, ERROR_USAGE, "--group-by takes at most %d keys", GROUPS_MAX);
        parsed.keys[count] = key;
        text += size + more;
    }
    *grouping = parsed;
    return 0;
}

void grouping_add_change(struct grouping *grouping)
{
    memmove(grouping->keys + 1, grouping->keys, GROUPS_MAX * sizeof(*grouping->keys));
    grouping->keys[0] = GROUP_CHANGE;
}

bool grouping_has(const struct grouping *grouping, enum group_by key)
{
    for (size_t i = 0; grouping->keys[i]; i++)
        if (grouping->keys[i] == key)
            return true;
    return false;
}
