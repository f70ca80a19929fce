// SPDX-License-Identifier: Apache-2.0
/*
 * System calls that must complete even if this process is killed.
 *
 * A process of their own makes them. It shares our memory and file descriptors, but a kill of our
 * process does not reach it, so it completes the calls. Our descriptors stay open as long as it
 * runs.
 */
#pragma once

#include <stdint.h>

/* Call `run` in a process of its own and wait for its end. `run` may make system calls and use
 * `argument` and errno, but nothing that takes a lock, such as malloc(): if we are killed, a lock
 * that another thread holds may never be released. Return the CPU time of that process in ns. If no
 * process can be made, call `run` here and return 0. */
uint64_t run_unkillable(void (*run)(void *argument), void *argument);
