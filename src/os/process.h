// SPDX-License-Identifier: Apache-2.0
/* What /proc says of a process. Nothing about Erlang in here. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdint.h>
#include <sys/types.h>

#include "util/error.h"

/* All thread-group leaders on the host, in ascending order; `*count` of them, to be freed. NULL
 * with error if /proc can't be read. */
pid_t *process_list(size_t *count, struct error *error);

/* False for a zombie too: it has ended, and only its parent does not know yet. */
bool process_exists(pid_t pid);

/* Pid of the parent, 0 if gone. */
pid_t process_parent(pid_t pid);

/* Start time in clock ticks after boot (tells a reused pid); 0 if gone. */
unsigned long long process_start_time(pid_t pid);

/* Whether its system calls go through a filter (seccomp): true also where that can't be told, but
 * not if it is gone. */
bool process_filters_calls(pid_t pid);

/* Whether this program sees processes by the numbers that the kernel gives them: false inside a
 * container that has a pid namespace of its own. */
bool process_numbers_are_the_hosts(void);

/* Arguments, NUL-separated and doubly NUL-terminated, malloc'ed; NULL if gone. `*size` bytes,
 * the last NUL not counted. */
char *process_arguments(pid_t pid, size_t *size);

/* The container id (64 hex digits, or what the cgroup path's last part names: docker, containerd,
 * cri-o, podman, systemd-nspawn, lxc) of the process, "" if none is known. */
void process_container(pid_t pid, char *id, size_t size);

/* Thread ids of a process, to be freed. NULL with error if it is gone. */
pid_t *process_threads(pid_t pid, size_t *count, struct error *error);

/* How long a thread was on a CPU so far, and how long it waited for one (ns). False if it is gone
 * or the kernel does not count this (CONFIG_SCHED_INFO). */
bool process_thread_times(pid_t pid, pid_t tid, uint64_t *cpu, uint64_t *wait);

/* CPU time that all its threads have used so far (ns). False if it is gone. */
bool process_cpu_time(pid_t pid, uint64_t *ns);

/* Memory that it has resident. False if it is gone. */
bool process_resident_bytes(pid_t pid, uint64_t *bytes);

/* Name of a thread (at most 15 bytes), "" if gone. */
void process_thread_name(pid_t pid, pid_t tid, char *name, size_t size);

/* Where in its own code a thread entered the kernel that it waits in, and its stack pointer there.
 * False if it does not wait, is gone, or it can't be told. */
bool process_thread_waits(pid_t pid, pid_t tid, uint64_t *pc, uint64_t *stack_pointer);
