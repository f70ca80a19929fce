// SPDX-License-Identifier: Apache-2.0
/* OS processes and their threads, from /proc. Nothing here knows about Erlang. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "util/error.h"

/* Return all thread-group leaders on the host in ascending order, `*count` of them, to be freed.
 * NULL with error if /proc can't be read. */
pid_t *process_list(size_t *count, struct error *error);

/* True if the process has not ended. A zombie has ended, although its parent has not yet been
 * informed. */
bool process_exists(pid_t pid);

/* True if the process is stopped, by a signal (SIGSTOP) or a debugger: it does not run until
 * another program lets it continue. */
bool process_is_stopped(pid_t pid);
#define PROCESS_IS_STOPPED                                                                         \
    "process %d is stopped (state T): nothing of it runs until it gets SIGCONT"

/* True if /proc does not show the processes of other users (hidepid). */
bool process_others_are_hidden(void);
#define PROCESSES_ARE_HIDDEN "/proc hides the processes of other users (hidepid): run as root"

/* Fill `error` for a process that is not seen, and return -1. */
int process_missing(pid_t pid, struct error *error);

/* Return the pid of the parent, 0 if the process has ended. */
pid_t process_parent(pid_t pid);

/* Tells a process and its program from later ones with the same pid. The program's first stack
 * begins at a random address, which exec() changes. */
struct process_identity {
    unsigned long long start_time; /* in clock ticks after boot; 0: the process has ended */
    uint64_t start_stack;          /* 0: not permitted to know */
};

struct process_identity process_identity(pid_t pid);
/* True if the process is still this one, as far as that is known. */
bool process_is(pid_t pid, const struct process_identity *identity);
/* True if the process is still this one, and is no zombie. */
bool process_runs(pid_t pid, const struct process_identity *identity);

/* The file that a process runs. */
struct executable {
    dev_t device;
    ino_t inode;
    uint64_t size;
};

/* Get the executable, without asking a file server. False for a kernel thread, a process that has
 * ended, and a process that this one may not read. */
bool process_executable(pid_t pid, struct executable *executable);

/* Return the start time as the kernel itself knows it (ns), although this program may be in a time
 * namespace: the first ns of the clock tick. */
uint64_t process_identity_boot_ns(const struct process_identity *identity);

/* Get the user that the process runs as. False if it has ended. */
bool process_user(pid_t pid, uid_t *ret_uid);

/* Get the time since the process was started, in s. False if it has ended. */
bool process_age(pid_t pid, uint64_t *ret_seconds);

/* True if a filter (seccomp) checks its system calls, or if that is unknown. False if the process
 * has ended. */
bool process_filters_calls(pid_t pid);

/* True if this program sees the pids that the kernel itself uses. False in a container with its own
 * pid namespace. */
bool process_numbers_are_the_hosts(void);
#define PROCESS_NUMBERS_OF_HOST                                                                    \
    "host's pid namespace (docker: --pid host, Kubernetes: hostPID: true)"

/* Return the arguments, each terminated by NUL and the last by a second NUL, malloc'ed; NULL if the
 * process has ended. `*size` does not count the last NUL. */
char *process_arguments(pid_t pid, size_t *size);

/* The same for the variables of the environment that the process was started with. They can hold
 * secrets. NULL also without the right to read the memory of the process. */
char *process_environment(pid_t pid, size_t *size);

/* Write the id of the process's container, "" if none is known. It is 64 hex digits, or the name in
 * the cgroup path (docker, containerd, cri-o, podman, systemd-nspawn, lxc). */
void process_container(pid_t pid, char *id, size_t size);

/* Return the thread ids of a process, to be freed. NULL with error if it has ended. */
pid_t *process_threads(pid_t pid, size_t *count, struct error *error);

/* Get the time that a thread was on a CPU so far, and the time that it waited for one (ns). False
 * if the thread has ended or the kernel does not count this (CONFIG_SCHED_INFO). */
bool process_thread_times(pid_t pid, pid_t tid, uint64_t *cpu, uint64_t *wait);

/* Get the CPU time that all threads of the process have used so far (ns). False if it has ended. */
bool process_cpu_time(pid_t pid, uint64_t *ns);

/* Get the resident memory of the process. False if it has ended. */
bool process_resident_bytes(pid_t pid, uint64_t *bytes);

/* The same without memory that files and shared mappings back. */
bool process_own_bytes(pid_t pid, uint64_t *bytes);

/* Get the largest resident memory that the process has had since its last exec(). False if it has
 * ended. */
bool process_peak_resident_bytes(pid_t pid, uint64_t *bytes);

/* Write the name of a thread (at most 15 bytes), "" if it has ended. */
void process_thread_name(pid_t pid, pid_t tid, char *name, size_t size);

/* Get the user-space program counter and stack pointer of a thread that waits in the kernel. False
 * if the thread does not wait, has ended, or these are unknown. */
bool process_thread_waits(pid_t pid, pid_t tid, uint64_t *pc, uint64_t *stack_pointer);

/* Return AT_ENTRY, the address that getauxval(3) returns in the process: the entry point of its
 * program. 0 if it is unknown. */
uint64_t process_entry(pid_t pid);

/* ---- container.c ---- */

/* Finds the container of an OS process by the names of its cgroups. */

/* Find the id of the container in the text of /proc/PID/cgroup, v1 ("4:memory:/path" lines) or v2
 * ("0::/path"). If containers are nested, it is the innermost one. False, with `id` unchanged, if
 * no cgroup is a container's. */
bool container_of_cgroup(const char *text, char *id, size_t size);
