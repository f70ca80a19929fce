// SPDX-License-Identifier: Apache-2.0
/*
 * Names and units of the values of events in pprof's format and in OpenTelemetry's profiles, and
 * the period of a profile. Services read these names (docs/backends.md): they show some by a name
 * of their own, and refuse others. One table for all events is in wire_types.c.
 *
 * Units are "nanoseconds", "bytes" and "count": words become bytes.
 */
#pragma once

#include "output/weight.h"
#include "util/intern.h"
#include "view/root_frame.h"

/* ---- sample_groups.c ---- */

/*
 * Groups of samples of one event, for formats that have labels beside the stack: labels say which
 * process and thread ran. Samples of a group have the same stack in the view, process, status,
 * thread and span of a trace. A group has a sum for each weight of the event (weights_of_event()).
 * Without labels, samples of a VM with the same stack and span are one group. Without traces, their
 * spans may differ.
 */

struct sample_group {
    uint64_t time;       /* of its samples, if groups have times; else 0 */
    uint64_t trace_span; /* of its samples, a trace_span_id, if groups have traces; else 0 */
    view_stack_id stack;
    struct root_key who;
};

/* Groups are compared by their bytes, of which none may be padding. */
_Static_assert(sizeof(struct sample_group) ==
                   2 * sizeof(uint64_t) + sizeof(view_stack_id) + sizeof(struct root_key),
               "struct sample_group has padding");

struct sample_groups {
    struct output_source source;
    bool has_times;
    struct weight weights[WEIGHTS_MAX];
    size_t weight_count;
    size_t asked; /* index of the selected weight */
    struct intern keys;
    uint64_t *sums; /* weight_count for each group */
    size_t room;    /* for groups, in `sums` */
};

/* With `has_times`, samples of a group have the same time, too. */
void sample_groups_init(struct sample_groups *groups, const struct output_source *source,
                        bool has_times);
void sample_groups_free(struct sample_groups *groups);
void sample_groups_add(struct sample_groups *groups, const struct sample *sample);

/* Return the ids of all groups (1..keys.count), ordered by stack. To be freed. */
uint32_t *sample_groups_by_stack(const struct sample_groups *groups);

/* Round the sums to whole weights, after all samples are added. `by_stack` has the ids in the order
 * above: what rounding takes from a group then goes to the next group of the same stack, if there
 * is one. */
void sample_groups_round(struct sample_groups *groups, const uint32_t *by_stack);

static inline const struct sample_group *sample_group_get(const struct sample_groups *groups,
                                                          uint32_t id)
{
    return intern_get(&groups->keys, id);
}

static inline const uint64_t *sample_group_sums(const struct sample_groups *groups, uint32_t id)
{
    return groups->sums + (id - 1) * groups->weight_count;
}

/* Pass the known labels of a group to `each`: "pid", "name", "status", and "scheduler", which names
 * the thread. */
void sample_group_labels(const struct sample_groups *groups, const struct root_key *who,
                         void (*each)(void *context, const char *key, const struct buffer *text),
                         void *context);

/* Pass the labels "trace_id" and "span_id" of a group to `each`, if it has a span. */
void sample_group_trace(const struct sample_groups *groups, const struct sample_group *group,
                        void (*each)(void *context, const char *key, const struct buffer *text),
                        void *context);

/* ---- wire_types.c ---- */

struct wire_type {
    char name[256]; /* letters, digits and '_' */
    const char *unit;
};

struct wire_type wire_type_of_weight(const struct output_source *source,
                                     const struct weight *weight);

/* Return the sum of a weight in the unit of its type, at most INT64_MAX. */
int64_t wire_value(const struct weight *weight, uint64_t sum);

/* The type of the period. Every event has one. */
struct wire_type wire_type_of_period(const struct output_source *source);

/* Return the period of the groups of a target, or of all groups if `target` is NULL. If the event
 * samples time, it is the mean time of a sample: the number of samples times the period is their
 * time. Else it is 1. It is never 0. */
int64_t wire_period(const struct sample_groups *groups, const target_id *target);

enum { WIRE_TEXT_MAX = 2048 };

/* Return the size of a label's text, which is cut between characters to WIRE_TEXT_MAX bytes:
 * Pyroscope refuses a profile with a longer one (pkg/validation/limits.go:163, v2.2.0). */
size_t wire_text_size(const char *text, size_t size);

/* Return the name of an event's profile at services that give names to profiles. It has no unit. */
struct wire_type wire_profile_of_event(const char *event);

/* True if a node has a name of its own: not "nonode@nohost". */
bool wire_node_has_name(const char *node);

/* Return the name of the VM's service, to be freed: from its attributes, else the node's name
 * without the host, else "unknown_service:beam.smp". */
char *wire_service_name(const struct profile *profile, const struct target_entry *target);
