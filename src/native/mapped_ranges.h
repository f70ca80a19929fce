// SPDX-License-Identifier: Apache-2.0
/*
 * The addresses that a process can read, by /proc/PID/maps. Data that change while they are read
 * lead to addresses that are not mapped at all. No page tells these from a page that is not filled
 * yet, whose reader must be patient (os/patience.h).
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct mapped_ranges;

struct mapped_ranges *mapped_ranges_new(pid_t pid);
void mapped_ranges_free(struct mapped_ranges *ranges);

/* False if the address was not mapped for reading when the list was read last. The list is read at
 * first use, and again if it does not have the address, at most ten times a second; that takes at
 * most 1 % of a CPU. True if the list can't be read. Any thread may call it. */
bool mapped_ranges_have(struct mapped_ranges *ranges, uint64_t address);
