// SPDX-License-Identifier: Apache-2.0
/*
 * What a process costs with all processes that it started. Processes that another thread than the
 * main one started are not found while they run.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* Get the CPU time that they have used so far (ns), with that of processes that have ended and were
 * waited for. False if the kernel does not list children (CONFIG_PROC_CHILDREN). */
bool family_cpu_time(pid_t pid, uint64_t *ns);

/* Get their memory in RAM (bytes). Each has its part of what several share (PSS). The time that
 * this takes grows with the memory. False as above. */
bool family_memory(pid_t pid, uint64_t *bytes);
