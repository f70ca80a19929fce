// SPDX-License-Identifier: Apache-2.0
#include "os/capabilities.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "os/kernel_settings.h"
#include "os/procfs.h"

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
    static const uint64_t admin = CAPABILITY(CAP_SYS_ADMIN);
    static const struct capability needed[] = {
        {CAP_BPF, "CAP_BPF", "to load BPF programs", .always = true, .or_any = admin},
        {CAP_PERFMON, "CAP_PERFMON", "to sample CPUs and attach probes", .always = true,
         .or_any = admin},
        {CAP_SYS_PTRACE, "CAP_SYS_PTRACE", "to read VMs of other users"},
        {CAP_DAC_READ_SEARCH, "CAP_DAC_READ_SEARCH", "to open the memory of VMs of other users",
         .or_any = CAPABILITY(CAP_DAC_OVERRIDE)},
        {CAP_SYSLOG, "CAP_SYSLOG", "for the names of kernel functions"},
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
    uint64_t any = CAPABILITY(capability->number) | capability->or_any;

    if (capability->until && release > capability->until)
        return false;
    return !(set & any);
}

/* Write the names of the capabilities in `wanted` that are missing from `set`, and return their
 * number. */
static int list_missing(uint64_t wanted, uint64_t set, char *names, size_t size)
{
    unsigned int release = kernel_release();
    size_t count, used = 0;
    const struct capability *all = capabilities_needed(&count);
    const struct capability *last = NULL;
    int found = 0;

    names[0] = '\0';
    for (size_t i = 0; i < count; i++) {
        if (!(wanted & CAPABILITY(all[i].number)) || !capability_is_missing(&all[i], set, release))
            continue;
        if (last && used < size)
            used += (size_t)snprintf(names + used, size - used, "%s%s", found > 1 ? ", " : "",
                                     last->name);
        last = &all[i];
        found++;
    }
    if (last && used < size)
        snprintf(names + used, size - used, "%s%s", found > 1 ? " and " : "", last->name);
    return found;
}

void capabilities_missing(uint64_t needed, char *names, size_t size)
{
    uint64_t set = 0;

    capabilities_of_self(&set);
    list_missing(needed, set, names, size);
}

bool capabilities_scope_forbids(struct error *error, const char *what)
{
    long scope = 0;

    kernel_setting_number("/proc/sys/kernel/yama/ptrace_scope", &scope);
    if (scope < 3)
        return false;
    error_set(error, ERROR_PERMISSION,
              "not permitted to %s: the sysctl kernel.yama.ptrace_scope is 3, which forbids it to "
              "all until the machine starts again",
              what);
    return true;
}

/* Set the error where the kernel refuses what no capability would permit either. */
static int refused_to_all(uint64_t needed, const char *what, struct error *error)
{
    if (needed & CAPABILITY(CAP_SYS_PTRACE) && capabilities_scope_forbids(error, what))
        return -1;
    return error_set(error, ERROR_PERMISSION,
                     "not permitted to %s, although no capability is missing: a security module "
                     "or a filter of system calls (seccomp) forbids it",
                     what);
}

static int refused_in_user_namespace(uint64_t needed, const char *what, struct error *error)
{
    if (needed & CAPABILITY(CAP_SYS_PTRACE))
        return error_set(error, ERROR_PERMISSION,
                         "not permitted to %s: beamflame is in a user namespace, whose root can't "
                         "read processes outside of it (run as root of the host)",
                         what);
    return error_set(error, ERROR_PERMISSION,
                     "not permitted to %s: beamflame is in a user namespace, and the kernel "
                     "permits this to root of the host only (run as root of the host)",
                     what);
}

int capabilities_refused(uint64_t needed, struct error *error, const char *format, ...)
{
    char what[160], names[160];
    uint64_t set = 0;
    va_list args;
    int missing;

    va_start(args, format);
    vsnprintf(what, sizeof(what), format, args);
    va_end(args);
    if (!capabilities_are_the_hosts())
        return refused_in_user_namespace(needed, what, error);
    capabilities_of_self(&set);
    missing = list_missing(needed, set, names, sizeof(names));
    if (!missing)
        return refused_to_all(needed, what, error);
    return error_set(error, ERROR_PERMISSION, "not permitted to %s: %s %s missing (run as root)",
                     what, names, missing > 1 ? "are" : "is");
}

bool capabilities_may_hide_processes(void)
{
    char missing[160];

    capabilities_missing(CAPABILITIES_TO_READ, missing, sizeof(missing));
    return missing[0] || !capabilities_are_the_hosts();
}
