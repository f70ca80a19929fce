// SPDX-License-Identifier: Apache-2.0
#include "session/checks.h"

#include <linux/capability.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "arch/cpu.h"
#include "os/capabilities.h"
#include "os/child.h"
#include "os/kernel_settings.h"
#include "os/kernel_symbols.h"
#include "os/process.h"
#include "util/buffer.h"

#define OLDEST_KERNEL KERNEL_RELEASE(5, 10)
#define SYSCTL        "/proc/sys/kernel/"

enum { DEFAULT_HZ = 99 };

/* The kernel, and the user and rights of this program. */
struct machine {
    struct utsname name;
    unsigned int release; /* 0: unknown */
    uint64_t capabilities;
};

/* ---- the kernel ---- */

static void check_kernel(struct findings *findings, const struct machine *machine)
{
    static const char check[] = "kernel";
    const char *release = machine->name.release;
    char fix[64];

    snprintf(fix, sizeof(fix), "run it on %s", cpu.name);
    if (strcmp(machine->name.machine, cpu.machine) != 0)
        findings_missing(findings, check, ERROR_UNSUPPORTED, fix, "%s on %s", release,
                         machine->name.machine);
    else if (!machine->release)
        findings_warning(findings, check, "see below whether BPF programs load",
                         "release '%s' is not a version", release);
    else if (machine->release < OLDEST_KERNEL)
        findings_missing(findings, check, ERROR_UNSUPPORTED, "upgrade to Linux 5.10 or later", "%s",
                         release);
    else
        findings_ok(findings, check, "%s", release);
}

static void check_btf(struct findings *findings)
{
    static const char path[] = "/sys/kernel/btf/vmlinux";

    if (access(path, R_OK) == 0)
        findings_ok(findings, "BTF", "%s", path);
    else
        findings_missing(findings, "BTF", ERROR_UNSUPPORTED,
                         "use a kernel built with CONFIG_DEBUG_INFO_BTF", "%s can't be read", path);
}

static void check_tracefs(struct findings *findings)
{
    findings_ok(findings, "tracefs", "%s",
                kernel_has_tracefs() ? "mounted; not needed: probes are made without it"
                                     : "not seen, and not needed");
}

/* ---- permissions ---- */

static void check_capabilities(struct findings *findings, const struct machine *machine)
{
    static const char check[] = "capabilities";
    struct buffer lacks = {0};
    bool stops = false;
    size_t count;
    const struct capability *needed = capabilities_needed(&count);

    for (size_t i = 0; i < count; i++) {
        if (!capability_is_missing(&needed[i], machine->capabilities, machine->release))
            continue;
        buffer_format(&lacks, "%s%s (%s)", lacks.size ? ", " : "", needed[i].name,
                      needed[i].purpose);
        stops |= needed[i].always;
    }
    if (!capabilities_are_the_hosts())
        findings_missing(findings, check, ERROR_PERMISSION,
                         "run as root of the host, or in a container without a user namespace",
                         "those of a user namespace, which the kernel does not accept");
    else if (stops)
        findings_missing(findings, check, ERROR_PERMISSION, "run as root, or with these", "no %.*s",
                         (int)lacks.size, lacks.data);
    else if (lacks.size)
        findings_warning(findings, check, "run as root if a check below needs one of these",
                         "no %.*s", (int)lacks.size, lacks.data);
    else
        findings_ok(findings, check, "all that are needed");
    buffer_free(&lacks);
}

static bool has(const struct machine *machine, int capability)
{
    return machine->capabilities >> capability & 1;
}

static void check_paranoid(struct findings *findings, const struct machine *machine)
{
    static const char check[] = "kernel.perf_event_paranoid";
    long value;

    if (!kernel_setting_number(SYSCTL "perf_event_paranoid", &value))
        findings_missing(findings, check, ERROR_UNSUPPORTED,
                         "use a kernel built with CONFIG_PERF_EVENTS", "this kernel has none");
    else if (has(machine, CAP_SYS_ADMIN))
        findings_ok(findings, check, "%ld; CAP_SYS_ADMIN may sample at any value", value);
    else if (value <= 2)
        findings_ok(findings, check, "%ld", value);
    else
        findings_warning(findings, check,
                         "run as root, or set it to 2: sysctl kernel.perf_event_paranoid=2",
                         "%ld; above 2, some kernels let only CAP_SYS_ADMIN sample", value);
}

static void check_symbols(struct findings *findings)
{
    static const char check[] = "kernel.kptr_restrict";
    struct error error;
    struct kernel_symbols *symbols = kernel_symbols_new(&error);
    long value = -1;
    bool known = kernel_setting_number(SYSCTL "kptr_restrict", &value);

    if (!symbols)
        findings_warning(
            findings, check,
            "run as root with kernel.kptr_restrict at most 1, else kernel functions have "
            "no names",
            "%s", error.text);
    else if (known)
        findings_ok(findings, check, "%ld; kernel functions have names", value);
    else
        findings_ok(findings, check, "kernel functions have names");
    kernel_symbols_free(symbols);
}

static void check_numbers(struct findings *findings)
{
    if (process_numbers_are_the_hosts())
        findings_ok(findings, "pid namespace", "the host's");
    else
        findings_missing(findings, "pid namespace", ERROR_UNSUPPORTED,
                         "run beamflame in the " PROCESS_NUMBERS_OF_HOST,
                         "a container's: samples carry process ids of the host");
}

static void check_processes(struct findings *findings)
{
    static const char check[] = "helper processes";
    int code = child_room();

    if (code)
        findings_missing(findings, check, ERROR_FAILED, CHILD_ADVICE, "can't be started: %s",
                         strerror(code));
    else
        findings_ok(findings, check, "can be started");
}

/* ---- speed ---- */

static void check_rate(struct findings *findings)
{
    static const char check[] = "kernel.perf_event_max_sample_rate";
    long value;

    if (!kernel_setting_number(SYSCTL "perf_event_max_sample_rate", &value))
        findings_warning(findings, check, "see below whether the sampling clock works",
                         "it can't be read");
    else if (value < DEFAULT_HZ)
        findings_warning(findings, check,
                         "sysctl kernel.perf_event_max_sample_rate=100000, or record with -F",
                         "%ld, below the default of -F (%d): the kernel lowers it where interrupts "
                         "take long",
                         value, DEFAULT_HZ);
    else
        findings_ok(findings, check, "%ld: the highest -F", value);
}

/* Clocks that are read without leaving the CPU, and without leaving a virtual machine. */
static bool is_fast_clock(const char *name)
{
    static const char *const fast[] = {"tsc", "tsc-early", "kvm-clock", "xen",
                                       "hyperv_clocksource_tsc_page"};

    for (size_t i = 0; i < sizeof(fast) / sizeof(fast[0]); i++)
        if (strcmp(name, fast[i]) == 0)
            return true;
    return false;
}

static void check_clocksource(struct findings *findings)
{
    char name[64];

    if (!kernel_setting("/sys/devices/system/clocksource/clocksource0/current_clocksource", name,
                        sizeof(name)))
        findings_warning(findings, "clocksource", "mount sysfs at /sys", "it can't be read");
    else if (is_fast_clock(name))
        findings_ok(findings, "clocksource", "%s", name);
    else
        findings_warning(findings, "clocksource",
                         "ask the kernel's log why it does not use tsc ('dmesg | grep -i "
                         "clocksource')",
                         "%s: each read of the time is slow, in the VM and in a hit of a probe",
                         name);
}

void machine_checks(struct findings *findings)
{
    struct machine machine = {.capabilities = 0};

    if (uname(&machine.name) == 0)
        machine.release = kernel_release_parse(machine.name.release);
    capabilities_of_self(&machine.capabilities);
    check_kernel(findings, &machine);
    check_btf(findings);
    check_capabilities(findings, &machine);
    check_numbers(findings);
    check_processes(findings);
    check_paranoid(findings, &machine);
    check_symbols(findings);
    check_rate(findings);
    check_tracefs(findings);
    check_clocksource(findings);
}
