// SPDX-License-Identifier: Apache-2.0
/* Rules that choose which of all VMs of the host are profiled, and what is recorded of each. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What is recorded of a VM. */
struct target_plan {
    bool cpu;                /* record its CPU samples */
    uint32_t frequency;      /* of its CPU samples, per second and CPU; also where only other events
                              * need them */
    uint32_t wall_frequency; /* sweeps per second; 0: none */
    uint32_t events;         /* of session_options.events: 1 << index each */
};

/* A VM matches a rule if each pattern that is given matches its name: '*' stands for any text, '?'
 * for any character, [ab] for one of them. NULL: not given. A name that is not known is "". */
struct target_rule {
    char *node;      /* of Erlang: "shop@web-1" */
    char *container; /* name in its pod, or the id */
    char *name_space, *pod;
    bool profile;
    /* if `profile` */
    char *service; /* the name of the VM's service; NULL: by what is known of the VM */
    struct target_plan plan;
};

/* True if a VM is recorded in the same way by both rules. */
bool target_rules_record_alike(const struct target_rule *one, const struct target_rule *other);

/* True if both rules have the same patterns. */
bool target_rules_match_alike(const struct target_rule *one, const struct target_rule *other);

/* The names of a VM. */
struct target_names {
    const char *node, *container, *container_id, *name_space, *pod;
};

/* Return the number of the first rule that matches, from 0; `count` if none does. */
size_t target_rules_find(const struct target_rule *rules, size_t count,
                         const struct target_names *names);
