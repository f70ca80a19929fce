// SPDX-License-Identifier: Apache-2.0
/*
 * Selects samples: by node, by a frame of their stack, by status, by process, by trace, by time. A
 * sample must meet all conditions. If there are several patterns to include, processes, statuses or
 * traces, it must meet one of them.
 *
 * The results for a stack, a root and a process are computed once for each, so that a sample costs
 * little.
 */
#pragma once

#include <regex.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "profile/dump.h"
#include "profile/profile.h"
#include "util/buffer.h"
#include "util/error.h"
#include "view/view.h"

struct selection_patterns {
    regex_t *list;
    size_t count;
};

/* Processes by pid, registered name, label or initial call ("<0.85.0>", "cart", "{pool,3}",
 * "cart:init/1"), or by the module of the initial call ("cart:_"). A process has two parents: the
 * process that spawned it, and the first one that `$ancestors` names (by pid or registered name).
 * Its ancestors are its parents, all other processes that `$ancestors` names, and the ancestors of
 * the process that spawned it. */
struct selection_processes {
    const char **list;
    size_t count;
};

/* Nodes by name ("shop@web-1"), by name without host ("shop"), or by the OS pid of their VM. */
struct selection_nodes {
    const char **list;
    size_t count;
};

/* Traces, or spans, of OpenTelemetry: the other ids of the list's elements mean nothing. */
struct selection_traces {
    struct trace_span *list;
    size_t count;
};

/* All zero selects everything. */
struct selection_options {
    struct selection_nodes nodes;
    struct selection_patterns include, exclude; /* frames of a stack, root frames among them */
    struct selection_processes processes, children_of, descendants_of;
    struct selection_traces traces, spans;
    uint32_t statuses;       /* bits 1 << enum process_status; 0: any */
    uint64_t from_ns, to_ns; /* from inclusive, to exclusive; since the recording's start */
    bool has_end;            /* to_ns is valid */
};
void selection_options_free(struct selection_options *options);

/* Add a POSIX extended regular expression. ERROR_USAGE if it is invalid. */
int selection_add_pattern(struct selection_patterns *patterns, const char *pattern,
                          struct error *error);
/* Add a process; `who` is borrowed. ERROR_USAGE if it is empty. */
int selection_add_process(struct selection_processes *processes, const char *who,
                          struct error *error);
/* Add a node; `who` is borrowed. ERROR_USAGE if it is empty. */
int selection_add_node(struct selection_options *options, const char *who, struct error *error);
/* Add statuses: "waiting,running". "waiting" adds idle and blocked, too. ERROR_USAGE lists the
 * statuses. */
int selection_add_statuses(struct selection_options *options, const char *names,
                           struct error *error);

/* Add a trace, or a span, by its id in hexadecimal. ERROR_USAGE if it is no such id. */
int selection_add_trace(struct selection_options *options, const char *id, struct error *error);
int selection_add_span(struct selection_options *options, const char *id, struct error *error);

/* True if the span is one of the selected ones, in one of the selected traces. 0 is in none. */
bool selection_is_trace(const struct selection_options *options, const struct profile *profile,
                        trace_span_id span);

/* True if `who` is this name, or names the same Elixir module or function in Erlang's notation:
 * "Elixir.Shop.Stock", "Elixir.Shop.Cart:init/1", "Shop.Cart:init/1". */
bool selection_is_name(const char *name, const char *who);

/* True if `who`, an element of struct selection_nodes, is this node. */
bool selection_is_node(const struct profile *profile, target_id target, const char *who);

/* True if `who`, an element of struct selection_processes, is this process. */
bool selection_is_process(const struct profile *profile, process_id process, const char *who);

struct selection;

/* Borrows everything. `start`: start of the recording, ns. */
struct selection *selection_new(const struct selection_options *options,
                                const struct profile *profile, struct view *view, uint64_t start);
void selection_free(struct selection *selection);

bool selection_wants(struct selection *selection, const struct sample *sample);

/* Say how many samples selection_wants() has seen, and how many of them each condition left out.
 * `what`: what a sample stands for, "samples". */
void selection_log(const struct selection *selection, const char *what);

/* Keep the selected processes of a dump. Count the others in its `left_out`. */
void selection_keep_processes(struct selection *selection, struct dump *dump);

/* ---- suggestion.c ---- */

/* Suggests the names of nodes and processes for those that a selection names and a profile does not
 * have. */

/* Append "no process is 'Shop.Stok', did you mean 'Shop.Stock'?" for each such name, without the
 * question if no name is like it, and "no node is 'sho', the nodes are: shop@web-1 (4711)", with
 * "; " between them. No NUL is appended. */
void suggestion_find_names(const struct selection_options *options, const struct profile *profile,
                           struct buffer *text);

/* Set an error: the options select none of the `count` samples, or whatever `what` names. The error
 * has suggestions. Return -1. */
int suggestion_nothing_selected(const struct selection_options *options,
                                const struct profile *profile, uint64_t count, const char *what,
                                struct error *error);
