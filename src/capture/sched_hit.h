// SPDX-License-Identifier: Apache-2.0
/*
 * The parts of the time that a process was off its scheduler: of one hit of bpf/sched.bpf.c, each
 * becomes a sample of its own, so that a flame graph tells them apart.
 */
#pragma once

#include "capture/event_kinds.h"

/* The first part that is there counts the hit. */
int sched_parts(const struct wire_hit *hit, struct event_part parts[EVENT_PARTS_MAX]);
