// SPDX-License-Identifier: Apache-2.0
/*
 * The lock that one agent of a host holds. Two would record each VM twice.
 *
 * It is an flock(2) on the namespace of processes, /proc/self/ns/pid. Agents that see the same
 * processes see the same inode, whatever their mount and network namespaces are: a unit of systemd
 * and a pod of a DaemonSet. The kernel ends the lock with its process.
 *
 * Every user can open that file. A lock of another user is no agent's: it is reported, and does
 * not keep this agent from recording.
 */
#pragma once

#include "session/options.h"
#include "util/error.h"

/* Return a descriptor that holds the lock, also if another user has it, after a warning; -1 with
 * error if another agent has it. */
int host_lock_take(warn_function warn, struct error *error);
