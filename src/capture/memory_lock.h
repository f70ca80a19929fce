// SPDX-License-Identifier: Apache-2.0
/*
 * Finds out if the lock of a VM's memory map is taken. A read of the VM's memory, and a change of
 * probes, would wait for the lock. BPF programs check the lock in a microsecond, without waiting.
 */
#pragma once

#include "beam/vm.h"
#include "capture/programs.h"

struct memory_locks;

/* Mark the programs to be loaded. They belong to `programs`. */
struct memory_locks *memory_locks_new(struct programs *programs);
void memory_locks_free(struct memory_locks *locks);

/* From now on the memory of this VM is read at once only while its lock is free (native/memory.h).
 * The VM's memory refers to `locks` until memory_watch_lock(). */
void memory_locks_watch(struct memory_locks *locks, const struct vm *vm);

/* Return the pid of a process whose lock a reader or a writer has, or 0. The watched VMs are
 * examined, and the processes that ran the same files when the watch of a VM began. May be called
 * by any thread. */
pid_t memory_locks_taken(struct memory_locks *locks);

/* Keep descriptors open until no lock is taken any more, in a process that outlives this one. If
 * they were the last ones of probes, closing them would wait for the lock, and meanwhile no process
 * of the host could fork. From any thread. */
void memory_locks_keep(struct memory_locks *locks, const int *fds, int count);

/* Return such a process that has not ended yet; 0 if there is none. */
pid_t memory_locks_keeper(struct memory_locks *locks);
