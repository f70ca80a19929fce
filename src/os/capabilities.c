// SPDX-License-Identifier: Apache-2.0
#include "os/capabilities.h"

#include <inttypes.h>
#include <linux/capability.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "os/procfs.h"

/* These came with Linux 5.8; headers may be older. */
#ifndef CAP_PERFMON
#define CAP_PERFMON 38
#define CAP_BPF     39
#endif

bool capabilities_parse(const char *status, uint64_t *set)
{
    size_t length;
    const char *value = procfs_value(status, "CapEff", &length);

    return value && sscanf(value, "%16" SCNx64, set) == 1;
}

bool capabilities_of_self(uint64_t *set)
{
    size_t size;
    char *status = procfs_read(getpid(), "status", &size);
    bool known = status && capabilities_parse(status, set);

    free(status);
    return known;
}

int capabilities_keep(uint64_t kept)
{
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3];

    if (syscall(SYS_capget, &header, data))
        return -1;
    for (int i = 0; i < _LINUX_CAPABILITY_U32S_3; i++) {
        data[i].permitted &= (uint32_t)(kept >> 32 * i);
        data[i].effective = data[i].permitted;
        data[i].inheritable = 0; /* nor ambient: PR_CAP_AMBIENT in prctl(2) */
    }
    return (int)syscall(SYS_capset, &header, data);
}

bool capabilities_are_the_hosts(void)
{
    static const ino_t INITIAL = 0xEFFFFFFD; /* PROC_USER_INIT_INO, linux/proc_ns.h */
    struct stat status;

    /* A kernel without user namespaces has no such file. */
    return stat("/proc/self/ns/user", &status) != 0 || status.st_ino == INITIAL;
}

const struct capability *capabilities_needed(size_t *count)
{
    static const struct capability needed[] = {
        {CAP_BPF, "CAP_BPF", "to load BPF programs", .always = true, .within_admin = true},
        {CAP_PERFMON, "CAP_PERFMON", "to sample CPUs and attach probes", .always = true,
         .within_admin = true},
        {CAP_SYS_PTRACE, "CAP_SYS_PTRACE", "to read the memory of VMs"},
        {CAP_DAC_READ_SEARCH, "CAP_DAC_READ_SEARCH", "to read /proc of VMs of other users"},
        {CAP_SYS_ADMIN, "CAP_SYS_ADMIN",
         "to sample CPUs where kernel.perf_event_paranoid is above 2, and to open mapped files "
         "that were deleted"},
        /* BPF maps count as locked memory before 5.11. */
        {CAP_SYS_RESOURCE, "CAP_SYS_RESOURCE", "for the memory of BPF maps", .always = true,
         .until = KERNEL_RELEASE(5, 10)},
    };

    *count = sizeof(needed) / sizeof(needed[0]);
    return needed;
}

bool capability_is_missing(const struct capability *capability, uint64_t set, unsigned int release)
{
    if (capability->until && release > capability->until)
        return false;
    if (capability->within_admin && set >> CAP_SYS_ADMIN & 1)
        return false;
    return !(set >> capability->number & 1);
}
