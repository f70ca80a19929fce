// SPDX-License-Identifier: Apache-2.0
/*
 * The clock of CPU samples: a perf event that interrupts a CPU each time that it has counted a
 * fixed number, the period.
 *
 * cpu-clock and task-clock are timers of the kernel: they count ns, and their period is exact.
 * All others count something else (cycles, page faults), whose rate is measured before the first
 * sample, by counting without interrupts. The kernel's own search for a period (`freq` of struct
 * perf_event_attr) is not used: it makes the period of an idle CPU tiny, so that the CPU drowns in
 * interrupts when it wakes.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "util/error.h"

struct clock_event {
    const char *name;
    uint32_t type; /* of struct perf_event_attr */
    uint64_t config;
    bool is_timer;    /* counts ns */
    bool is_hardware; /* interrupts by NMI */
};

/* cpu-clock. */
const struct clock_event *clock_event_default(void);

/* "cpu-clock, cycles": all there are. Valid until the end of the program. */
const char *clock_event_names(void);

/* NULL and ERROR_USAGE, with the names that there are, if none is called so. */
const struct clock_event *clock_event_find(const char *name, struct error *error);

/* The period for `frequency` ticks a second on a CPU that is busy. ERROR_USAGE if the kernel does
 * not allow that many, ERROR_UNSUPPORTED if this machine does not have the event or it is too rare
 * to be a clock, ERROR_PERMISSION. Takes 0.1 s but for timers. */
int clock_event_period(const struct clock_event *event, uint32_t frequency, uint64_t *ret_period,
                       struct error *error);

/* Open the event on a CPU, for all that runs there, disabled: a descriptor, or -1 with errno. With
 * a period of 0 it only counts. */
int clock_event_open(const struct clock_event *event, int cpu, uint64_t period);

/* Why it could not be opened, by errno. Returns -1. */
int clock_event_error(const struct clock_event *event, struct error *error);

/* Whether a hypervisor runs this machine: there hardware events interrupt late, and by NMIs that
 * are slow. */
bool clock_under_hypervisor(void);
