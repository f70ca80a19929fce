// SPDX-License-Identifier: Apache-2.0
/* The capabilities of this process, and what beamflame needs each for. */
#pragma once

#include <linux/capability.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util/error.h"

struct capability {
    int number; /* include/uapi/linux/capability.h */
    const char *name;
    const char *purpose; /* "to load BPF programs" */
    bool always;         /* nothing can be recorded without it */
    uint64_t or_any;     /* a set: each of these stands for it too */
    unsigned int until;  /* the last kernel that needs it, as KERNEL_RELEASE(); 0: all do */
};

/* As the kernel's KERNEL_VERSION(). */
#define KERNEL_RELEASE(major, minor) ((unsigned int)(major) << 16 | (unsigned int)(minor) << 8)

/* Parse the line "CapEff:" in the text of /proc/PID/status. False if there is none. */
bool capabilities_parse(const char *status, uint64_t *set);

/* A set of one capability. */
#define CAPABILITY(number) ((uint64_t)1 << (number))

/* These came with Linux 5.8; headers may be older. */
#ifndef CAP_PERFMON
#define CAP_PERFMON 38
#define CAP_BPF     39
#endif

/* The capabilities to read another user's process: its memory, and its files in /proc. */
#define CAPABILITIES_TO_READ (CAPABILITY(CAP_SYS_PTRACE) | CAPABILITY(CAP_DAC_READ_SEARCH))
/* The capabilities to load BPF programs, before 5.11 with CAP_SYS_RESOURCE. */
#define CAPABILITIES_TO_LOAD                                                                       \
    (CAPABILITY(CAP_BPF) | CAPABILITY(CAP_PERFMON) | CAPABILITY(CAP_SYS_RESOURCE))

/* The effective capabilities of this process. False if they can't be read. */
bool capabilities_of_self(uint64_t *set);

/* Keep only the capabilities of the set `kept` that this thread has, as a mask of bits, permitted
 * and effective; none is inheritable or ambient, so programs that it starts have none, unless it is
 * root's. Return 0, or -1 with errno. */
int capabilities_keep(uint64_t kept);

/* False in a user namespace other than the first one: the kernel does not accept capabilities of
 * such a namespace for BPF and perf events. */
bool capabilities_are_the_hosts(void);

/* The `*count` capabilities that beamflame needs. */
const struct capability *capabilities_needed(size_t *count);

/* The capabilities of the set `needed` that this process lacks on this kernel: "CAP_BPF and
 * CAP_PERFMON". Empty if it lacks none. */
void capabilities_missing(uint64_t needed, char *names, size_t size);

/* True if this process lacks what reading all processes takes. Root in a container may be refused a
 * few processes for other reasons. */
bool capabilities_may_hide_processes(void);

/* Set the error of a call that the kernel did not permit: "not permitted to WHAT: CAP_BPF is
 * missing (run as root)". `needed` is what the call takes. Where capabilities do not help (a user
 * namespace, kernel.yama.ptrace_scope 3), say what does. Return -1. */
int capabilities_refused(uint64_t needed, struct error *error, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* True if kernel.yama.ptrace_scope forbids all processes, with whatever capabilities, to read the
 * memory of others; then the error is set as by capabilities_refused(). */
bool capabilities_scope_forbids(struct error *error, const char *what);

/* True if a process with the capabilities `set` lacks this one on a kernel of that release. */
bool capability_is_missing(const struct capability *capability, uint64_t set, unsigned int release);
