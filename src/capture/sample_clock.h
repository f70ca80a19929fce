// SPDX-License-Identifier: Apache-2.0
/*
 * The clock of CPU samples: a perf event that interrupts a CPU each time that it has counted a
 * fixed number, the period.
 *
 * cpu-clock and task-clock are timers of the kernel: they count ns, and their period is exact. All
 * other clocks count something else (cycles, page faults). Their rate is measured before the first
 * sample, by counting without interrupts. The kernel's own search for a period (`freq` of struct
 * perf_event_attr) is not used: it gives an idle CPU a tiny period, so that the CPU drowns in
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
    bool is_hardware; /* interrupts by NMI */
};

/* cpu-clock. */
const struct clock_event *sample_clock_default(void);

/* The names of all clocks: "cpu-clock, cycles". Valid until the end of the program. */
const char *sample_clock_names(void);

/* Find a clock by name. NULL and ERROR_USAGE, with the names of all clocks, if there is none. */
const struct clock_event *sample_clock_find(const char *name, struct error *error);

/* The period for `frequency` ticks a second on a busy CPU. ERROR_USAGE if the kernel does not allow
 * that many; ERROR_UNSUPPORTED if this machine does not have the event, or the event is too rare to
 * be a clock; or ERROR_PERMISSION. Takes 0.1 s, except for timers. */
int sample_clock_period(const struct clock_event *event, uint32_t frequency, uint64_t *ret_period,
                        struct error *error);

/* Open the event on a CPU, for all threads there, disabled. Return a descriptor, or -1 with errno.
 * With a period of 0 the event only counts. */
int sample_clock_open(const struct clock_event *event, int cpu, uint64_t period);

/* The set of capabilities that sampling and probes need on this machine (os/capabilities.h):
 * Debian's kernels want CAP_SYS_ADMIN where kernel.perf_event_paranoid is above 2. */
uint64_t sample_clock_capabilities(void);

/* Set the error of sample_clock_open() from errno. Return -1. */
int sample_clock_error(const struct clock_event *event, struct error *error);

/* True if a hypervisor runs this machine. There, hardware events interrupt late, and by NMIs that
 * are slow. */
bool sample_clock_under_hypervisor(void);
