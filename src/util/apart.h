// SPDX-License-Identifier: Apache-2.0
/*
 * Calls of the kernel that must not be interrupted when this process is killed.
 *
 * They are made by a process of their own, which shares our memory and descriptors, and which a
 * kill of ours does not reach: it makes its call to the end. It is there for as long as the call
 * takes, and our descriptors with it.
 */
#pragma once

#include <stdint.h>

/* Run it, and wait until it has. It may make system calls and use `argument`, and errno: no more,
 * since locks that another thread holds, as that of malloc(), may never be released if we are
 * killed. Returns the CPU time that it took, in ns. Where no process can be made, it is run here.
 */
uint64_t run_apart(void (*run)(void *argument), void *argument);
