// SPDX-License-Identifier: Apache-2.0
/*
 * Which samples are wanted: by a frame of their stack, by status, by process, by time. A sample has
 * to meet all of what is asked; of several patterns to include, processes or statuses, one.
 *
 * What depends on a stack, a root or a process is found out once for each, so that samples cost
 * little.
 */
#pragma once

#include <regex.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "profile/profile.h"
#include "profile/view.h"
#include "util/error.h"

struct selection_patterns {
    regex_t *list;
    size_t count;
};

/* Processes by pid, registered name, label or initial call ("<0.85.0>", "cart", "{pool,3}",
 * "cart:init/1"), or by the module of the initial call ("cart:_"). Whose children and descendants
 * they are is told by who spawned them, and by what `$ancestors` names (by pid or registered name):
 * the first of these is a parent too. */
struct selection_processes {
    const char **list;
    size_t count;
};

/* All zero asks for everything. */
struct selection_options {
    struct selection_patterns include, exclude; /* frames of a stack, root frames among them */
    struct selection_processes processes, children_of, descendants_of;
    uint32_t statuses;       /* bits 1 << enum process_status; 0: any */
    uint64_t from_ns, to_ns; /* from one until before the other, since the recording's start */
    bool has_end;            /* to_ns holds */
};
void selection_options_free(struct selection_options *options);

/* A POSIX extended regular expression; ERROR_USAGE if it is none. */
int selection_add_pattern(struct selection_patterns *patterns, const char *pattern,
                          struct error *error);
/* Borrowed. */
int selection_add_process(struct selection_processes *processes, const char *who,
                          struct error *error);
/* "waiting,running"; ERROR_USAGE names the statuses there are. */
int selection_add_statuses(struct selection_options *options, const char *names,
                           struct error *error);

/* Whether `who` is this process, as a list of processes would have it. */
bool selection_is_process(const struct profile *profile, process_id process, const char *who);

struct selection;

/* All borrowed. `start`: of the recording, ns. */
struct selection *selection_new(const struct selection_options *options,
                                const struct profile *profile, struct view *view, uint64_t start);
void selection_free(struct selection *selection);

bool selection_wants(struct selection *selection, const struct sample *sample);
