// SPDX-License-Identifier: Apache-2.0
#include "cli/option.h"

#include <sys/types.h>

#include "cli/values.h"

int option_set_true(void *flag, char *argument, struct error *error)
{
    (void)argument;
    (void)error;
    *(bool *)flag = true;
    return 0;
}

int option_set_text(void *text, char *argument, struct error *error)
{
    (void)error;
    *(const char **)text = argument;
    return 0;
}

int option_set_pid(void *pid, char *argument, struct error *error)
{
    return value_pid(argument, pid, error);
}

bool option_walk_next(struct option_walk *walk)
{
    if (!walk->group)
        return false;
    if (walk->option)
        walk->option++;
    else
        walk->option = walk->group->options;
    while (!walk->option->name) {
        walk->group++;
        if (!walk->group->title)
            return false;
        walk->option = walk->group->options;
    }
    return true;
}
