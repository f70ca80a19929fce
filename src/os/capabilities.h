// SPDX-License-Identifier: Apache-2.0
/* The capabilities of this process, and what beamflame needs each for. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct capability {
    int number; /* include/uapi/linux/capability.h */
    const char *name;
    const char *purpose; /* "to load BPF programs" */
    bool always;         /* nothing can be recorded without it */
    bool within_admin;   /* CAP_SYS_ADMIN stands for it too */
    unsigned int until;  /* the last kernel that needs it, as KERNEL_RELEASE(); 0: all do */
};

/* As the kernel's KERNEL_VERSION(). */
#define KERNEL_RELEASE(major, minor) ((unsigned int)(major) << 16 | (unsigned int)(minor) << 8)

/* Parse the line "CapEff:" in the text of /proc/PID/status. False if there is none. */
bool capabilities_parse(const char *status, uint64_t *set);

/* The effective capabilities of this process. False if they can't be read. */
bool capabilities_of_self(uint64_t *set);

/* Keep only the capabilities of the set `kept` that this thread has, as a mask of bits, permitted
 * and effective; none is inheritable or ambient, so programs that it starts have none. Return 0, or
 * -1 with errno. */
int capabilities_keep(uint64_t kept);

/* False in a user namespace other than the first one: the kernel does not accept capabilities of
 * such a namespace for BPF and perf events. */
bool capabilities_are_the_hosts(void);

/* What beamflame needs, `*count` of them. */
const struct capability *capabilities_needed(size_t *count);

/* True if a process with the capabilities `set` lacks this one on a kernel of that release. */
bool capability_is_missing(const struct capability *capability, uint64_t set, unsigned int release);
