// SPDX-License-Identifier: Apache-2.0
#include "os/privileges.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>

#include "os/call_filter.h"
#include "os/capabilities.h"
#include "os/fence.h"
#include "os/kernel_settings.h"
#include "os/patience.h"
#include "util/log.h"

#ifndef CAP_CHECKPOINT_RESTORE /* Linux 5.9 */
#define CAP_CHECKPOINT_RESTORE 40
#endif

/* Outputs go wherever the user of root's rights may write, and replaced files keep their owner. */
static const uint64_t FILES = CAPABILITY(CAP_DAC_OVERRIDE) | CAPABILITY(CAP_DAC_READ_SEARCH) |
                              CAPABILITY(CAP_FOWNER) | CAPABILITY(CAP_CHOWN);

/* CAP_SYS_ADMIN: kernel.perf_event_paranoid above 2, run times of BPF programs, mapped files that
 * were deleted before Linux 5.9; later, CAP_CHECKPOINT_RESTORE is for the last. */
static const uint64_t RECORD = CAPABILITY(CAP_BPF) | CAPABILITY(CAP_PERFMON) |
                               CAPABILITY(CAP_SYS_PTRACE) | CAPABILITY(CAP_CHECKPOINT_RESTORE);

/* CAP_SYSLOG: kernel symbols. CAP_SYS_RESOURCE: locked memory before Linux 5.11. CAP_SYS_NICE: each
 * VM's thread that ends windows in time. */
static const uint64_t START = CAPABILITY(CAP_SYSLOG) | CAPABILITY(CAP_SYS_RESOURCE) |
                              CAPABILITY(CAP_SYS_NICE) | CAPABILITY(CAP_SYS_ADMIN);

/* Leave no right to programs that are started. The kernel permits this with CAP_SETPCAP.
 * Without CAP_SETPCAP, PR_SET_NO_NEW_PRIVS is enough. */
static void bound(void)
{
    for (unsigned long number = 0; prctl(PR_CAPBSET_READ, number, 0, 0, 0) >= 0; number++)
        prctl(PR_CAPBSET_DROP, number, 0, 0, 0);
}

static void keep(uint64_t kept, const char *what)
{
    bound();
    if (capabilities_keep(kept))
        log_decision("privileges", "the capabilities can't be reduced: %s", strerror(errno));
    else
        log_decision("privileges", "to %s, capabilities are reduced to the set %llx", what,
                     (unsigned long long)kept);
}

static void say_filter(int result)
{
    if (result)
        log_decision("privileges", "system calls can't be filtered: %s", strerror(errno));
}

static void give_up_new_rights(void)
{
    const struct rlimit no_core = {0};

    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    setrlimit(RLIMIT_CORE, &no_core);
}

void privileges_observe(void)
{
    give_up_new_rights();
    keep(START | RECORD | FILES, "observe");
}

/* True if recording continues without CAP_SYS_ADMIN. */
static bool needs_no_admin(void)
{
    static const uint64_t instead =
        CAPABILITY(CAP_BPF) | CAPABILITY(CAP_PERFMON) | CAPABILITY(CAP_CHECKPOINT_RESTORE);
    uint64_t set = 0;
    long paranoid = 0;

    kernel_setting_number("/proc/sys/kernel/perf_event_paranoid", &paranoid);
    capabilities_of_self(&set);
    return paranoid <= 2 && (set & instead) == instead && kernel_release() >= KERNEL_RELEASE(5, 9);
}

void privileges_record(bool probes, bool arrivals)
{
    uint64_t kept = RECORD | FILES;

    if (probes && arrivals)
        kept |= CAPABILITY(CAP_SYS_NICE);
    if (probes || !needs_no_admin())
        kept |= CAPABILITY(CAP_SYS_ADMIN);
    keep(kept, "record");
    say_filter(call_filter_without_power(false));
}

void privileges_record_always(void)
{
    give_up_new_rights();
    keep(START | RECORD | FILES, "record with any options");
    say_filter(call_filter_without_power(true));
}

void privileges_attach(void)
{
    /* CAP_DAC_READ_SEARCH: code of executables that only their owner may read. CAP_SYS_PTRACE: what
     * the VM counts itself. */
    uint64_t kept = CAPABILITY(CAP_BPF) | CAPABILITY(CAP_PERFMON) |
                    CAPABILITY(CAP_DAC_READ_SEARCH) | CAPABILITY(CAP_SYS_PTRACE);

    if (!needs_no_admin())
        kept |= CAPABILITY(CAP_SYS_ADMIN);
    keep(kept, "attach probes");
}

void privileges_read_memory(void)
{
    uint64_t set = 0, kept = CAPABILITY(CAP_SYS_PTRACE);

    capabilities_of_self(&set);
    kept |=
        CAPABILITY(set & CAPABILITY(CAP_DAC_READ_SEARCH) ? CAP_DAC_READ_SEARCH : CAP_DAC_OVERRIDE);
    /* for the links in /proc/PID/map_files */
    kept |= CAPABILITY(set & CAPABILITY(CAP_CHECKPOINT_RESTORE) ? CAP_CHECKPOINT_RESTORE
                                                                : CAP_SYS_ADMIN);
    capabilities_keep(kept);
}

void privileges_give_up(void)
{
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    bound();
    capabilities_keep(0);
}

static void close_fence(struct file_fence *fence, const char *limits)
{
    give_up_new_rights();
    if (file_fence_close(fence))
        log_decision("privileges", "files that can be opened are not limited: %s", strerror(errno));
    else
        log_decision("privileges", "%s", limits);
    file_fence_free(fence);
}

void privileges_render(struct file_fence *fence)
{
    close_fence(fence, "only inputs can be read, and only in the folders of outputs and temporary "
                       "files can be written");
    keep(FILES, "read and write files");
    patience_end(); /* the filter permits no process */
    say_filter(call_filter_files_only());
}

void privileges_read_files(void)
{
    struct file_fence *fence = file_fence_new();

    file_fence_read(fence, "/");
    close_fence(fence, "no file can be written");
    keep(CAPABILITY(CAP_DAC_READ_SEARCH), "read files");
    say_filter(call_filter_read_files_and_children());
}

/* Permit the files that libcurl and the resolver of the C library read. */
static void permit_network_files(struct file_fence *fence)
{
    static const char *const paths[] = {
        "/etc/resolv.conf",
        "/etc/hosts",
        "/etc/host.conf",
        "/etc/nsswitch.conf",
        "/etc/gai.conf",
        "/etc/services",
        "/etc/protocols",
        "/etc/ld.so.cache",
        "/etc/ssl/certs",
        "/etc/ssl/openssl.cnf",
        "/etc/gnutls",
        "/etc/pki/tls/certs",
        "/etc/pki/ca-trust",
        "/etc/ca-certificates",
        "/etc/crypto-policies",
        "/usr/lib",
        "/usr/lib64",
        "/lib",
        "/lib64",
        "/usr/share/ca-certificates",
        "/usr/local/share/ca-certificates",
        "/run/systemd/resolve",
        "/run/NetworkManager",
        "/run/resolvconf",
        "/dev/urandom",
    };

    for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++)
        file_fence_read(fence, paths[i]);
}

void privileges_send(struct file_fence *fence)
{
    permit_network_files(fence);
    close_fence(fence, "only its own files, and what names and certificates of hosts need, can be "
                       "read");
    if (process_fence_close())
        log_decision("privileges", "other processes can be signalled: %s", strerror(errno));
    keep(0, "send profiles");
}

void privileges_send_only(void)
{
    say_filter(call_filter_network());
}

void privileges_confine(void)
{
    struct file_fence *nothing = file_fence_new();

    give_up_new_rights();
    prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
    (void)file_fence_close(nothing); /* the filter permits to open no file either */
    file_fence_free(nothing);
    keep(0, "write outputs");
    say_filter(call_filter_open_files());
}
