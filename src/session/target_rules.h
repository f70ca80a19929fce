// SPDX-License-Identifier: Apache-2.0
/* Rules that choose which of all VMs of the host are profiled. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* A VM matches a rule if each pattern that is given matches its name: '*' stands for any text, '?'
 * for any character, [ab] for one of them. NULL: not given. A name that is not known is "". */
struct target_rule {
    char *node;      /* of Erlang: "shop@web-1" */
    char *container; /* name in its pod, or the id */
    char *name_space, *pod;
    bool profile;
};

/* The names of a VM. */
struct target_names {
    const char *node, *container, *container_id, *name_space, *pod;
};

/* Return the number of the first rule that matches, from 0; `count` if none does. */
size_t target_rules_find(const struct target_rule *rules, size_t count,
                         const struct target_names *names);
