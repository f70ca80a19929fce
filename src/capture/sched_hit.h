// SPDX-License-Identifier: Apache-2.0
/*
 * The parts of the time that a process was off its scheduler. Each part of a hit of bpf/sched.bpf.c
 * becomes a sample of its own, so that a flame graph shows them apart.
 */
#pragma once

#include "capture/event_kinds.h"

/* Implements event_kind.parts. The first part has the count of the hit. */
int sched_parts(const struct wire_hit *hit, struct event_part parts[EVENT_PARTS_MAX]);
