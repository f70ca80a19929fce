// SPDX-License-Identifier: Apache-2.0
/*
 * What pprof's format and OpenTelemetry's profiles call the values of events, in which units they
 * have them, and the period of a profile. Services read these names (docs/backends.md): they show
 * some by a name of their own, and refuse others. One table for all events is in wire_types.c.
 *
 * Units are "nanoseconds", "bytes" and "count": words become bytes.
 */
#pragma once

#include "output/sample_groups.h"

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

/* Return the period of the groups of a target, or of all groups if `target` is NULL: the time that
 * a sample stands for on average if the event samples time, so that the number of samples times the
 * period is their time; else 1. It is never 0. */
int64_t wire_period(const struct sample_groups *groups, const target_id *target);

enum { WIRE_TEXT_MAX = 2048 };

/* Return the size of a label's text, which is cut between characters to WIRE_TEXT_MAX bytes:
 * Pyroscope refuses a profile with a longer one (pkg/validation/limits.go:163, v2.2.0). */
size_t wire_text_size(const char *text, size_t size);

/* Return the name of an event's profile at services that give names to profiles. It has no unit. */
struct wire_type wire_profile_of_event(const char *event);

/* True if a node has a name of its own: not "nonode@nohost". */
bool wire_node_has_name(const char *node);

/* Return the name of the service that a VM is of, to be freed: that of its attributes, else that of
 * the node without its host, else "unknown_service:beam.smp". */
char *wire_service_name(const struct profile *profile, const struct target_entry *target);
